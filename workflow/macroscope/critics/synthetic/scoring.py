"""Scores: how likely the states of each text are under the process's own transitions (deng2022 §3)."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import HsmmProcess, Integers
from macroscope.critics.latents import write_scores
from macroscope.critics.synthetic.chain import StateChain
from macroscope.critics.synthetic.latents import UNKNOWN, read_latents
from macroscope.critics.synthetic.options import SyntheticOptions


def score(latents: Path, process: Path, *, options: SyntheticOptions, output: Path) -> None:
    """Score latents.

    Writes id, opening, and:
    nll, units
        T(x) in nats of every text, with what its invalid sub-sequences cost; its sub-sequences, a tail among them. NaN
        for a text without any.
    entropy
        NaN: the posterior is a point wherever there is one.
    nll_valid, units_valid
        -log of the transitions alone, of texts that the process could have written: as published. NaN for others.
    count_<name>, of_<name>
        Texts that the process could have written (valid); those that are not of M sub-sequences (other_length), and
        that have tokens behind the last delimiter (unfinished); sub-sequences that the process does not have
        (invalid_subsequence); tokens that it never writes (unknown_symbol).
    categories
        The transitions by name, that from the beginning among them, "none" for a sub-sequence that the process does not
        have; null for a text without any.
    """
    truth = HsmmProcess.load(process)
    costs = StateChain(truth, options.invalid_probability)
    write_scores((scored(some, truth, costs) for some in read_latents(latents)), output, latents)


def scored(latents: pd.DataFrame, process: HsmmProcess, costs: StateChain) -> pd.DataFrame:
    """Scores of some latents; see `score`."""
    states = [np.asarray(some, dtype=np.int64) for some in latents["states"]]
    tail = latents["tail"].to_numpy(bool)
    number = np.array([len(some) for some in states])
    unknown = np.array([int((some == UNKNOWN).sum()) for some in states])
    units = number + tail
    length = number != process.segments
    valid = ~length & ~tail & (unknown == 0)
    nll = np.array([costs.nll(some, end) for some, end in zip(states, tail.tolist(), strict=True)])
    transitions = nll + number * np.log1p(-costs.invalid)  # of a valid text
    found: dict[str, Any] = {
        "id": latents["id"],
        "opening": latents["opening"],
        "nll": np.where(units > 0, nll, np.nan),
        "units": np.where(units > 0, units, np.nan),
        "entropy": np.full(len(states), np.nan),
        "nll_valid": np.where(valid, transitions, np.nan),
        "units_valid": np.where(valid, units, np.nan),
    }
    of_texts = np.ones(len(states))
    for name, counted, of in (
        ("valid", valid, of_texts),
        ("other_length", length, of_texts),
        ("unfinished", tail, of_texts),
        ("invalid_subsequence", unknown, number),
        ("unknown_symbol", latents["unknown_symbols"], latents["tokens"]),
    ):
        total = np.asarray(of, dtype=float)
        found[f"count_{name}"] = np.where(total > 0, np.asarray(counted, dtype=float), np.nan)
        found[f"of_{name}"] = np.where(total > 0, total, np.nan)
    found["categories"] = [_transitions(some) or None for some in states]
    return pd.DataFrame(found)


def _transitions(states: Integers) -> list[str]:
    names = ["beginning", *("none" if state == UNKNOWN else str(state) for state in states)]
    return [f"{before} → {after}" for before, after in pairwise(names)]
