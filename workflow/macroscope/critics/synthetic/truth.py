"""What the process says of itself: the lines of Table 1 that no model can pass (deng2022 §3)."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import HsmmProcess
from macroscope.critics.synthetic.known_truth import expected_nll
from macroscope.critics.synthetic.latents import UNKNOWN
from macroscope.critics.synthetic.projection import pieces_of
from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.statistics.latent import Resampling, pooled


def measure_truth(documents: Path, process: Path, *, resampling: Resampling, output: Path) -> None:
    """Write `truth.json`: latent_ppl, exact; word_ppl of held-out texts under the process with word_ppl_low and _high.

    The process knows how many sub-sequences a text has, so that the end of one costs nothing.
    """
    truth = HsmmProcess.load(process)
    costs = np.array(list(_costs(documents, truth))).reshape(-1, 2)
    value, low, high = pooled(costs[:, 0], costs[:, 1], resampling)
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
    """(-log P(x) in nats, tokens) of the texts of the test split."""
    for document in read_documents(documents, "test"):
        tokens = document.text.split()
        numbers = [process.places.get(" ".join(piece), UNKNOWN) for piece in pieces_of(tokens)]
        if UNKNOWN in numbers or len(numbers) != process.segments:
            raise MacroscopeError(
                f"{documents}, document {document.id!r} is no whole text of the corpus's process; leave out the filters"
                " that cut its texts"
            )
        yield -process.log_probability(numbers), len(tokens)
