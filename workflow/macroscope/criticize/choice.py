"""The choice of the critics that can judge a user's texts, and of the use of the real ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from macroscope.criticize.inputs import CORPUS
from macroscope.criticize.profile import Profile
from macroscope.criticize.reading import describe_dropped
from macroscope.critics import GivenOptions, critics, model_options, options_for_texts, parse_options_for_texts
from macroscope.critics.declaration import COUNTED, Critic
from macroscope.critics.language_fit import LanguageFit, language_fit
from macroscope.critics.options import FOLDS
from macroscope.engine.kept_references import KeptReference, find_kept
from macroscope.errors import MacroscopeError, UsageError
from macroscope.extras import missing_extras, name_command
from macroscope.fields import name_field
from macroscope.gaps import Gap, describe_gaps
from macroscope.models import require_encoder
from macroscope.natural_language.detection import UNKNOWN, main_language
from macroscope.natural_language.languages import ENGLISH, name_of
from macroscope.options import Options, with_absolute_paths
from macroscope.phrases import format_count
from macroscope.registry import require
from macroscope.statistics.classifier_two_sample_test import FEWEST_DOCUMENTS

_FEWEST_TEXTS = 2
_MANY_TEXTS = 1000
"""Number of real texts from which on no critic is cross-fitted: a split leaves enough to compare."""
_ENOUGH_FOR_FOLDS = 1.5
"""Multiple of a critic's `fewest` from which on it is cross-fitted: a third of the texts is then half of these."""
SHORT_COUNTED = {
    "documents": "texts",
    "titled": "texts with section titles",
    "with_persons": "texts about persons",
    "narratives": "texts of five sentences",
    "topical_words": "recurring words",
}
"""Counts of `COUNTED` -> their description in a cell of the scorecard."""


def default_critics() -> list[str]:
    """Return the names of the critics that run by default."""
    return [name for name, plugin in critics().items() if plugin.data.criticize is not None]


def given_options(
    requested: Sequence[str], encoder: str | Path | None, options: GivenOptions | None = None
) -> dict[str, dict[str, Any]]:
    """Return the options that a user gave to a command or a function, with absolute paths.

    Parameters
    ----------
    requested
        Critics to run; empty: the default critics.
    encoder
        Encoder of all critics that have one; None: their own.
    options
        Options of single critics.

    Raises
    ------
    UsageError
        If no critic has an encoder, or there is no such encoder.
    """
    plugins = [require(name, critics(), "critic") for name in dict.fromkeys(requested or default_critics())]
    given: dict[str, dict[str, Any]] = {plugin.name: {} for plugin in plugins}
    if encoder is not None:
        encoder = str(encoder)
        require_encoder(encoder)
        if not any(model_options(plugin.data) for plugin in plugins):
            raise UsageError(
                f"the encoder {encoder!r}: without effect, since {', '.join(given)} has none; leave it out"
            )
        given = {plugin.name: dict.fromkeys(model_options(plugin.data), encoder) for plugin in plugins}
    for name, chosen in (options or {}).items():
        given[name] |= chosen
    return {plugin.name: with_absolute_paths(plugin.options, given[plugin.name]) for plugin in plugins}


