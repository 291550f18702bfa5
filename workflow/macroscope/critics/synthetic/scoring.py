"""Scores of the states of each text under the transitions of the process (deng2022 §3).

Invalid sub-sequences are marginalised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, HsmmProcess, Integers
from macroscope.critics.latents import stream_latents, write_scores
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.critics.synthetic.projection import LATENTS, UNKNOWN


@dataclass(frozen=True)
class StateChain:
    """Markov chain over states with invalid sub-sequences.

    In this model, each sub-sequence is replaced by an invalid one with a fixed probability. The state of an invalid
    sub-sequence is unobserved and summed over.

    Parameters
    ----------
    process
        Process with the transition probabilities.
    invalid
        Probability of an invalid sub-sequence.
    """

    process: HsmmProcess
    invalid: float

    def nll(self, states: Sequence[int] | Integers, tail: bool = False) -> float:
        """Compute -log P of a text's states, in nats.

        Parameters
        ----------
        states
            State of each sub-sequence, `UNKNOWN` for invalid ones.
        tail
            Whether tokens follow the last delimiter, which count as one more invalid sub-sequence.
        """
        given = np.asarray(states, dtype=np.int64)
        recognised = np.flatnonzero(given != UNKNOWN)
        missing = len(given) - len(recognised) + tail
        before = np.concatenate([[SOURCE_STATE], given[recognised]])
        gaps = np.diff(recognised, prepend=-1)
        total = -missing * np.log(self.invalid) - len(recognised) * np.log1p(-self.invalid)
        for start, state, gap in zip(before[:-1], given[recognised], gaps.tolist(), strict=True):
            reached = self.process.transitions[start]
            for _ in range(gap - 1):
                reached = reached @ self.process.transitions
            total -= np.log(reached[state])
        return float(total)


def score(latents: Path, process: Path, *, options: SyntheticOptions, output: Path) -> None:
    """Score latents.

    Writes id, opening, and:
    nll, units
        T(x) in nats of every text, the cost of invalid sub-sequences included; number of sub-sequences, a tail
        included. NaN for a text without sub-sequences.
    entropy
        NaN: the posterior of a valid sub-sequence is a point mass.
    nll_valid, units_valid
        -log P of the transitions alone, as published, for texts that the process can generate. NaN for others.
    count_<name>, of_<name>
        Numerators and denominators of shares: texts that the process can generate (valid); texts without exactly M
        sub-sequences (other_length); texts with tokens after the last delimiter (unfinished); invalid sub-sequences
        (invalid_subsequence); tokens that the process never generates (unknown_symbol).
    categories
        Names of the transitions, the one from the beginning included, with "none" for an invalid sub-sequence; null for
        a text without sub-sequences.
    """
    truth = HsmmProcess.load(process)
    costs = StateChain(truth, options.invalid_probability)
    batches = (table.to_pandas() for table in stream_latents(latents, LATENTS))
    write_scores((score_latents(batch, truth, costs) for batch in batches), output, latents)


def score_latents(latents: pd.DataFrame, process: HsmmProcess, costs: StateChain) -> pd.DataFrame:
    """Score a batch of latents; see `score`."""
    states = [np.asarray(sequence, dtype=np.int64) for sequence in latents["states"]]
    tail = latents["tail"].to_numpy(bool)
    number = np.array([len(sequence) for sequence in states])
    unknown = np.array([int((sequence == UNKNOWN).sum()) for sequence in states])
    units = number + tail
    length = number != process.segments
    valid = ~length & ~tail & (unknown == 0)
    nll = np.array([costs.nll(sequence, end) for sequence, end in zip(states, tail.tolist(), strict=True)])
    transitions = nll + number * np.log1p(-costs.invalid)  # of a valid text
    columns: dict[str, Any] = {
        "id": latents["id"],
        "opening": latents["opening"],
        "nll": np.where(units > 0, nll, np.nan),
        "units": np.where(units > 0, units, np.nan),
        "entropy": np.full(len(states), np.nan),
        "nll_valid": np.where(valid, transitions, np.nan),
        "units_valid": np.where(valid, units, np.nan),
    }
    of_texts = np.ones(len(states))
    for name, counted, total_of in (
        ("valid", valid, of_texts),
        ("other_length", length, of_texts),
        ("unfinished", tail, of_texts),
        ("invalid_subsequence", unknown, number),
        ("unknown_symbol", latents["unknown_symbols"], latents["tokens"]),
    ):
        total = np.asarray(total_of, dtype=float)
        columns[f"count_{name}"] = np.where(total > 0, np.asarray(counted, dtype=float), np.nan)
        columns[f"of_{name}"] = np.where(total > 0, total, np.nan)
    columns["categories"] = [_name_transitions(sequence) or None for sequence in states]
    return pd.DataFrame(columns)


def _name_transitions(states: Integers) -> list[str]:
    names = ["beginning", *("none" if state == UNKNOWN else str(state) for state in states)]
    return [f"{before} → {after}" for before, after in pairwise(names)]
