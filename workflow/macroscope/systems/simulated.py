"""Samples of a simulated corpus's own process, or of that process with a known defect."""

from pathlib import Path
from zlib import crc32

from macroscope.corpora.simulated.articles import as_text, simulate_documents
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.documents import Provenance, write_documents
from macroscope.systems.options import SimulatedSystem


def simulate(
    process: Path, output: Path, options: SimulatedSystem, *, kind: str, corpus: str, system: str, seed: int
) -> None:
    """Draw documents in the form that the corpus's documents have.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    kind
        Of the corpus: "wiki" (sections with titles) or "webtext" (one section without a title).
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    # A seed of its own: no system draws the documents of the corpus, or those of another system.
    own_seed = seed + (crc32(system.encode()) << 32)
    documents = simulate_documents(SectionProcess.load(process), options.order, options.samples, own_seed)
    if kind == "webtext":
        documents = map(as_text, documents)
    source = {"system": system, "order": options.order, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json")))
