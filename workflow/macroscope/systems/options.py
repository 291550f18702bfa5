"""Options that all kinds of systems have in common."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from macroscope.options import LARGEST_SEED, ConfigView, Options

Seed = Annotated[
    int,
    Field(
        ge=0,
        le=LARGEST_SEED,
        description="Added to the run's seed when this system generates samples: another value gives other samples.",
    ),
]


@dataclass(frozen=True)
class Description:
    """Description of a system for tables and figures.

    Attributes
    ----------
    kind
        Kind under which it is shown.
    base
        Base model or other system that it is made from.
    setting, decoding
        Options that distinguish it from others of its kind.
    """

    kind: str
    base: str = ""
    setting: str = ""
    decoding: str = ""


class SystemOptions(Options):
    """Base class of all systems' options, discriminated by `kind`.

    Its methods are everything that other parts of the package need to know of a system; a kind overrides those whose
    defaults do not fit.
    """

    kind: str

    def description(self, config: ConfigView) -> Description:
        """Describe the system for tables and figures."""
        return Description(self.kind, setting=self.kind)

    def obstacle(self, corpus: str, config: ConfigView) -> str | None:
        """Return why the system cannot have samples of a corpus, or None if it can.

        The reason continues a sentence about the system ("samples the process of ...").
        """
        return None

    def is_whole_corpus(self) -> bool:
        """Return whether critics that may compare all of the corpus read it in place of the system's samples."""
        return False

    def made_from(self) -> str | None:
        """Return the name of the system whose samples it is made from, or None if it needs none."""
        return None

    def made_on(self, corpus: str) -> str:
        """Return the name of the corpus of those samples: by default `corpus` itself."""
        return corpus

    def as_language_model(self, config: ConfigView) -> "SystemOptions | None":
        """Return the language model that the system samples, with its options, or None if it samples none."""
        return None

    def model_of(self, system: str) -> str:
        """Return the name of the system that makes the model which it samples: by default its own name, `system`."""
        return system

    def has_perplexity(self) -> bool:
        """Return whether the stage `measure_perplexity` of its kind applies to it; language models always have one."""
        return False

    def perplexity_signature(self) -> str:
        """Return the options that its perplexity depends on, as key:value pairs: those that the stage was given."""
        values = self.model_dump(mode="json", include=self.model_fields_set - {"kind"})
        return "|".join([f"kind:{self.kind}", *(f"{name}:{value}" for name, value in values.items()), "split:test"])

    def has_prompts(self) -> bool:
        """Return whether samples that are made in one step begin with the first words of held-out documents."""
        return False

    def order_of_process(self) -> str | None:
        """Return the order of sections that a known process gave its documents, or None if it is unknown."""
        return None

    def gpus(self, stage: str) -> int:
        """Return the number of GPUs that a stage's job requests if no pretrained model determines it."""
        return 0

    def megabytes(self, stage: str) -> int | None:
        """Return the memory in MB that a stage's job requests if it grows with the options; None: as declared."""
        return None

    def files_read(self, place: str) -> list[str]:
        """Return the files that its samples are read from: the user's, or those of a data set of the registry.

        Parameters
        ----------
        place
            Place of the system in the config, for error messages.
        """
        return []


def title_setting(titles: bool) -> str:
    """Name the setting as the papers do."""
    return "W/ Title" if titles else "W/O Title"
