"""Random samples of the train split."""

import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np

from macroscope.documents import Count, Provenance, count_documents, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.training_texts.options import TrainingTextsSystem


def draw_training_texts(
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
