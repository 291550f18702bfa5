"""Attribution of a document's latent NLL to sections that rarely follow the previous one in real text."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from macroscope.critics.attributions import Attribution, Span, attribution_weight, read_nll_rates, write_attributions
from macroscope.critics.coherence.latents import read_states
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import SectionPrior, step_probabilities
from macroscope.critics.coherence.priors import Priors
from macroscope.critics.coherence.sections import BEGIN, END
from macroscope.documents import Collection, Document
from macroscope.number_formats import number


def attribute(
    texts: Collection, latents: Path, scores: Path, prior: Path, *, options: CoherenceOptions, output: Path
) -> None:
    """Write the latent NLL per section of each document, and its erroneous transitions; see `critics.attributions`."""
    chain, nats = Priors.load(prior).default, read_nll_rates(scores)
    rows = (
        Attribution(name, nats[name], list(mark_transitions(document, states, chain, options.error_threshold)))
        for document, (name, states) in zip(texts, read_states(latents), strict=True)
    )
    write_attributions(rows, output)


def mark_transitions(
    document: Document, states: np.ndarray, prior: SectionPrior, threshold: float
) -> Iterator[tuple[Span, float, str]]:
    """Yield each transition with a prior probability below the threshold, the transition to the end included.

    Yields
    ------
    (place, weight, note)
        The place is the section that the transition leads to; for the end, the position behind the last section.
    """
    names = [BEGIN, *(prior.types[state] for state in states), END]
    for step, ((before, after), p) in enumerate(zip(pairwise(names), step_probabilities(states, prior), strict=True)):
        section = min(step, len(document.sections) - 1)
        length = len(document.sections[section].text)
        if p < threshold and length:
            weight = attribution_weight(np.inf if p == 0 else -np.log(p), -np.log(threshold))
            place = (section, length if after == END else 0, length)
            yield place, weight, f"{describe_transition(before, after)}: probability {number(p, 2)}"


def describe_transition(before: str, after: str) -> str:
    """Describe a transition in words, for the report."""
    if before == BEGIN:
        return f"begins with a section classified as {after}"
    return f"after {before}, " + ("the end" if after == END else f"a section classified as {after}")
