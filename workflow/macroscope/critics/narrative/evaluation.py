"""How well a detector finds known damage in the test split (cai2020 §5, Table 3), and what it gets wrong."""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.baselines import by_position, by_single_sentence
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import ERRORS, EVALUATION, METRICS, ROC, SPEED
from macroscope.critics.narrative.narratives import Narratives
from macroscope.files import write_json
from macroscope.statistics.detection import Decisions, best_threshold, detection_metrics, roc_curve
from macroscope.statistics.latent import Resampling
from macroscope.tables import write_csv

ERRORS_SHOWN = 20
TIMED_SECONDS, MOST_TIMED = 1.0, 256
ROC_POINTS = 500
Score = Callable[[Examples], npt.NDArray[np.float64]]
"""Examples -> a number at each position: the larger, the surer that something is wrong."""


def evaluate(
    folder: Path, detector: Detector, narratives: Narratives, examples: dict[str, Examples], resampling: Resampling
) -> None:
    """Test a detector on damaged segments of the test split, and what can be told without it.

    Writes metrics.csv (of: detector, position, single_sentence; metric, value, ci_low, ci_high), roc.csv (of the
    detector), errors.csv (the surest errors with their text), evaluation.json: test segments, decisions, positives and
    the threshold (that of the largest F1 on damaged validation segments; the paper does not tell its own); speed.json:
    segments_per_second of the network, embeddings or tokens given. Nothing but evaluation.json without test segments.
    """
    test = examples.get("test")
    if test is None or not test.damaged.any():
        write_json(folder / EVALUATION, {"segments": 0})
        return
    train, valid = examples["train"], examples["valid"]
    scored: dict[str, Score] = {
        "detector": lambda some: detector.probabilities(narratives, some.inputs),
        "position": lambda some: by_position(train, some),
        "single_sentence": lambda some: by_single_sentence(narratives, train, some, resampling.seed),
    }
    tables, thresholds, families = [], {}, narratives.families
    for name, score in scored.items():
        thresholds[name] = best_threshold(decisions_of(valid.some(valid.damaged), score, families))
        decisions = decisions_of(test, score, families)
        tables.append(detection_metrics(decisions, thresholds[name], resampling).assign(of=name))
    found = scored["detector"](test)
    write_csv(thin(roc_curve(decisions_of(test, lambda _: found, families))), folder / ROC)
    metrics = pd.concat(tables, ignore_index=True)[["of", "metric", "value", "ci_low", "ci_high"]]
    write_csv(metrics, folder / METRICS)
    write_csv(errors(detector, narratives, test, found, thresholds["detector"]), folder / ERRORS)
    known = test.labels >= 0
    about = {
        "segments": len(test),
        "decisions": int(known.sum()),
        "positives": int((test.labels == 1).sum()),
        "threshold": thresholds["detector"],
    }
    write_json(folder / EVALUATION, about)
    # Apart: all else is the same in every run.
    write_json(folder / SPEED, {"segments_per_second": speed(detector, narratives, test)})


def decisions_of(examples: Examples, score: Score, families: npt.NDArray[np.int64]) -> Decisions:
    """Every position that has a label, with its story: versions of one story are one."""
    values, known = score(examples), examples.labels >= 0
    stories = np.broadcast_to(families[examples.narratives][:, None], known.shape)[known]
    return Decisions(stories, examples.labels[known] == 1, values[known])


def errors(
    detector: Detector, narratives: Narratives, test: Examples, found: npt.NDArray[np.float64], threshold: float
) -> pd.DataFrame:
    """Read the surest errors of a detector: kind, probability, id, text; the sentence or slot stands in brackets."""
    known = test.labels >= 0
    wrong = known & ((found >= threshold) != (test.labels == 1))
    places = np.argwhere(wrong)
    sure = np.where(test.labels == 1, 1 - found, found)[wrong]
    rows = []
    for row, position in places[np.argsort(-sure, kind="stable")][:ERRORS_SHOWN]:
        kind = "not found" if test.labels[row, position] == 1 else "not damaged"
        text = marked_text(narratives, test.inputs[row], int(position), detector.task)
        rows.append((kind, found[row, position], narratives.ids[test.narratives[row]], text))
    return pd.DataFrame(rows, columns=["kind", "probability", "id", "text"])


def marked_text(narratives: Narratives, inputs: npt.NDArray[np.int64], position: int, task: str) -> str:
    """Sentences of a segment with one of them, or the slot behind it, in brackets."""
    sentences = [narratives.sentences[number] for number in inputs[inputs != NONE]]
    if task == "missing":
        sentences.insert(position + 1, "[…]")
    else:
        sentences[position] = f"[{sentences[position]}]"
    return " ".join(sentences)


def speed(detector: Detector, narratives: Narratives, test: Examples) -> float:
    """Segments a second that the network reads, embeddings or tokens given; over at least a second."""
    some = test.some(np.arange(min(len(test), MOST_TIMED)))
    batches = detector.batches(narratives, some)
    detector.outputs_of(batches, some.inputs[:8])  # the first run sets things up
    segments, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < TIMED_SECONDS:
        detector.outputs_of(batches, some.inputs)
        segments += len(some)
    return segments / elapsed


def thin(curve: pd.DataFrame) -> pd.DataFrame:
    """Fewer points of a curve, evenly chosen, with both ends."""
    chosen = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), ROC_POINTS)).astype(int))
    return curve.iloc[chosen]
