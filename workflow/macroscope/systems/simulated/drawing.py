"""Samples of a simulated corpus's own process, or of that process with a known defect."""

from pathlib import Path
from zlib import crc32

from macroscope.corpora.simulated import SOURCE
from macroscope.documents import Provenance, write_documents
from macroscope.stages import load
from macroscope.systems.simulated.options import SimulatedSystem


def simulate(
    process: Path, output: Path, options: SimulatedSystem, *, kind_of_process: str, corpus: str, system: str, seed: int
) -> None:
    """Draw documents in the form that the corpus's documents have.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    kind_of_process
        That of the corpus: what draws its documents.
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    # A seed of its own: no system draws the documents of the corpus, or those of another system.
    own_seed = seed + (crc32(system.encode()) << 32)
    draw = load(SOURCE.simulations[kind_of_process].draw, "macroscope.corpora.simulated")
    documents = draw(process, options.order, options.samples, own_seed)
    source = {"system": system, "order": options.order, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json")))
