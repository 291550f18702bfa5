"""The system of kind `hsmm`: documents drawn from a fitted model."""

from pathlib import Path

from macroscope.documents import Provenance, write_documents
from macroscope.systems.hsmm.model import Hsmm
from macroscope.systems.hsmm.options import HsmmSystem
from macroscope.systems.hsmm.sampling import HsmmSampler
from macroscope.systems.word_samples import Wanted, sampled_documents


def sample_hsmm(model: Path, output: Path, options: HsmmSystem, *, corpus: str, system: str, seed: int) -> None:
    """Draw the samples.

    Parameters
    ----------
    model
        Folder of the fitted model.
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    fitted, ngrams = Hsmm.load(model)
    sampler = HsmmSampler(fitted, ngrams, options.segments, options.max_tokens)
    wanted = Wanted(system, options.samples, False, options.max_tokens, "give the corpus more documents, or fit longer")
    source = {"system": system, "segments": options.segments, "seed": seed, "ngrams": len(ngrams)}
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    write_documents(output, sampled_documents(sampler.draw, wanted, provenance, seed), provenance)
