"""How well a detector finds known damage in the test split (cai2020 §5, Table 3), and what it gets wrong."""

import time
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from macroscope.critics.narrative.baselines import by_position, by_single_sentence
from macroscope.critics.narrative.detector import Detector
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.narratives import Narratives
from macroscope.files import write_json
from macroscope.statistics.detection import Decisions, best_threshold, detection_metrics, roc_curve
from macroscope.statistics.latent import Resampling

METRICS, ROC, ERRORS, EVALUATION = "metrics.csv", "roc.csv", "errors.csv", "evaluation.json"
ERRORS_SHOWN = 20
TIMED_SECONDS = 1.0
ROC_POINTS = 500


def evaluate(
    folder: Path, detector: Detector, narratives: Narratives, examples: dict[str, Examples], resampling: Resampling
) -> None:
    """Test a detector on damaged segments of the test split, and what can be told without it.

    Writes metrics.csv (of: detector, position, single_sentence; metric, value, ci_low, ci_high), roc.csv (of the
    detector), errors.csv (the surest errors with their text) and evaluation.json: test segments, decisions, positives,
    the threshold (that of the largest F1 on damaged validation segments; the paper does not tell its own) and
    segments_per_second of the network, embeddings given. Nothing but evaluation.json without test segments.
    """
    test = examples.get("test")
    if test is None or not test.damaged.any():
        write_json(folder / EVALUATION, {"segments": 0})
        return
    train, valid = examples["train"], examples["valid"]
    scored = {
        "detector": lambda some: detector.probabilities(narratives, some.inputs),
        "position": lambda some: by_position(train, some),
        "single_sentence": lambda some: by_single_sentence(narratives, train, some, resampling.seed),
    }
    tables, thresholds = [], {}
    for name, score in scored.items():
        thresholds[name] = best_threshold(decisions_of(valid.some(valid.damaged), score))
        decisions = decisions_of(test, score)
        tables.append(detection_metrics(decisions, thresholds[name], resampling).assign(of=name))
    found = scored["detector"](test)
    thin(roc_curve(decisions_of(test, lambda _: found))).to_csv(folder / ROC, index=False)
    pd.concat(tables, ignore_index=True)[["of", "metric", "value", "ci_low", "ci_high"]].to_csv(
        folder / METRICS, index=False
    )
    errors(detector, narratives, test, found, thresholds["detector"]).to_csv(folder / ERRORS, index=False)
    known = test.labels >= 0
    about = {
        "segments": len(test),
        "decisions": int(known.sum()),
        "positives": int((test.labels == 1).sum()),
        "threshold": thresholds["detector"],
        "segments_per_second": speed(detector, narratives, test),
    }
    write_json(folder / EVALUATION, about)


def decisions_of(examples: Examples, score: "npt.ArrayLike | object") -> Decisions:
    """Every position that has a label, with its story."""
    values = np.asarray(score(examples) if callable(score) else score)
    known = examples.labels >= 0
    stories = np.broadcast_to(examples.narratives[:, None], known.shape)[known]
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
    some = test.inputs[: min(len(test), 2048)]
    detector.outputs(narratives, some[:8])  # the first run sets things up
    segments, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < TIMED_SECONDS:
        detector.outputs(narratives, some)
        segments += len(some)
    return segments / elapsed


def thin(curve: pd.DataFrame) -> pd.DataFrame:
    """Fewer points of a curve, evenly chosen, with both ends."""
    chosen = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), ROC_POINTS)).astype(int))
    return curve.iloc[chosen]
