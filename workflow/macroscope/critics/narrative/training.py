"""Training of detectors with the shared training loop, their calibration and their test."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.torch import load_model
from sklearn.linear_model import LogisticRegression

from macroscope.critics.narrative.checked_segments import CheckedSegment, read_lines
from macroscope.critics.narrative.corruption import concatenate, corrupt_for_pretraining, corrupt_splits
from macroscope.critics.narrative.detector import SEGMENTS_AT_ONCE, Detector, new_detector
from macroscope.critics.narrative.evaluation import evaluate, write_operating_point
from macroscope.critics.narrative.examples import Examples, read_examples
from macroscope.critics.narrative.latents import TRAINING, WEIGHTS
from macroscope.critics.narrative.options import JUDGE, NarrativeOptions, Task
from macroscope.critics.narrative.projection import sentence_embedder
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.critics.narrative.similarity_detector import LabelledPlaces, SimilarityDetector
from macroscope.critics.narrative.tensors import Rows
from macroscope.critics.narratives import Narratives, Vectors
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.options import Resampling
from macroscope.tables import write_csv
from macroscope.training import Checkpoints, Schedule, discard, is_main_process, launch, use_threads
from macroscope.training import Examples as TrainingExamples

FEWEST_SEGMENTS = 20
"""Fewest damaged training segments that a detector can be trained on."""
EVALUATIONS = 10
STANDARDISATION_SENTENCES = 100_000
"""Largest number of sentences from which mean and spread of the embeddings are computed."""
REGRESSION_SEGMENTS = 20_000
"""Largest number of segments for a detector of level "similarity": its hundred weights need no more."""
DEVICE_BATCH = {"sentence": 1024, "token": 16}


def train_judge(
    narratives: Narratives,
    task: Task,
    options: NarrativeOptions,
    seed: int,
    checkpoints: Path,
    resampling: Resampling,
    output: Path,
) -> None:
    """Damage the narratives and train the judge for one task, all in one stage; see `train_detector`."""
    examples, counts = corrupt_splits(narratives, options, task, seed)
    training = _Training(narratives, options, JUDGE, task, seed, checkpoints)
    training.run(output, examples, counts, None, resampling)
    discard(checkpoints)


def train_detector(
    documents: Path,
    corrupted: Path,
    embeddings: Path | None = None,
    pretrained: Path | None = None,
    checked: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    resampling: Resampling,
    task: Task,
    name: str,
    processes: int = 1,
    output: Path,
) -> None:
    """Train one detector for one task, and test it.

    The folder `output` receives the detector (see `detector.Detector`), training_log.csv (step, epoch, train_loss,
    valid_loss), training.json (counts) and the results on the test split (see `evaluation.evaluate`).

    Parameters
    ----------
    corrupted
        Damaged segments of all splits, from `corruption.corrupt`.
    embeddings
        Embeddings of the corpus's sentences, for a sentence-level detector.
    pretrained
        Folder of the detector whose weights training starts from.
    checked
        Segments that people have checked, if those of the test split are these.
    processes
        Number of GPUs to train on, one process each.
    """
    launch(processes)
    narratives = read_corpus_narratives(documents, options.segmenter(language), embeddings)
    examples, counts = read_examples(corrupted)
    segments = read_lines(CheckedSegment, checked) if checked else []
    training = _Training(narratives, options, name, task, seed, checkpoints)
    training.run(output, examples, counts, pretrained, resampling, segments)
    discard(checkpoints)


def pretrain(
    documents: Path,
    embeddings: Path,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    task: Task,
    name: str,
    threads: int = 1,
    processes: int = 1,
    output: Path,
) -> None:
    """Train a detector on long damaged segments of another corpus (cai2020 §4.2); see `train_detector`.

    Parameters
    ----------
    documents, embeddings
        Documents of that corpus, and embeddings of their sentences.
    """
    launch(processes)
    pretraining = options.pretraining
    if pretraining is None:
        raise MacroscopeError(
            "pretraining: no corpus is given to pre-train on; set 'pretraining' of the narrative critic"
        )
    narratives = read_corpus_narratives(documents, options.segmenter(language), embeddings)
    examples, counts = corrupt_for_pretraining(narratives, options, pretraining, task, seed, threads)
    # Retrieval with several threads leaves torch a thread pool that makes training many times slower; renew it.
    use_threads(threads)
    schedule = {"epochs": pretraining.epochs, "learning_rate": pretraining.learning_rate}
    training = _Training(narratives, options, name, task, seed, checkpoints, schedule)
    training.run(output, examples, counts, None, None)
    discard(checkpoints)


def read_embedded_corpus(documents: Path, language: str, options: NarrativeOptions) -> Narratives:
    """Read the narratives of a corpus, with embeddings if the judge reads them."""
    narratives = read_corpus_narratives(documents, options.segmenter(language))
    if options.detector.level == "token":
        return narratives
    return narratives.with_vectors(*sentence_embedder(options).embed(narratives.sentences))


class _Training:
    """The training of one detector.

    Parameters
    ----------
    narratives
        Narratives of all splits; with embeddings for a sentence-level detector.
    name
        Name of the detector in the options.
    schedule
        Epochs and learning rate of a pre-training, in place of the detector's; None: not a pre-training.
    """

    def __init__(
        self,
        narratives: Narratives,
        options: NarrativeOptions,
        name: str,
        task: Task,
        seed: int,
        checkpoints: Path,
        schedule: dict[str, float] | None = None,
    ) -> None:
        self.narratives, self.options, self.task, self.seed = narratives, options, task, seed
        self.checkpoints, self.pretrains = checkpoints, schedule is not None
        self.detector = options.detectors()[name].model_copy(update=schedule or {})

    def run(
        self,
        output: Path,
        examples: dict[str, Examples],
        counts: dict[str, Any],
        pretrained: Path | None,
        resampling: Resampling | None,
        checked: Sequence[CheckedSegment] = (),
    ) -> None:
        """Train, calibrate on the validation split, test, and write; only the main process writes.

        Parameters
        ----------
        resampling
            Options of the intervals; None: the detector is not tested.
        checked
            Test segments that people have checked, if the test examples are these.
        """
        _require_segments(examples, counts, self.task)
        detector = self._new_detector(pretrained)
        history = self._fit(detector, examples)
        if not is_main_process():
            return
        _calibrate(detector, self.narratives, examples["valid"])
        with atomic(output) as folder:
            folder.mkdir()
            detector.save(folder)
            write_csv(history, folder / "training_log.csv")
            parameters = sum(p.numel() for p in detector.network.parameters())
            write_json(folder / TRAINING, {"parameters": parameters, **counts})
            if resampling is not None:
                evaluate(folder, detector, self.narratives, examples, resampling, checked)
                rate = self.options.false_positive_rate
                write_operating_point(folder, detector, self.narratives, examples[HELD_OUT], rate)

    def _new_detector(self, pretrained: Path | None) -> Detector:
        width = 0 if self.narratives.vectors is None else self.narratives.vectors.width
        detector = new_detector(self.options, self.detector, self.task, width, self.seed)
        if self.detector.pretrained and not self.pretrains:
            if pretrained is None:
                raise MacroscopeError(
                    "the detector's option 'pretrained' is set, but its pre-trained weights are missing; give the"
                    " folder that stage 'pretrain' writes as 'pretrained'"
                )
            load_model(detector.network, str(pretrained / WEIGHTS))
        elif self.narratives.vectors is not None and self.detector.reads_embeddings:
            detector.network.standardise_by(self._training_vectors())
        return detector

    def _training_vectors(self) -> Vectors:
        """Return embeddings of sentences of the train split, a random subset if there are many."""
        vectors = self.narratives.vectors
        assert vectors is not None
        is_training = np.repeat([split == "train" for split in self.narratives.splits], self.narratives.lengths)
        chosen = np.random.default_rng(self.seed).permutation(np.flatnonzero(is_training))[:STANDARDISATION_SENTENCES]
        return vectors[np.sort(chosen)]

    def _fit(self, detector: Detector, examples: dict[str, Examples]) -> pd.DataFrame:
        train, valid = examples["train"], examples["valid"]
        if isinstance(detector.network, SimilarityDetector):
            return detector.network.fit(*(self._labelled_places(detector, part) for part in (train, valid)))
        from macroscope.trainer import train as train_model

        device_batch_size = min(self.detector.batch_size, DEVICE_BATCH[self.detector.level])
        schedule = Schedule.of(self.detector, device_batch_size=device_batch_size, evaluations=EVALUATIONS)
        identity = {
            "options": self.options.model_dump(mode="json"),
            "detector": self.detector.model_dump(mode="json"),
            "task": self.task,
            "seed": self.seed,
            "examples": _digest(self.narratives, train),
        }
        batches = detector.batches(self.narratives, concatenate(train, valid))
        training_examples = TrainingExamples(Rows(0, len(train)), Rows(len(train), len(valid)), batches)
        return train_model(
            detector.network, training_examples, schedule, Checkpoints(self.checkpoints, identity), self.seed
        )

    def _labelled_places(self, detector: Detector, examples: Examples) -> LabelledPlaces:
        """Compute the features of the places in segments, a random subset if there are many."""
        chosen = np.sort(np.random.default_rng(self.seed).permutation(len(examples))[:REGRESSION_SEGMENTS])
        collate = detector.batches(self.narratives, examples)
        size = SEGMENTS_AT_ONCE[detector.level]
        batches = (collate(chosen[start : start + size].tolist()) for start in range(0, len(chosen), size))
        return LabelledPlaces.of(detector.network, batches)


def _require_segments(examples: dict[str, Examples], counts: dict[str, Any], task: Task) -> None:
    for split, fewest in (("train", FEWEST_SEGMENTS), ("valid", 2)):
        segments = int(examples[split].damaged.sum()) if split in examples else 0
        if segments < fewest:
            split_counts = counts.get(split, {})
            reason = f"{split_counts.get('narratives_too_short', 0)} documents are too short"
            if "without_match" in split_counts:
                reason += f", {split_counts['left_as_they_are']} sentences have no dissimilar match to replace them"
            raise MacroscopeError(
                f"the narrative critic has {segments} damaged segments of split '{split}' ({task} sentences), and needs"
                f" {fewest} for training ({reason}); give longer texts or more of them, or"
                " smaller 'sentences' and 'damaged' in a config"
            )


def _calibrate(detector: Detector, narratives: Narratives, valid: Examples) -> None:
    """Fit slope and intercept so that probabilities are calibrated on validation segments (Platt 1999)."""
    is_labelled = valid.labels >= 0
    logits = detector.outputs(narratives, valid.inputs)[is_labelled]
    labels = valid.labels[is_labelled]
    if len(np.unique(labels)) < 2:
        return
    fitted = LogisticRegression(C=1.0).fit(logits[:, None], labels)
    # A negative slope means that the detector has learnt nothing; it then predicts the base rate everywhere.
    detector.slope = float(max(fitted.coef_[0, 0], 0.0))
    detector.intercept = (
        float(fitted.intercept_[0]) if detector.slope else float(np.log(labels.mean() / (1 - labels.mean())))
    )


def _digest(narratives: Narratives, examples: Examples) -> str:
    digest = sha256()
    for values in (examples.inputs, examples.labels, examples.targets):
        digest.update(np.ascontiguousarray(values).tobytes())
    for sentence in narratives.sentences:
        digest.update(sentence.encode() + b"\n")
    return digest.hexdigest()
