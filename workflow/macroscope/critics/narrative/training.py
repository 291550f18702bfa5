"""Training of detectors, on the shared loop, and what a run needs of them."""

from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from safetensors.torch import load_model
from sklearn.linear_model import LogisticRegression

from macroscope.critics.narrative.corruption import corrupted as corrupted_segments
from macroscope.critics.narrative.corruption import corrupted_for_pretraining, joined
from macroscope.critics.narrative.detector import Detector, new_detector
from macroscope.critics.narrative.embedding import embedded, require_plain, sentence_encoder
from macroscope.critics.narrative.evaluation import evaluate
from macroscope.critics.narrative.examples import Examples, read_examples
from macroscope.critics.narrative.known_damage import write_operating_point
from macroscope.critics.narrative.latents import TRAINING, WEIGHTS
from macroscope.critics.narrative.narratives import Narratives, Vectors, corpus_narratives
from macroscope.critics.narrative.options import JUDGE, NarrativeOptions, Task
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.critics.narrative.tensors import Rows
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.statistics.latent import Resampling
from macroscope.tables import write_csv
from macroscope.training import Checkpoints, Schedule, discard, is_main_process, launch, use_threads
from macroscope.training import Examples as TrainingExamples
from macroscope.training import train as train_model

FEWEST_SEGMENTS = 20
"""Damaged training segments below which there is nothing to learn from."""
EVALUATIONS = 10
STANDARDISED_BY = 100_000
"""Sentences, at most, that tell the spread of embeddings."""
DEVICE_BATCH = {"sentence": 1024, "token": 16}


def train_judge(
    documents: Path,
    task: Task,
    options: NarrativeOptions,
    language: str,
    seed: int,
    checkpoints: Path,
    resampling: Resampling,
    output: Path,
) -> None:
    """Embed, damage and train the judge for one task in one go; see `train_detector`."""
    narratives = embedded_corpus(documents, language, options)
    examples, about = corrupted_segments(narratives, options, task, seed)
    made = _Training(narratives, options, JUDGE, task, seed, checkpoints)
    made.write(output, examples, about, None, resampling)
    discard(checkpoints)


