"""Options that several critics have, which the config reads: folds, and the encoding of sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from zlib import crc32

from pydantic import Field

from macroscope.models import Precision
from macroscope.natural_language.spacy_pipeline import PipelineOptions
from macroscope.options import CONTROL, TRAIN_SPLIT, ConfigView, Options
from macroscope.stages import Stage

FOLDS = "folds"
"""Name of the option of critics that can be cross-fitted, which every stage reads that runs once for each fold."""


class StagesView(Protocol):
    """The parts of a critic's declaration that its folds depend on."""

    @property
    def cross_fits(self) -> bool:
        """Return whether the critic can be cross-fitted."""

    @property
    def all_stages(self) -> Mapping[str, Stage]:
        """Declared and shared stages by name."""


def count_folds(critic: StagesView, stage: str, options: Any) -> int:
    """Return the number of folds in which a stage of a critic runs; 1 if it runs once."""
    runs_by_fold = critic.cross_fits and FOLDS in critic.all_stages[stage].option_names
    return int(getattr(options, FOLDS)) if runs_by_fold else 1


class CrossFittedOptions(Options):
    """Number of folds of a critic that learns from real texts."""

    folds: Literal[1, 3, 5, 7] = Field(
        1,
        description="Number of folds of the real texts. 1: the critic learns from the training split, and compares the"
        " others. More: it compares all real texts (`whole` of the control), those of each fold by a fit to half of the"
        " other folds; what it shows of latents is about the first fold. For fewer than some thousand texts.",
    )

    def check(self, place: str, config: ConfigView) -> None:
        """Check that a cross-fitted critic may compare systems with all documents of the corpus."""
        super().check(place, config)
        control = config.systems.get(CONTROL)
        if self.folds > 1 and not (control is not None and control.is_whole_corpus()):
            raise ValueError(
                f"{place}.folds: a critic with folds compares systems with all documents of a corpus, and the control"
                " is a split of it; set systems.control.whole to true, or folds to 1"
            )


# ---- sentence encoding -----------------------------------------------------------------------------------------------
# Encodings of sentences: critics with the same one read the same vectors, which belong to no critic.

EMBEDDING_STAGE = Stage(
    "macroscope.critics.text_encoder:embed_sentences",
    inputs="documents? texts? known_sentences? language",
    options="encoder pooling max_tokens precision language_pipeline",
    model_option="encoder",
    minutes=480,
    folder=True,
    version=2,
)
"""Stage that embeds the sentences of a collection; see `plan.sentence_vectors`."""
EMBED_SENTENCES = "embed_sentences"
"""Name of its rule, and in signatures."""
WHOLE_CORPUS = "split@all"
"""Placeholder, instead of a system's name, for all documents of a corpus; not a valid name of a system."""


class SentenceEncoding(PipelineOptions):
    """Options of splitting texts into sentences and embedding these; see `critics.text_encoder.TextEncoder`."""

    encoder: str
    pooling: Literal["mean", "first"]
    max_tokens: int
    precision: Precision

    @property
    def name(self) -> str:
        """Return the name of the folder with the vectors."""
        return f"{crc32(self.model_dump_json(exclude_none=True).encode()):08x}"


@dataclass(frozen=True)
class SentenceReading:
    """The sentences that a critic embeds under its options; `Critic.sentences` names a function that returns it.

    Attributes
    ----------
    encoding
        How it embeds them.
    by_project
        Whether its stage `project` reads the vectors. Else other stages alone do.
    """

    encoding: SentenceEncoding
    by_project: bool = True


def encoding_of(options: Any, **changes: Any) -> SentenceEncoding:
    """Return the encoding of a critic's options, which have fields of the same names, with changes."""
    names = SentenceEncoding.model_fields.keys() & type(options).model_fields
    return SentenceEncoding(**{name: getattr(options, name) for name in names} | changes)


def is_split(collection: str) -> bool:
    """Return whether a collection is documents of a corpus, such as `WHOLE_CORPUS`, instead of a system's texts."""
    return collection in (WHOLE_CORPUS, TRAIN_SPLIT)


def vectors_folder(results: str, corpus: str, encoding: str, collection: str) -> str:
    """Return the folder with the vectors of a collection: `WHOLE_CORPUS`, or a system, or "<system>/<shard>"."""
    return f"{results}/sentences/{corpus}/{encoding}/{collection}"
