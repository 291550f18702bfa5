"""Evaluation of a detector on known damage in the test split (cai2020 §5, Table 3): metrics, errors, speed.

If damage could be predicted from its position, or from the sentence by itself, a detector could succeed without any
coherence. These two baselines are reported beside every detector, and should be at chance: an AUC of one half.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression

from macroscope.critics.narrative.checked_segments import CheckedSegment, collect_answers
from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.examples import NONE, Examples
from macroscope.critics.narrative.latents import (
    DETECTION_COUNTS,
    ERRORS,
    EVALUATION,
    METRICS,
    OPERATING_POINT,
    ROC,
    SPEED,
)
from macroscope.critics.narrative.operating_point import choose_operating_point
from macroscope.critics.narrative.options import Task
from macroscope.critics.narratives import Narratives
from macroscope.documents import DOCUMENTS_AT_ONCE
from macroscope.files import write_json
from macroscope.options import Resampling
from macroscope.statistics.agreement import Decisions, answer_metrics, best_threshold, detection_metrics, roc_curve
from macroscope.tables import write_csv

MOST_SENTENCES = 50_000
FEATURES = 1 << 16


def predict_by_position(train: Examples, test: Examples) -> npt.NDArray[np.float64]:
    """Return the share of 1 among the training labels, by length and position (segments x positions)."""
    width = train.labels.shape[1]
    rates = np.full((max(width, test.labels.shape[1]) + 1, max(width, test.labels.shape[1])), np.nan)
    lengths = (train.labels >= 0).sum(axis=1)
    for length in np.unique(lengths):
        labels = train.labels[lengths == length]
        with np.errstate(invalid="ignore"):
            rates[length, :width] = (labels == 1).sum(axis=0) / (labels >= 0).sum(axis=0)
    overall = (train.labels == 1).sum() / max(1, (train.labels >= 0).sum())
    predicted = rates[(test.labels >= 0).sum(axis=1)][:, : test.labels.shape[1]]
    return np.where(np.isnan(predicted), overall, predicted)


def predict_by_single_sentence(
    narratives: Narratives, train: Examples, test: Examples, seed: int
) -> npt.NDArray[np.float64]:
    """Predict logits from the words of each sentence and their number, by logistic regression.

    Slots are predicted from the sentence before them.

    Returns
    -------
    array
        Segments x positions; 0 at positions without a label.
    """
    positions = np.argwhere(train.labels >= 0)
    if len(positions) > MOST_SENTENCES:
        positions = positions[np.random.default_rng(seed).choice(len(positions), MOST_SENTENCES, replace=False)]
    labels = train.labels[tuple(positions.T)] == 1
    logits = np.zeros(test.labels.shape)
    if labels.all() or not labels.any():
        return logits
    model = LogisticRegression(solver="liblinear").fit(_features(narratives, train.inputs[tuple(positions.T)]), labels)
    places = np.argwhere(test.labels >= 0)
    for start in range(0, len(places), MOST_SENTENCES):
        part = tuple(places[start : start + MOST_SENTENCES].T)
        logits[part] = model.decision_function(_features(narratives, test.inputs[part]))
    return logits


def _features(narratives: Narratives, numbers: npt.NDArray[np.int64]) -> sparse.csr_matrix:
    sentences = [narratives.sentences[number] for number in numbers]
    words = HashingVectorizer(n_features=FEATURES, alternate_sign=False, norm="l2").transform(sentences)
    lengths = np.log1p([[len(sentence.split())] for sentence in sentences])
    return sparse.hstack([words, sparse.csr_matrix(lengths)]).tocsr()


ERRORS_SHOWN = 20
TIMED_SECONDS, MOST_TIMED = 1.0, 256
ROC_POINTS = 500
Score = Callable[[Examples], npt.NDArray[np.float64]]
"""Function from examples to a score per position; a larger score means that damage is more likely."""


def evaluate(
    folder: Path,
    detector: Detector,
    narratives: Narratives,
    examples: dict[str, Examples],
    resampling: Resampling,
    checked: Sequence[CheckedSegment] = (),
) -> None:
    """Test a detector, and the baselines without coherence, on damaged segments of the test split.

    The folder receives:

    * metrics.csv: of (detector, position, single_sentence; people, if they have judged the segments), metric, value,
      ci_low, ci_high;
    * roc.csv: ROC curve of the detector;
    * errors.csv: its most confident errors, with their text;
    * evaluation.json: numbers of test segments, decisions and positives, and the threshold, which maximises F1 on
      damaged validation segments (the paper does not report its choice);
    * speed.json: segments_per_second of the network, excluding embedding and tokenisation.

    Without damaged test segments, only evaluation.json is written.

    Parameters
    ----------
    checked
        Test segments that people have checked, if the test examples are these.
    """
    test = examples.get("test")
    if test is None or not test.damaged.any():
        write_json(folder / EVALUATION, {"segments": 0})
        return
    train, valid = examples["train"], examples["valid"]
    scorers: dict[str, Score] = {
        "detector": lambda batch: detector.probabilities(narratives, batch.inputs),
        "position": lambda batch: predict_by_position(train, batch),
        "single_sentence": lambda batch: predict_by_single_sentence(narratives, train, batch, resampling.seed),
    }
    tables, thresholds, families = [], {}, narratives.families
    for name, score in scorers.items():
        thresholds[name] = best_threshold(collect_decisions(valid.select(valid.damaged), score, families))
        decisions = collect_decisions(test, score, families)
        tables.append(detection_metrics(decisions, thresholds[name], resampling).assign(of=name))
    stories = dict(zip(narratives.ids, families.tolist(), strict=True))
    if people := collect_answers(checked, stories):
        tables.append(answer_metrics(people, resampling).assign(of="people"))
    probabilities = scorers["detector"](test)
    write_csv(thin_curve(roc_curve(collect_decisions(test, lambda _: probabilities, families))), folder / ROC)
    metrics = pd.concat(tables, ignore_index=True)[["of", "metric", "value", "ci_low", "ci_high"]]
    write_csv(metrics, folder / METRICS)
    write_csv(find_errors(detector, narratives, test, probabilities, thresholds["detector"]), folder / ERRORS)
    is_labelled = test.labels >= 0
    summary = {
        "segments": len(test),
        "decisions": int(is_labelled.sum()),
        "positives": int((test.labels == 1).sum()),
        "threshold": thresholds["detector"],
    }
    write_json(folder / EVALUATION, summary)
    # In a file of its own, because everything else is the same in every run.
    write_json(folder / SPEED, {"segments_per_second": measure_speed(detector, narratives, test)})


def collect_decisions(examples: Examples, score: Score, families: npt.NDArray[np.int64]) -> Decisions:
    """Return the decisions at all labelled positions, grouped by story; versions of one story are one group."""
    values, is_labelled = score(examples), examples.labels >= 0
    stories = np.broadcast_to(families[examples.narratives][:, None], is_labelled.shape)[is_labelled]
    return Decisions(stories, examples.labels[is_labelled] == 1, values[is_labelled])


def find_errors(
    detector: Detector, narratives: Narratives, test: Examples, probabilities: npt.NDArray[np.float64], threshold: float
) -> pd.DataFrame:
    """Return the most confident errors of a detector: kind, probability, id, text with the place in brackets."""
    is_labelled = test.labels >= 0
    is_wrong = is_labelled & ((probabilities >= threshold) != (test.labels == 1))
    places = np.argwhere(is_wrong)
    certainty = np.where(test.labels == 1, 1 - probabilities, probabilities)[is_wrong]
    rows = []
    for row, position in places[np.argsort(-certainty, kind="stable")][:ERRORS_SHOWN]:
        kind = "not found" if test.labels[row, position] == 1 else "not damaged"
        text = mark_text(narratives, test.inputs[row], int(position), detector.task)
        rows.append((kind, probabilities[row, position], narratives.ids[test.narratives[row]], text))
    return pd.DataFrame(rows, columns=["kind", "probability", "id", "text"])


def mark_text(narratives: Narratives, inputs: npt.NDArray[np.int64], position: int, task: str) -> str:
    """Return the text of a segment with one sentence, or the slot after it, in brackets."""
    sentences = [narratives.sentences[number] for number in inputs[inputs != NONE]]
    if task == "missing":
        sentences.insert(position + 1, "[…]")
    else:
        sentences[position] = f"[{sentences[position]}]"
    return " ".join(sentences)


def measure_speed(detector: Detector, narratives: Narratives, test: Examples) -> float:
    """Measure, over at least a second, how many segments per second the network reads, given embeddings or tokens."""
    timed = test.select(np.arange(min(len(test), MOST_TIMED)))
    batches = detector.batches(narratives, timed)
    detector.collated_outputs(batches, timed.inputs[:8])  # warm-up
    segments, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < TIMED_SECONDS:
        detector.collated_outputs(batches, timed.inputs)
        segments += len(timed)
    return segments / elapsed


def thin_curve(curve: pd.DataFrame) -> pd.DataFrame:
    """Return evenly spaced points of a curve, including both ends."""
    indices = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), ROC_POINTS)).astype(int))
    return curve.iloc[indices]


# ---- known damage ----------------------------------------------------------------------------------------------------
# Detection of known damage: a detector's operating point and its true positive rate.
#
# Whole validation narratives set the operating point. Damaged held-out narratives give the share of damage that is
# detected, which `comparison` uses to correct rates.


def write_operating_point(
    folder: Path, detector: Detector, narratives: Narratives, held_out: Examples, false_positive_rate: float
) -> None:
    """Write operating_point.json (`OperatingPoint`) and found.csv: id, damaged, found (counts of places per narrative).

    Parameters
    ----------
    narratives
        Narratives of the corpus, with embeddings if the detector reads them.
    held_out
        Damaged whole narratives, which were used neither in training nor in selection of the detector.
    """
    whole = read_narratives(detector, select_narratives(narratives, narratives.of_split("valid")))
    point = choose_operating_point(np.concatenate([np.empty(0, dtype=np.float32), *whole]), false_positive_rate)
    write_json(folder / OPERATING_POINT, vars(point))
    write_csv(count_detections(detector, narratives, held_out, point.threshold), folder / DETECTION_COUNTS)


def count_detections(detector: Detector, narratives: Narratives, examples: Examples, threshold: float) -> pd.DataFrame:
    """Count the detected damaged places per narrative: id, damaged, found.

    Narratives are read as wholes, as a system's texts are, even if only one segment is damaged. Versions of one story
    share a row.
    """
    damaged = examples.select(examples.damaged)
    counts = []
    for start in range(0, len(damaged), DOCUMENTS_AT_ONCE):
        batch = damaged.select(slice(start, start + DOCUMENTS_AT_ONCE))
        damaged_narratives, flags = apply_damage(narratives, batch, detector.task)
        probabilities = read_narratives(detector, damaged_narratives)
        counts += [
            (name, int(is_damaged.sum()), int((values[is_damaged[: len(values)]] >= threshold).sum()))
            for name, is_damaged, values in zip(damaged_narratives.ids, flags, probabilities, strict=True)
        ]
    families = narratives.families[damaged.narratives]
    table = pd.DataFrame(counts, columns=["id", "damaged", "found"])
    return table.groupby(families, sort=False).agg({"id": "first", "damaged": "sum", "found": "sum"})


def apply_damage(
    narratives: Narratives, damaged: Examples, task: Task
) -> tuple[Narratives, list[npt.NDArray[np.bool_]]]:
    """Apply segments' damage to their whole narratives; return these, and whether each of their places is damaged."""
    sequences, flags = [], []
    for owner, inputs, labels, targets in zip(
        damaged.narratives, damaged.inputs, damaged.labels, damaged.targets, strict=True
    ):
        numbers = np.arange(narratives.starts[owner], narratives.starts[owner + 1])
        is_damaged = np.zeros(len(numbers), dtype=bool)
        removed = targets[targets != NONE] - narratives.starts[owner]
        if task == "missing":
            is_damaged[removed - 1] = True
            sequences.append(np.delete(numbers, removed))
            flags.append(np.delete(is_damaged, removed))
        else:
            numbers[removed] = inputs[labels == 1]
            is_damaged[removed] = True
            sequences.append(numbers)
            flags.append(is_damaged)
    return _build_narratives(narratives, damaged.narratives.tolist(), sequences), flags


def select_narratives(narratives: Narratives, indices: Sequence[int]) -> Narratives:
    """Return the narratives with these indices."""
    numbers = [np.arange(narratives.starts[number], narratives.starts[number + 1]) for number in indices]
    return _build_narratives(narratives, indices, numbers)


def _build_narratives(
    narratives: Narratives, owners: Sequence[int], numbers: Sequence[npt.NDArray[np.int64]]
) -> Narratives:
    """Build narratives from sequences of sentences' numbers."""
    joined = np.concatenate([np.empty(0, dtype=np.int64), *numbers])
    ids, splits, openings = (
        [values[owner] for owner in owners] for values in (narratives.ids, narratives.splits, narratives.openings)
    )
    sentences = [narratives.sentences[number] for number in joined]
    starts = np.cumsum([0, *map(len, numbers)])
    selected = Narratives(ids, splits, openings, sentences, starts)
    if narratives.vectors is None or narratives.cut is None:
        return selected
    return selected.with_vectors(narratives.vectors.select(joined), narratives.cut[joined])
