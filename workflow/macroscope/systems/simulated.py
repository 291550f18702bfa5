"""Samples of a simulated corpus's own process, or of that process with a known defect."""

from pathlib import Path

from macroscope.corpora.simulated.process import SectionProcess
from macroscope.corpora.simulated.articles import simulate_documents
from macroscope.documents import Provenance, write_documents
from macroscope.systems.options import SimulatedSystem

SEED_OFFSET = 1_000_003
"""Keeps the documents of these systems apart from those of the corpus, which the same seed makes."""


def simulate(process: Path, output: Path, options: SimulatedSystem, *, corpus: str, system: str, seed: int) -> None:
    """Draw documents.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    """
    documents = simulate_documents(SectionProcess.load(process), options.order, options.samples, seed + SEED_OFFSET)
    source = {"system": system, "order": options.order, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json")))
