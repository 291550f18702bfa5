"""Evidence on a system's texts: passages with their states (deng2022 Figure 3), and invalid sub-sequences."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess
from macroscope.critics.synthetic.latents import UNKNOWN, read_states, split_subsequences
from macroscope.documents import Collection
from macroscope.files import atomic, write_json
from macroscope.tables import write_csv

SHOWN = 3
MOST_INVALID = 100


def explain(texts: Collection, latents: Path, process: Path, *, output: Path) -> None:
    """Write the evidence of a system into a folder.

    Files
    -----
    passages.json
        The first texts, split into sub-sequences, each with its state and the cost of the transition to it.
    invalid.csv
        The most frequent invalid sub-sequences: subsequence, count.
    """
    truth = HsmmProcess.load(process)
    passages: list[dict[str, Any]] = []
    invalid = Counter[str]()
    for document, states in zip(texts, read_states(latents), strict=True):
        pieces = [" ".join(piece) for piece in split_subsequences(document.text.split())]
        if len(passages) < SHOWN and pieces:
            passages.append({"title": document.id, "pieces": _describe_pieces(pieces, states, truth)})
        invalid.update(
            piece for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True) if state == UNKNOWN
        )
    table = pd.DataFrame(invalid.most_common(MOST_INVALID), columns=["subsequence", "count"])
    with atomic(output) as folder:
        folder.mkdir()
        write_json(folder / "passages.json", passages)
        write_csv(table, folder / "invalid.csv")


def _describe_pieces(pieces: list[str], states: list[int], process: HsmmProcess) -> list[dict[str, Any]]:
    described, before = [], SOURCE_STATE
    for piece, state in zip(pieces, [*states, UNKNOWN][: len(pieces)], strict=True):
        if state == UNKNOWN:
            note, group = "invalid: the process cannot generate this", None
        elif before == UNKNOWN:
            note, group = f"state {state}", state
        else:
            note, group = f"state {state}: {-np.log(process.transitions[before, state]):.1f} nats", state
        described.append({"text": f"{piece} ", "group": group, "note": note, "marked": state == UNKNOWN})
        before = state
    return described
