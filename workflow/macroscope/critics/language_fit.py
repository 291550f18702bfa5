"""The languages that a critic can judge, by its declaration and its encoders."""

from dataclasses import dataclass

from macroscope.critics import model_options
from macroscope.critics.declaration import Critic
from macroscope.models import languages_of
from macroscope.natural_language.languages import name_of, share_script
from macroscope.natural_language.words import CAPABILITIES
from macroscope.options import Options

FULL, PARTLY, NOT = "full", "partly", "not"
"""Levels of support."""


@dataclass(frozen=True)
class LanguageFit:
    """The support of a critic for a language.

    Attributes
    ----------
    refusals
        Sentences with the reasons why the critic cannot judge texts in the language.
    limits
        Sentences about numbers that are undefined, or that mean less.
    """

    refusals: tuple[str, ...]
    limits: tuple[str, ...]

    @property
    def level(self) -> str:
        """Return the level of support."""
        return NOT if self.refusals else PARTLY if self.limits else FULL


def language_fit(critic: Critic, options: Options, language: str) -> LanguageFit:
    """Return the support of a critic, under options, for a language."""
    name = name_of(language)
    refusals: list[str] = []
    limits: list[str] = []
    for capability, consequence in critic.language_needs.items():
        if not CAPABILITIES[capability](language):
            reason = f"there is no {capability} for {name}"
            (limits if consequence else refusals).append(f"{reason}, so {consequence}" if consequence else reason)
    for encoder in sorted({str(value) for name in model_options(critic) if (value := getattr(options, name, None))}):
        languages = languages_of(encoder)
        if not languages or language in languages:
            continue
        trained = f"the encoder '{encoder}' was trained on {' and '.join(map(name_of, sorted(languages)))}"
        if share_script(language, languages):
            limits.append(f"{trained}, so its vectors of {name} texts hold their spelling more than their meaning")
        else:
            refusals.append(f"{trained}, and knows few words of {name}")
    return LanguageFit(tuple(refusals), tuple(limits))
