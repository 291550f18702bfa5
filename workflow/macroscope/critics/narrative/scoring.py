"""Scores: latent NLL of narratives under the rates of detection in real text; attribution to sentences and gaps.

The latent z has a binary variable per place: whether the place is damaged. The detectors give its posterior, a
probability p_k for each place; the prior is the mean probability e in whole validation narratives, one number per task.
As for every critic, T(x) is the cross entropy of the two, summed over places:
T(x) = -sum_k [p_k log e + (1 - p_k) log (1 - e)].
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import entr, xlogy

from macroscope.critics.attributions import Attribution, Span, write_attributions
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import stream_latents, write_scores
from macroscope.critics.narrative.latents import INCOHERENCE, LATENTS, ORDER, ORDER_MODEL
from macroscope.critics.narrative.operating_point import OperatingPoint, read_operating_points
from macroscope.critics.narrative.options import NarrativeOptions
from macroscope.critics.narratives import blank_list_marks
from macroscope.documents import Collection, Document
from macroscope.natural_language.sentences import split_sentences
from macroscope.statistics.columns import NUMBERS
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.document_features import Array

SMALLEST_EXPECTED = 1e-6
"""Smallest expected probability e, which keeps log e finite if a detector detects nothing in real text."""


def score(latents: Path, inference: Path, *, output: Path) -> None:
    """Score latents.

    The table has id, opening, and the following columns, which are NaN for a narrative of one sentence:
    nll, units, entropy, kl
        T(x) in nats; number of places (slots and sentences); entropy of the posterior, and its divergence from the
        prior.
    nll_<task>, units_<task>
        T(x) and number of places of one task.
    count_<name>, of_<name>
        Count, and the total that it is out of: slots with a probability at or above the threshold (missing),
        sentences likewise (discordant); sentences that were cut (cut_sentence); narratives of one sentence
        (too_short).
    number_order
        Log odds of the order; absent if there is no model of it.
    categories
        Class of each place's probability, from 0 (lowest) to 9: "missing 3".
    """
    points = read_operating_points(inference)
    batches = (table.to_pandas() for table in stream_latents(latents, LATENTS))
    further = (ORDER,) if (inference / ORDER_MODEL).exists() else ()
    write_scores((_score_table(batch, points, further) for batch in batches), output, latents)


def _score_table(latents: pd.DataFrame, points: dict[str, OperatingPoint], further: Sequence[str]) -> pd.DataFrame:
    columns: dict[str, Any] = {"id": latents["id"], "opening": latents["opening"]}
    is_read = latents["sentences"].to_numpy() > 1
    probabilities = {task: [np.asarray(values, dtype=float) for values in latents[task]] for task in points}
    costs = {task: _sums(probabilities[task], _cross_entropy(point.expected)) for task, point in points.items()}
    units = {task: np.array([len(values) for values in probabilities[task]], dtype=float) for task in points}
    entropies = sum(_sums(probabilities[task], lambda p: entr(p) + entr(1 - p)) for task in points)
    total = sum(costs.values())
    columns |= {"nll": _masked(is_read, total), "units": _masked(is_read, sum(units.values()))}
    columns |= {"entropy": _masked(is_read, entropies), "kl": _masked(is_read, total - entropies)}
    for task, point in points.items():
        columns |= {f"nll_{task}": _masked(is_read, costs[task]), f"units_{task}": _masked(is_read, units[task])}
        marked = _sums(probabilities[task], lambda p, least=point.threshold: p >= least)
        columns |= {f"count_{task}": _masked(is_read, marked), f"of_{task}": _masked(is_read, units[task])}
    sentences = latents["sentences"].to_numpy(float)
    values = sentences > 0
    columns |= {
        "count_cut_sentence": _masked(values, latents["cut"].to_numpy(float)),
        "of_cut_sentence": _masked(values, sentences),
    }
    columns |= {f"number_{name}": latents[name].astype(float) for name in further}
    columns |= {"count_too_short": (~is_read).astype(float), "of_too_short": np.ones(len(latents))}
    classes = {
        task: [np.searchsorted(point.edges, p, side="right") for p in probabilities[task]]
        for task, point in points.items()
    }
    columns["categories"] = [
        [f"{task} {number}" for task in points for number in classes[task][row]] if is_scored else None
        for row, is_scored in enumerate(is_read)
    ]
    return pd.DataFrame(columns)


def _cross_entropy(expected: float) -> Any:
    expected = min(max(expected, SMALLEST_EXPECTED), 1 - SMALLEST_EXPECTED)
    return lambda p: -(xlogy(p, expected) + xlogy(1 - p, 1 - expected))


def _sums(probabilities: list[np.ndarray], function: Any) -> np.ndarray:
    return np.array([np.sum(function(values)) for values in probabilities], dtype=float)


def _masked(condition: np.ndarray, values: Any) -> np.ndarray:
    return np.where(condition, values, np.nan)


def attribute(
    texts: Collection, latents: Path, inference: Path, *, options: NarrativeOptions, language: str, output: Path
) -> None:
    """Attribute its incoherence to each narrative, marking places above the thresholds; see `critics.attributions`."""
    points = read_operating_points(inference)
    records = chain.from_iterable(table.to_pandas().to_dict("records") for table in stream_latents(latents, LATENTS))
    rows = (
        Attribution(row["id"], row[INCOHERENCE], list(find_marks(document, row, points, options.segmenter(language))))
        for document, row in zip(texts, records, strict=True)
    )
    write_attributions(rows, output)


def find_marks(
    document: Document, row: dict[str, Any], points: dict[str, OperatingPoint], language: str
) -> Iterator[tuple[Span, float, str]]:
    """Yield sentences out of place, and the first word of each sentence before which one is missing.

    Parameters
    ----------
    row
        Row of the latents.
    """
    places = locate_sentences(document, language)
    for task, point in points.items():
        for number, p in enumerate(row[task].tolist()):
            if p < point.threshold:
                continue
            if task == "missing":
                section, start, end = places[number + 1]
                first = document.sections[section].text[start:end].split(maxsplit=1)[0]
                yield (section, start, start + len(first)), p, f"a sentence may be missing before this: {p:.0%}"
            else:
                yield places[number], p, f"may be out of place: {p:.0%}"


def locate_sentences(document: Document, language: str) -> list[Span]:
    """Return the places of the sentences of `narratives.split_documents`, without surrounding white space."""
    places = []
    for number, section in enumerate(document.sections):
        offset = 0
        for sentence in split_sentences(blank_list_marks(section.text), language):
            if sentence.strip():
                start = offset + len(sentence) - len(sentence.lstrip())
                places.append((number, start, offset + len(sentence.rstrip())))
            offset += len(sentence)
    return places


STATISTICS = (
    Statistic("too_short_share", "share of the system's texts", "the same share", difference=False),
    Statistic("cut_sentence_share", "share of the system's sentences", "the same share", difference=False),
    *(replace(statistic, pattern=f"order_{statistic.pattern}") for statistic in NUMBERS),
)
"""Statistics of the input, which do not measure coherence, and of the order of the sentences."""


def follow(inputs: CourseInputs) -> Follow:
    """Return the function of each sentence's probability to be of another text; see `critics.course`."""

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        for table in stream_latents(latents, LATENTS, ["discordant"]):
            for probabilities in table["discordant"].to_pylist():  # null without this task
                yield np.array([probabilities or []], dtype=float)

    return values
