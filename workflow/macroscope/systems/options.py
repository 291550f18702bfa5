"""Options that the config may give about a system: what all kinds have in common."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from macroscope.options import LARGEST_SEED, Options

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.systems.language_model.options import LanguageModelSystem

Seed = Annotated[
    int,
    Field(
        ge=0,
        le=LARGEST_SEED,
        description="Added to the run's seed where this system draws: another one gives other samples.",
    ),
]


@dataclass(frozen=True)
class Description:
    """What a system is, in the words of the headline.

    Attributes
    ----------
    kind
        Kind that it is shown as.
    base
        What it is made from: a base model, another system.
    setting, decoding
        The options that tell it from others of its kind.
    """

    kind: str
    base: str = ""
    setting: str = ""
    decoding: str = ""


class SystemOptions(Options):
    """What all systems have in common; a kind's own options derive from it, and are told by `kind`.

    What other places ask of a system is asked here, and answered by its kind.
    """

    kind: str

    def description(self, config: "Config") -> Description:
        """Return what the system is, for tables and figures."""
        return Description(self.kind, setting=self.kind)

    def obstacle(self, corpus: str, config: "Config") -> str | None:
        """What keeps the system from having samples of a corpus, as what is said of it ("samples the process of ...").

        None where nothing does.
        """
        return None

    def made_from(self) -> str | None:
        """Name of the system whose samples it is made from; None for one that needs no other's."""
        return None

    def made_on(self, corpus: str) -> str:
        """Name of the corpus of which that system's samples are taken: `corpus` itself, unless it says otherwise."""
        return corpus

    def as_language_model(self, config: "Config") -> "LanguageModelSystem | None":
        """What a system that samples a language model asks for; None for one that does not."""
        return None

    def model_of(self, system: str) -> str:
        """Name of the system that makes the model which it samples: its own, `system`, unless it says otherwise."""
        return system

    def has_perplexity(self) -> bool:
        """Whether the stage `measure_perplexity` of its kind gives it a perplexity; language models have one anyway."""
        return False

    def has_prompts(self) -> bool:
        """Whether a kind whose samples are made in one step begins them with the first words of held-out documents."""
        return False

    def order_of_process(self) -> str | None:
        """Order of sections that a known process gave its documents, where the corpus has one; None where unknown."""
        return None

    def gpus(self, stage: str) -> int:
        """GPUs that a stage's job asks for, where no pretrained model says so."""
        return 0

    def megabytes(self, stage: str) -> int | None:
        """Memory that a stage's job asks for, where it grows with its options; None: what the stage declares."""
        return None

    def files_read(self, place: str) -> list[str]:
        """Files that its samples are read from: the user's, or those of a data set of the registry.

        Parameters
        ----------
        place
            Of the system in the config, for the message.
        """
        return []

    def resources_read(self, language: str) -> list[str]:
        """Files of the project's resources that its samples depend on, so that an edited one draws them anew.

        Parameters
        ----------
        language
            Of the corpus.
        """
        return []


def title_setting(titles: bool) -> str:
    """Name a setting as the papers do."""
    return "W/ Title" if titles else "W/O Title"