@dataclass(frozen=True)
class Choice:
    """The critics to run, and the use of the reference.

    Attributes
    ----------
    critics
        Names of the critics to run.
    gaps
        The default critics that are left out, and the candidates that a critic of the run cannot judge.
    limits
        Sentences about critics that fit the language in part, or have fewer texts than they need.
    has_splits
        Whether the reference has splits of its own.
    cross_fitted
        Names of the critics that compare all of the reference by cross-fitting (`critics.cross_fitting`).
    given
        Options that the user gave.
    """

    critics: list[str]
    gaps: list[Gap]
    limits: list[str]
    has_splits: bool
    cross_fitted: list[str] = field(default_factory=list)
    given: GivenOptions = field(default_factory=dict)

    @property
    def reasons(self) -> list[str]:
        """Return sentences about the critics that are left out, or that fit the texts in part."""
        return [*self.limits, *describe_gaps(self.gaps)]

    @property
    def learning(self) -> list[str]:
        """Return the critics that learn from the reference."""
        return [name for name in self.critics if critics()[name].data.learns]

    @property
    def splitting(self) -> list[str]:
        """Return the critics that learn from a part of the reference, and compare the other part."""
        return [name for name in self.learning if name not in self.cross_fitted]

    def comparisons(self, candidates: Sequence[str]) -> dict[tuple[str, ...], list[str]]:
        """Return critics -> candidates that they judge; candidates with the same critics are together."""
        comparisons: dict[tuple[str, ...], list[str]] = {}
        left_out = {(entry.critic, entry.system) for entry in self.gaps}
        for candidate in candidates:
            judging = tuple(name for name in self.critics if (name, candidate) not in left_out)
            comparisons.setdefault(judging, []).append(candidate)
        return comparisons

    def options(self, critic: str) -> dict[str, Any]:
        """Return the options of a critic."""
        plugin = critics()[critic]
        folds = {FOLDS: plugin.data.criticize_folds} if critic in self.cross_fitted else {}
        return folds | options_for_texts(plugin, self.given)

    def compared(self, reference: Profile) -> dict[str, int]:
        """Return critic -> number of texts of the reference that it compares candidates with."""
        held_out = reference.splits["test"]
        limited = self.critics if self.learning and self.has_splits else self.splitting
        return {name: held_out if name in limited else reference.documents for name in self.critics}


def choose(
    reference: Profile,
    candidates: Sequence[Profile],
    requested: Sequence[str],
    language: str = ENGLISH,
    given: GivenOptions | None = None,
) -> Choice:
    """Choose the critics that can judge the texts.

    Parameters
    ----------
    requested
        Critics to run even if the texts are fewer than they declare, as long as there is a text that they can read; the
        limits say so. Empty: the default critics.
    language
        Language of the texts; critics that do not fit it are left out, unless they are requested.
    given
        Options that the user gave.

    Raises
    ------
    MacroscopeError
        If a collection has too few texts, or a requested critic cannot judge them.
    """
    for profile in (reference, *candidates):
        dropped = describe_dropped(profile.counts)
        further = "".join(f"; {each}" for each in (f"left out: {dropped}" if dropped else "", *profile.remarks) if each)
        if not profile.documents:
            raise MacroscopeError(
                f"{profile.name}: no texts in {', '.join(map(str, profile.files))}; give at least"
                f" {_FEWEST_TEXTS}{further}"
            )
        if profile.documents < _FEWEST_TEXTS:
            alone = "" if profile is reference else ". Of a single text, `macroscope sentences` scores each sentence"
            raise MacroscopeError(
                f"{profile.name}: {format_count(profile.documents, 'text')}; give at least {_FEWEST_TEXTS} in each"
                f" collection, and {FEWEST_DOCUMENTS} for a verdict: a single text allows no confidence interval and no"
                f" test{alone}{further}"
            )
    chosen, limits, gaps = list[str](), list[str](), list[Gap]()
    kept = find_kept(reference.files)
    language_by_candidate = _other_languages(reference, candidates, language)
    for name in dict.fromkeys(requested or default_critics()):
        critic = require(name, critics(), "critic")
        options = parse_options_for_texts(critic, given)
        fit = language_fit(critic.data, options, language)
        refused = {} if requested else _refuse_languages(critic.data, options, language_by_candidate)
        judged = [candidate for candidate in candidates if candidate.name not in refused]
        unmet = (
            _not_kept(name, kept)
            or (None if requested else _refusal(fit, language))
            or (_join(refused.values()) if candidates and not judged else None)
            or _find_unmet(critic.data, reference, judged, bool(requested))
            or _missing_extra(critic.data, options)
        )
        if unmet is None:
            chosen.append(name)
            few = _find_unmet(critic.data, reference, judged, is_requested=False)
            unsure = [f"{few.explanation}; its numbers may be of no use"] if few else []
            limits += [f"The critic '{name}': {limit}." for limit in (*fit.refusals, *fit.limits, *unsure)]
            gaps += [_skip(name, why, candidate) for candidate, why in refused.items()]
        elif requested:
            raise MacroscopeError(f"{name_field('critic', name)}: {unmet.explanation}; {unmet.advice}")
        else:
            gaps.append(_skip(name, unmet))
    cross_fitted = [name for name in chosen if _is_cross_fitted(critics()[name].data, reference)]
    return Choice(chosen, gaps, limits, reference.has_splits, cross_fitted, given or {})


