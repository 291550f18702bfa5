"""Word PPL and latent PPL of the process itself, the lower bounds of deng2022 Table 1 (§3)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import HsmmProcess
from macroscope.critics.synthetic.known_truth import expected_nll
from macroscope.critics.synthetic.projection import UNKNOWN, split_subsequences
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.resampling import Resampling
from macroscope.statistics.latent import pooled_perplexity


def measure_truth(documents: Path, process: Path, *, resampling: Resampling, output: Path) -> None:
    """Write `truth.json`: exact latent_ppl; word_ppl of held-out texts under the process, word_ppl_low and _high.

    The number of sub-sequences per text is fixed, so the end of a text costs nothing.
    """
    truth = HsmmProcess.load(process)
    costs = np.array(list(_costs(documents, truth))).reshape(-1, 2)
    value, low, high = pooled_perplexity(costs[:, 0], costs[:, 1], resampling)
    with atomic(output) as folder:
        folder.mkdir()
        about = {
            "states": len(truth.transitions),
            "subsequences": len(truth.subsequences),
            "segments": truth.segments,
            "latent_ppl": float(np.exp(expected_nll(truth))),
            "texts": len(costs),
            "word_ppl": value,
            "word_ppl_low": low,
            "word_ppl_high": high,
        }
        write_json(folder / "truth.json", about)


def _costs(documents: Path, process: HsmmProcess) -> Iterator[tuple[float, int]]:
    """Yield (-log P(x) in nats, number of tokens) of each text of the test split."""
    for document in read_documents(documents, "test"):
        tokens = document.text.split()
        numbers = [process.places.get(" ".join(piece), UNKNOWN) for piece in split_subsequences(tokens)]
        if UNKNOWN in numbers or len(numbers) != process.segments:
            raise MacroscopeError(
                f"{documents}: document {document.id!r} is not a complete text of the corpus's process; remove the"
                " filters that shorten its texts"
            )
        yield -process.log_probability(numbers), len(tokens)
