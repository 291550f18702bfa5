"""Kind `training_texts`: random samples of the train split, for the spread from one sample of real text to another."""

import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import Field

from macroscope.colours import GREEN
from macroscope.documents import Count, Provenance, count_documents, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


KIND = Kind(
    options=":TrainingTextsSystem",
    label="training texts",
    colour=GREEN,
    stages={
        "generate": Stage(
            ":generate_training_texts",
            inputs="documents corpus system seed",
            options="samples seed",
            megabytes=4000,
            minutes=240,
        )
    },
    check=True,
)


class TrainingTextsSystem(SystemOptions):
    """A random sample of the train split: several say how much real text varies from sample to sample (meister2021)."""

    kind: Literal["training_texts"]
    samples: int = Field(1000, ge=1, description="Number of documents, drawn without replacement.")
    seed: Seed = 0

    def description(self, config: "Config") -> Description:
        """Return what it is a sample of."""
        return Description(self.kind, "train split")

    def order_of_process(self) -> str:
        """Training documents of a simulated corpus come from its process as it is."""
        return "process"


def generate_training_texts(
    documents: Path, output: Path, options: TrainingTextsSystem, *, corpus: str, system: str, seed: int
) -> None:
    """Draw documents of the train split without replacement; they stay in file order.

    Parameters
    ----------
    seed
        Seed of the run; the system's own is added, and its name, so that two systems have different samples.

    Raises
    ------
    MacroscopeError
        Where the split has fewer documents.
    """
    total = count_documents(documents, "train")
    if total < options.samples:
        raise MacroscopeError(
            f"systems.{system}.samples: the train split of corpus '{corpus}' has {total} documents, fewer than"
            f" {options.samples}; ask for fewer"
        )
    rng = np.random.default_rng([seed + options.seed, zlib.crc32(system.encode())])
    taken = np.zeros(total, dtype=bool)
    taken[rng.choice(total, options.samples, replace=False)] = True
    drawn = (
        replace(document, split="test")
        for document, there in zip(read_documents(documents, "train"), taken, strict=True)
        if there
    )
    source = {"system": system, "split": "train", "seed": seed + options.seed, "of": read_provenance(documents).source}
    count = Count("not drawn from the train split", options.samples, total - options.samples)
    write_documents(output, drawn, Provenance(corpus, source, options.model_dump(mode="json"), [count]))