def _not_kept(critic: str, kept: KeptReference | None) -> "_Unmet | None":
    """Return why a kept reference lacks a critic; None if it has it, or if the texts are there."""
    if kept is None or critic in kept.header["critics"]:
        return None
    explanation = kept.header["left_out"].get(critic, "the kept reference was built without it")
    return _Unmet("not in the kept reference", explanation, "build the reference with it, or choose another critic")


class _Unmet(NamedTuple):
    """Something that a critic needs and does not have.

    Attributes
    ----------
    reason
        A few words for a cell of the scorecard.
    explanation
        The end of a sentence about the critic.
    advice
        What to do if the user requested the critic.
    """

    reason: str
    explanation: str
    advice: str = "give it such texts, or choose another critic"


def _skip(critic: str, unmet: _Unmet, candidate: str | None = None) -> Gap:
    return Gap(corpus=CORPUS, critic=critic, system=candidate, reason=unmet.reason, explanation=unmet.explanation)


def _join(requirements: Iterable[_Unmet]) -> _Unmet:
    """Return several requirements, one per candidate, as one."""
    reasons, explanations, _ = zip(*requirements, strict=True)
    return _Unmet(", ".join(dict.fromkeys(reasons)), "; ".join(explanations))


def _is_cross_fitted(critic: Critic, reference: Profile) -> bool:
    """Return whether a critic is cross-fitted: texts are few, and a third of them is enough to learn from."""
    if critic.criticize_folds == 1 or reference.has_splits or reference.documents >= _MANY_TEXTS:
        return False
    counted = reference.counted()
    return all(counted[kind] >= _ENOUGH_FOR_FOLDS * fewest for kind, fewest in critic.fewest.items())


def _refusal(fit: LanguageFit, language: str) -> _Unmet | None:
    """Return why a critic cannot judge texts in a language; None if it can."""
    return _Unmet(f"does not read {name_of(language)}", "; ".join(fit.refusals)) if fit.refusals else None


def _other_languages(reference: Profile, candidates: Sequence[Profile], language: str) -> dict[str, str]:
    """Return candidate -> language of most of its texts, if it is clear and not that of the reference."""
    recognized = {candidate.name: main_language(candidate.languages) for candidate in candidates}
    of_reference = (UNKNOWN, language, main_language(reference.languages))
    return {name: code for name, code in recognized.items() if code not in of_reference}


def _refuse_languages(critic: Critic, options: Options, language_by_candidate: Mapping[str, str]) -> dict[str, _Unmet]:
    """Return candidate -> reason why a critic cannot judge its language, for those that it cannot judge."""
    refusals = {
        name: _refusal(language_fit(critic, options, code), code) for name, code in language_by_candidate.items()
    }
    return {
        name: refusal._replace(
            explanation=f"most of '{name}' is {name_of(language_by_candidate[name])}, and {refusal.explanation}"
        )
        for name, refusal in refusals.items()
        if refusal
    }


def _missing_extra(critic: Critic, options: Options) -> _Unmet | None:
    """Return the first extra that a critic needs under its options and that is not installed; None without."""
    for extra in missing_extras(critic.extras, options):
        return _Unmet(
            f"needs the extra '{extra}'",
            f"it needs the extra '{extra}', which is not installed; {name_command(extra)} adds it",
            "install it, or choose another critic",
        )
    return None


def _find_unmet(critic: Critic, reference: Profile, candidates: Sequence[Profile], is_requested: bool) -> _Unmet | None:
    """Return what a critic needs and the texts lack; None if they have all."""
    sides = [(reference, "the reference", critic.fewest)]
    sides += [(candidate, f"'{candidate.name}'", critic.fewest_candidates) for candidate in candidates]
    for profile, name, required in sides:
        for kind, fewest in required.items():
            count, needed = profile.counted()[kind], 1 if is_requested else fewest
            if count < needed:
                return _Unmet(
                    f"needs {fewest} {SHORT_COUNTED[kind]}",
                    f"it needs {fewest} {COUNTED[kind]}, and {name} has {count}",
                )
    if not critic.learns:
        return None
    for split, use in (("train", "it learns from"), ("valid", "it is tuned on"), ("test", "the control is")):
        if not reference.splits[split]:
            return _Unmet(
                f"needs texts in the split '{split}'",
                f"no reference text is in the split '{split}', which {use}; give more texts, or each its 'split'",
            )
    return None