def train_detector(
    documents: Path,
    corrupted: Path,
    embeddings: Path | None = None,
    pretrained: Path | None = None,
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

    Writes into the folder `output` the detector (see `detector.Detector`), training_log.csv (step, epoch, train_loss,
    valid_loss), training.json (counts) and how it does on the test split (see `evaluation.evaluate`).

    Parameters
    ----------
    corrupted
        Damaged segments of all splits, from `corruption.corrupt`.
    embeddings
        Of the corpus's sentences, for a detector that reads them.
    pretrained
        Folder of the detector to begin with.
    processes
        GPUs to train on, one process each.
    """
    launch(processes)
    narratives = corpus_narratives(documents, language, embeddings)
    examples, about = read_examples(corrupted)
    made = _Training(narratives, options, name, task, seed, checkpoints)
    made.write(output, examples, about, pretrained, resampling)
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
        Of that corpus.
    """
    launch(processes)
    pretraining = options.pretraining
    if pretraining is None:
        raise MacroscopeError("pretraining: nothing says on which corpus; give 'pretraining' to the narrative critic")
    narratives = corpus_narratives(documents, language, embeddings)
    examples, about = corrupted_for_pretraining(narratives, options, pretraining, task, seed, threads)
    # A search by several threads leaves torch with a pool that makes training many times slower; this makes it anew.
    use_threads(threads)
    schedule = {"epochs": pretraining.epochs, "learning_rate": pretraining.learning_rate}
    made = _Training(narratives, options, name, task, seed, checkpoints, schedule)
    made.write(output, examples, about, None, None)
    discard(checkpoints)


def embedded_corpus(documents: Path, language: str, options: NarrativeOptions) -> Narratives:
    """Narratives of a corpus, with embeddings where the judge reads them."""
    narratives = corpus_narratives(documents, language)
    if options.detector.level == "token":
        return narratives
    require_plain(options)
    return narratives.with_vectors(*embedded(narratives.sentences, sentence_encoder(options)))


class _Training:
    """The training of one detector.

    Parameters
    ----------
    narratives
        Of all splits; with embeddings for a sentence-level detector.
    name
        Of the detector in the options.
    schedule
        Of a pre-training: what differs from the detector's own epochs and learning rate.
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

    def write(
        self,
        output: Path,
        examples: dict[str, Examples],
        about: dict[str, Any],
        pretrained: Path | None,
        resampling: Resampling | None,
    ) -> None:
        """Train, calibrate on the validation split, and test; of several processes, the main one writes.

        Parameters
        ----------
        resampling
            None: the detector is not tested.
        """
        _require(examples, about, self.task)
        detector = self._fresh(pretrained)
        history = self._fit(detector, examples)
        if not is_main_process():
            return
        _calibrate(detector, self.narratives, examples["valid"])
        with atomic(output) as folder:
            folder.mkdir()
            detector.save(folder)
            write_csv(history, folder / "training_log.csv")
            parameters = sum(p.numel() for p in detector.network.parameters())
            write_json(folder / TRAINING, {"parameters": parameters, **about})
            if resampling is not None:
                evaluate(folder, detector, self.narratives, examples, resampling)
                rate = self.options.false_positive_rate
                write_operating_point(folder, detector, self.narratives, examples[HELD_OUT], rate)

    def _fresh(self, pretrained: Path | None) -> Detector:
        width = 0 if self.narratives.vectors is None else self.narratives.vectors.shape[1]
        detector = new_detector(self.options, self.detector, self.task, width, self.seed)
        if self.detector.pretrained and not self.pretrains:
            if pretrained is None:
                raise MacroscopeError("a pretrained detector begins with what the stage 'pretrain' made; give it")
            load_model(detector.network, str(pretrained / WEIGHTS))
        elif self.narratives.vectors is not None and self.detector.level == "sentence":
            detector.network.standardise_by(self._training_vectors())
        return detector

    def _training_vectors(self) -> Vectors:
        """Embeddings of some sentences of the train split, at random where there are many."""
        vectors = self.narratives.vectors
        assert vectors is not None
        of_split = np.repeat([split == "train" for split in self.narratives.splits], self.narratives.lengths)
        chosen = np.random.default_rng(self.seed).permutation(np.flatnonzero(of_split))[:STANDARDISED_BY]
        return vectors[np.sort(chosen)]

    def _fit(self, detector: Detector, examples: dict[str, Examples]) -> pd.DataFrame:
        train, valid = examples["train"], examples["valid"]
        schedule = Schedule(
            epochs=self.detector.epochs,
            batch_size=self.detector.batch_size,
            device_batch_size=min(self.detector.batch_size, DEVICE_BATCH[self.detector.level]),
            learning_rate=self.detector.learning_rate,
            warmup_share=self.detector.warmup_share,
            weight_decay=self.detector.weight_decay,
            evaluations=EVALUATIONS,
        )
        identity = {
            "options": self.options.model_dump(mode="json"),
            "detector": self.detector.model_dump(mode="json"),
            "task": self.task,
            "seed": self.seed,
            "examples": _digest(self.narratives, train),
        }
        batches = detector.batches(self.narratives, joined(train, valid))
        given = TrainingExamples(Rows(0, len(train)), Rows(len(train), len(valid)), batches)
        return train_model(detector.network, given, schedule, Checkpoints(self.checkpoints, identity), self.seed)


def _require(examples: dict[str, Examples], about: dict[str, Any], task: Task) -> None:
    for split, fewest in (("train", FEWEST_SEGMENTS), ("valid", 2)):
        found = int(examples[split].damaged.sum()) if split in examples else 0
        if found < fewest:
            some = about.get(split, {})
            why = f"{some.get('narratives_too_short', 0)} documents are too short"
            if "without_match" in some:
                why += f", for {some['left_as_they_are']} sentences there is nothing unlike to take their place"
            raise MacroscopeError(
                f"the narrative critic has {found} damaged segments of split '{split}' to learn from ({task}"
                f" sentences), and needs {fewest} ({why}); give longer texts or more of them, or smaller 'sentences'"
                " and 'damaged'"
            )


def _calibrate(detector: Detector, narratives: Narratives, valid: Examples) -> None:
    """Fit slope and intercept so that, on validation segments, probabilities mean what they say (Platt 1999)."""
    known = valid.labels >= 0
    logits = detector.outputs(narratives, valid.inputs)[known]
    labels = valid.labels[known]
    if len(np.unique(labels)) < 2:
        return
    fitted = LogisticRegression(C=1.0).fit(logits[:, None], labels)
    # A detector that has learnt nothing may seem the better the more it is turned round: then it knows nothing.
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
