"""Attribution of a text's latent NLL to sub-sequences that are invalid, or whose transition is unlikely."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess
from macroscope.critics.attributions import (
    Attribution,
    Span,
    attribution_weight,
    merge_neighbours,
    read_nll_rates,
    write_attributions,
)
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.critics.synthetic.projection import UNKNOWN, read_states, split_subsequences
from macroscope.documents import Collection, Document
from macroscope.number_formats import number


def attribute(
    texts: Collection, latents: Path, scores: Path, process: Path, *, options: SyntheticOptions, output: Path
) -> None:
    """Write the latent NLL per sub-sequence of each text, and its unlikely sub-sequences; see `critics.attributions`.

    Marked are invalid sub-sequences, and those whose transition has a probability below `invalid_probability`.
    """
    truth, nats = HsmmProcess.load(process), read_nll_rates(scores)
    rows = (
        Attribution(
            document.id,
            nats[document.id],
            list(mark_subsequences(document, states, truth, options.invalid_probability)),
        )
        for document, states in zip(texts, read_states(latents), strict=True)
    )
    write_attributions(rows, output)


def mark_subsequences(
    document: Document, states: Sequence[int], process: HsmmProcess, threshold: float
) -> Iterator[tuple[Span, float, str]]:
    """Yield (place, weight, note) of sub-sequences without a state, and of transitions below the threshold."""
    tokens = [
        ((number, match.start(), match.end()), match.group())
        for number, section in enumerate(document.sections)
        for match in re.finditer(r"\S+", section.text)
    ]
    pieces = list(split_subsequences([token for _, token in tokens]))
    at, before = 0, SOURCE_STATE
    for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True):
        weight, note = 0.0, ""
        if state == UNKNOWN:
            weight, note = 1.0, "invalid: the process cannot generate this"
        elif before != UNKNOWN and (p := float(process.transitions[before, state])) < threshold:
            weight = attribution_weight(np.inf if p == 0 else -np.log(p), -np.log(threshold))
            note = f"state {before} → {state}: probability {number(p, 2)}"
        if note:
            yield from (
                (place, weight, note) for place in merge_neighbours([p for p, _ in tokens[at : at + len(piece)]])
            )
        at, before = at + len(piece), state
