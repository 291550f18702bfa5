"""The sub-sequences of a text that the process does not have, or would hardly write where they stand."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess
from macroscope.critics.attributions import Attribution, Place, attribution_weight, joined, rates, write_attributions
from macroscope.critics.synthetic.latents import UNKNOWN, read_states
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.critics.synthetic.projection import pieces_of
from macroscope.documents import Document, read_documents
from macroscope.tables import number


def attribute(
    texts: Path, latents: Path, scores: Path, process: Path, *, options: SyntheticOptions, output: Path
) -> None:
    """Blame texts for T(x) a sub-sequence, and those less likely than `invalid_probability`; see `critics.attributions`."""
    truth, nats = HsmmProcess.load(process), rates(scores)
    rows = (
        Attribution(document.id, nats[document.id], list(marks(document, states, truth, options.invalid_probability)))
        for document, states in zip(read_documents(texts), read_states(latents), strict=True)
    )
    write_attributions(rows, output)


def marks(
    document: Document, states: Sequence[int], process: HsmmProcess, threshold: float
) -> Iterator[tuple[Place, float, str]]:
    """Sub-sequences without a state, and transitions with a probability below the threshold."""
    tokens = [
        ((number, found.start(), found.end()), found.group())
        for number, section in enumerate(document.sections)
        for found in re.finditer(r"\S+", section.text)
    ]
    pieces = list(pieces_of([token for _, token in tokens]))
    at, before = 0, SOURCE_STATE
    for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True):
        weight, note = 0.0, ""
        if state == UNKNOWN:
            weight, note = 1.0, "the process does not have this"
        elif before != UNKNOWN and (p := float(process.transitions[before, state])) < threshold:
            weight = attribution_weight(np.inf if p == 0 else -np.log(p), -np.log(threshold))
            note = f"state {before} → {state}: probability {number(p, 2)}"
        if note:
            yield from ((place, weight, note) for place in joined([p for p, _ in tokens[at : at + len(piece)]]))
        at, before = at + len(piece), state
