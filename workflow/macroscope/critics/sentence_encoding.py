"""Encodings of sentences: critics with the same one read the same vectors, which belong to no critic."""

from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

from macroscope.models import Precision
from macroscope.natural_language.spacy_pipeline import PipelineOptions
from macroscope.options import TRAIN_SPLIT
from macroscope.stages import Stage

STAGE = Stage(
    "macroscope.critics.sentence_embedding:embed_sentences",
    inputs="documents? texts? known_sentences? language",
    options="encoder pooling max_tokens precision language_pipeline",
    model_option="encoder",
    minutes=480,
    folder=True,
)
"""Stage that embeds the sentences of a collection; see `plan.sentence_vectors`."""
EMBEDDING = "embed_sentences"
"""Name of its rule, and in signatures."""
CORPUS = "split@all"
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
    """Return whether a collection is documents of a corpus, such as `CORPUS`, instead of a system's texts."""
    return collection in (CORPUS, TRAIN_SPLIT)


def vectors_folder(results: str, corpus: str, encoding: str, collection: str) -> str:
    """Return the folder with the vectors of a collection: `CORPUS`, or a system, or "<system>/<shard>"."""
    return f"{results}/sentences/{corpus}/{encoding}/{collection}"
