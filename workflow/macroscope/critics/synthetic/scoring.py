"""Scores of the states of texts under the transitions of the process (deng2022 §3), attribution, known truth.

Invalid sub-sequences are marginalised.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.hsmm import SOURCE_STATE, Floats, HsmmProcess, Integers
from macroscope.critics.attributions import (
    Attribution,
    Span,
    attribution_weight,
    merge_neighbours,
    read_nll_rates,
    write_attributions,
)
from macroscope.critics.latents import stream_latents, write_scores
from macroscope.critics.synthetic.latents import LATENTS, UNKNOWN, read_states, split_subsequences
from macroscope.critics.synthetic.options import SyntheticOptions
from macroscope.documents import Collection, Document, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.options import Resampling
from macroscope.phrases import number
from macroscope.statistics.latent import pooled_perplexity


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


def write_known_truth(process: Path, *, options: SyntheticOptions, order: str, output: Path) -> None:
    """Write the theoretical latent PPL of a system with this order of sub-sequences.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order of sub-sequences: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.hsmm`.
    output
        JSON file to write. latent_ppl: includes the cost -log(1 - invalid_probability) per valid sub-sequence; basis:
        how it is computed; for the process itself also process_latent_ppl: without this cost.
    """
    truth = HsmmProcess.load(process)
    nll = expected_nll(truth, order)
    result = {
        "latent_ppl": float(np.exp(nll - np.log1p(-options.invalid_probability))),
        "basis": "expected cost of the states, exact",
    }
    if order == "process":
        result["process_latent_ppl"] = float(np.exp(nll))
    write_json(output, result)


def expected_nll(process: HsmmProcess, order: str = "process") -> float:
    """Compute E[-log P(z)] / M of texts of an order, under the process's transitions, in nats per sub-sequence."""
    # Impossible transitions have weight 0; a cost of 0 avoids 0 x inf.
    costs = -np.log(np.where(process.transitions > 0, process.transitions, 1))
    places = process.marginals
    if order == "process":
        entropies = (process.transitions * costs).sum(axis=1)
        before = np.vstack([np.eye(len(costs))[SOURCE_STATE], places[:-1]])
        return float((before @ entropies).mean())
    if order == "independent":
        onwards = np.einsum("ma,ab,mb->", places[:-1], costs, places[1:])
        return float((places[0] @ costs[SOURCE_STATE] + onwards) / process.segments)
    return _shuffled(process, costs)


def _shuffled(process: HsmmProcess, costs: Floats) -> float:
    """Compute the value for random order: all places are equally likely to be first, all pairs to be adjacent."""
    places, segments = process.marginals, process.segments
    total = places.mean(axis=0) @ costs[SOURCE_STATE]
    steps, pairs = np.eye(len(costs)), 0.0
    for distance in range(1, segments):
        steps = steps @ process.transitions
        weight = places[: segments - distance].sum(axis=0)
        joint = weight[:, None] * steps  # of two places at this distance, in process order
        pairs += float((joint * (costs + costs.T)).sum())
    return float((total + (pairs / segments if segments > 1 else 0.0)) / segments)


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
