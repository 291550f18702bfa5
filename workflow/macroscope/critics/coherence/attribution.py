"""The sections of a document that hardly follow those before them."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from macroscope.critics.attributions import Attribution, Place, attribution_weight, rates, write_attributions
from macroscope.critics.coherence.latents import read_states
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import SectionPrior, step_probabilities
from macroscope.critics.coherence.priors import Priors
from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.documents import Document, read_documents
from macroscope.tables import number


def attribute(
    texts: Path, latents: Path, scores: Path, prior: Path, *, options: CoherenceOptions, output: Path
) -> None:
    """Blame documents for T(x) a section, and the sections whose transition is an error; see `critics.attributions`."""
    chain, nats = Priors.load(prior).default, rates(scores)
    rows = (
        Attribution(name, nats[name], list(marks(document, states, chain, options.error_threshold)))
        for document, (name, states) in zip(read_documents(texts), read_states(latents), strict=True)
    )
    write_attributions(rows, output)


def marks(
    document: Document, states: np.ndarray, prior: SectionPrior, threshold: float
) -> Iterator[tuple[Place, float, str]]:
    """Sections whose transition has a probability below the threshold, and the end behind the last one."""
    names = [BEGIN, *(prior.types[state] for state in states), END]
    for step, ((before, after), p) in enumerate(zip(pairwise(names), step_probabilities(states, prior), strict=True)):
        section = min(step, len(document.sections) - 1)
        length = len(document.sections[section].text)
        if p < threshold and length:
            weight = attribution_weight(np.inf if p == 0 else -np.log(p), -np.log(threshold))
            place = (section, length if after == END else 0, length)
            yield place, weight, f"{in_words(before, after)}: probability {number(p, 2)}"


def in_words(before: str, after: str) -> str:
    """A transition, as a reader is told of it."""
    if before == BEGIN:
        return f"begins with a section that reads like {after}"
    return f"after {before}, " + ("the end" if after == END else f"a section that reads like {after}")
