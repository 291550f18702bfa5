"""Stage `fit`: one estimate's trainings, so that an LSTM's many trainings are as many jobs (pimentel2022 App. D).

A comparison estimates both distributions from many selections of the texts. Each job trains those of one selection. A
training has the name of all that it depends on, so a comparison finds it, whichever job made it. Jobs of the control
train on the control's texts: systems that are paired with it one to one share these trainings. Jobs of a system train
on the system's texts. A comparison does what no job has done, such as trainings on a part of the control's texts.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from macroscope.critics.features import subsample
from macroscope.critics.strings.cross_fitting import score_cross_fitted, score_in_sample
from macroscope.critics.strings.estimators import Distribution
from macroscope.critics.strings.latents import Texts, read_texts
from macroscope.critics.strings.options import StringsOptions
from macroscope.files import atomic
from macroscope.options import Resampling
from macroscope.statistics.document_features import Array

Pair = tuple[Texts, Texts]
"""Texts of reference and candidate."""


@dataclass
class _Recorder:
    """An estimator that estimates nothing, and records what an estimator would be given."""

    name: str = "a list of the estimates alone"
    fits: list[tuple[Sequence[str], Sequence[str], int]] = field(default_factory=list)

    def fit(self, reference: Sequence[str], candidate: Sequence[str], seed: int) -> tuple[Distribution, Distribution]:
        self.fits.append((reference, candidate, seed))
        return self, self

    def log_probabilities(self, texts: Sequence[str]) -> Array:
        return np.zeros(len(texts))


def list_fits(pair: Pair, options: StringsOptions, seed: int) -> list[tuple[Sequence[str], Sequence[str], int]]:
    """Return the (texts of the reference, texts of the candidate, seed) of each estimate of a comparison."""
    recorder = _Recorder()
    if options.is_cross_fitted:
        score_cross_fitted(*pair, recorder, options.folds, seed)
    else:
        score_in_sample(*pair, recorder, seed)
    return recorder.fits


def split_half(texts: Texts) -> Pair:
    """Return the control's halves, in the roles of reference and candidate."""
    return texts.every_other(0), texts.every_other(1)


def subsample_latents(stack: ExitStack, path: Path, options: StringsOptions, seed: int) -> Path:
    """Return latents with at most `most_texts` texts."""
    return stack.enter_context(subsample(path, None, seed, options.most_texts))[0]


def fit(
    control_latents: Path,
    latents: Path,
    *,
    options: StringsOptions,
    resampling: Resampling,
    system: str,
    fit: int,
    checkpoints: Path,
    output: Path,
) -> None:
    """Train the LSTMs of estimate number `fit`: on the system's texts; for the control, on its texts and its halves'.

    The folder `output` has a folder for each training, by its name; it is empty if the comparison has fewer estimates,
    as one of texts in few groups. An interrupted call goes on with `checkpoints`.
    """
    from macroscope.critics.strings.lstm import LstmEstimator  # n-grams, whose comparison imports this, need no torch

    trainings = checkpoints / system / str(fit)
    trainings.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        paths = dict.fromkeys((control_latents, latents))
        collections = [read_texts(subsample_latents(stack, path, options, resampling.seed)) for path in paths]
    for tokenized, texts, seed in _trainings(collections, options, resampling.seed, fit):
        LstmEstimator(options.lstm, tokenized, trainings).train(texts, seed)
    with atomic(output) as folder:
        shutil.copytree(trainings, folder)
    shutil.rmtree(trainings)


def _trainings(
    collections: Sequence[Texts], options: StringsOptions, seed: int, number: int
) -> Iterator[tuple[Sequence[str], Sequence[str], int]]:
    """Yield (texts that the tokenizer is trained on, texts, seed) of each training of an estimate."""
    reference, candidate = collections[0], collections[-1]
    for _, texts, own_seed in list_fits((reference, candidate), options, seed)[number : number + 1]:
        yield reference.texts, texts, own_seed
    if len(collections) == 1:
        halves = split_half(reference)
        for *sides, own_seed in list_fits(halves, options, seed)[number : number + 1]:
            yield from ((halves[0].texts, texts, own_seed) for texts in sides)
