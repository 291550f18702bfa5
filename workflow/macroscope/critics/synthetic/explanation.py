"""What the texts look like, state by state (deng2022 Figure 3), and what the process does not have of them."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess
from macroscope.critics.synthetic.latents import UNKNOWN, read_states
from macroscope.critics.synthetic.projection import pieces_of
from macroscope.documents import read_documents
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

SHOWN = 3
MOST_INVALID = 100


def explain(texts: Path, latents: Path, process: Path, *, output: Path) -> None:
    """Write the evidence of a system into a folder.

    Files
    -----
    passages.json
        The first texts, cut into sub-sequences, each with its state and what the transition to it costs.
    invalid.csv
        Sub-sequences that the process does not have: subsequence, count; the most frequent ones.
    """
    truth = HsmmProcess.load(process)
    passages: list[dict[str, Any]] = []
    invalid = Counter[str]()
    for document, states in zip(read_documents(texts), read_states(latents), strict=True):
        pieces = [" ".join(piece) for piece in pieces_of(document.text.split())]
        if len(passages) < SHOWN and pieces:
            passages.append({"title": document.id, "pieces": _pieces(pieces, states, truth)})
        invalid.update(
            piece for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True) if state == UNKNOWN
        )
    table = pd.DataFrame(invalid.most_common(MOST_INVALID), columns=["subsequence", "count"])
    with atomic(output) as folder:
        folder.mkdir()
        write_json(folder / "passages.json", passages)
        write_csv(table, folder / "invalid.csv")


def _pieces(pieces: list[str], states: list[int], process: HsmmProcess) -> list[dict[str, Any]]:
    found, before = [], SOURCE_STATE
    for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True):
        if state == UNKNOWN:
            note, group = "the process does not have this", None
        elif before == UNKNOWN:
            note, group = f"state {state}", state
        else:
            note, group = f"state {state}: {-np.log(process.transitions[before, state]):.1f} nats", state
        found.append({"text": f"{piece} ", "group": group, "note": note, "marked": state == UNKNOWN})
        before = state
    return found
