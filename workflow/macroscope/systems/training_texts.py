"""Kind `training_texts`: a random sample of the train split.

Several such systems show how much real text varies from sample to sample (meister2021).
"""

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from macroscope.colours import GREEN
from macroscope.documents import Count, Provenance, count_documents, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import ConfigView
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions

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
    """A random sample of the train split; several show how much real text varies between samples (meister2021)."""

    kind: Literal["training_texts"]
    samples: int = Field(1000, ge=1, description="Number of documents, sampled without replacement.")
    seed: Seed = 0

    def description(self, config: ConfigView) -> Description:
        """Describe it by the split."""
        return Description(self.kind, "train split")

    def order_of_process(self) -> str:
        """Return `process`: training documents of a simulated corpus come from its unchanged process."""
        return "process"


def generate_training_texts(
    documents: Path, output: Path, options: TrainingTextsSystem, *, corpus: str, system: str, seed: int
) -> None:
    """Sample documents of the train split without replacement; they stay in file order.

    Parameters
    ----------
    seed
        Seed of the run. The system's own seed is added, and its name enters too, so that two systems have different
        samples.
    """
    total = count_documents(documents, "train")
    if total < options.samples:
        raise MacroscopeError(
            f"systems.{system}.samples: the train split of corpus '{corpus}' has {total} documents, fewer than"
            f" {options.samples}; give a smaller number"
        )
    rng = np.random.default_rng([seed + options.seed, zlib.crc32(system.encode())])
    taken = np.zeros(total, dtype=bool)
    taken[rng.choice(total, options.samples, replace=False)] = True
    sampled = (
        replace(document, split="test")
        for document, is_taken in zip(read_documents(documents, "train"), taken, strict=True)
        if is_taken
    )
    source = {"system": system, "split": "train", "seed": seed + options.seed, "of": read_provenance(documents).source}
    count = Count("not sampled from the train split", options.samples, total - options.samples)
    write_documents(output, sampled, Provenance(corpus, source, options.model_dump(mode="json"), [count]))
