"""Documents with rare section titles, under a critic `coherence` whose section types are learned from other documents.

Real texts are prepared: titles that few training documents have become `RARE_TITLE`. Candidates have the titles that
they were written with. The stages are those of the critic, except that the section classifier is simulated: it is surer
of frequent types than of rare ones, and of the sections of some prompts than of others. Between the collections nothing
differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope.corpora.filters import TitleCensus, replace_rare_titles
from macroscope.corpora.options import RareTitles
from macroscope.corpora.titles import RARE_TITLE
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import fit_priors
from macroscope.critics.coherence.sections import get_gold_types, rank_section_types
from macroscope.critics.coherence.validation import calibrate, estimate_confusion, write_confusion
from macroscope.critics.features import read_score_features
from macroscope.document_keys import number_sample
from macroscope.documents import Collection, Count, Document, Provenance, Section, write_documents
from macroscope.files import write_json
from macroscope.options import Resampling
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, two_sample_test
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.latent import compare_scores

from .setting import MEAN, Run, Setting, list_estimates

FREQUENT = ("abstract", "career", "family", "legacy", "death", "award")
RARE = tuple(f"{first}{second}wick" for first in "bcdfghjklmnprstvwz" for second in ("a", "e", "i", "o", "u"))
"""Titles of one section in five, the first of which are not rare in larger collections."""
RARE_SHARES = 1 / np.arange(1, len(RARE) + 1) ** 0.7
OPTIONS = CoherenceOptions()
FITS = 20
"""Number of sets of training documents, one of which each run learns from."""
POPULATION = 5000
"""Documents whose values are the truth."""
FEW = Resampling(resamples=200, permutations=199)
RATIO = "latent_ppl_ratio"
TESTED = ("latent_ppl", "latent_ppl_gold", "latent_ppl_corrected", "title_agreement_share", "transition_error_share")


def sample(
    rng: np.random.Generator, prompts: int, texts: int = 1, name: str = "x", split: str = "test"
) -> list[Document]:
    """Sample texts of prompts, which differ in their share of rare titles and in how clear their sections are."""
    documents = []
    shares = RARE_SHARES / RARE_SHARES.sum()
    for prompt in range(prompts):
        rare, clearness = rng.beta(1, 4), rng.gamma(16, 0.25)
        for number in range(texts):
            titles = [title for title in FREQUENT if rng.random() < 0.7] or ["abstract"]
            if rng.random() < 0.2:
                titles = [titles[place] for place in rng.permutation(len(titles))]
            titles = [str(rng.choice(RARE, p=shares)) if rng.random() < rare else title for title in titles]
            sections = tuple(Section(title, f"{title} {clearness:.3f}") for title in titles)
            identifier = number_sample(f"{name} {prompt}", number + 1) if texts > 1 else f"{name} {prompt}"
            documents.append(Document(identifier, split, None, sections))
    return documents


class SimulatedClassifier:
    """Section classifier that reads the title and the clearness in a section's text, with noise."""

    def __init__(self, types: Sequence[str], rng: np.random.Generator) -> None:
        self.types, self._rng = list(types), rng

    def logits(self, texts: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        logits = self._rng.normal(size=(len(texts), len(self.types)))
        for row, text in zip(logits, texts, strict=True):
            title, clearness = text.split()
            is_type = title in self.types
            row[self.types.index(title if is_type else RARE_TITLE)] += float(clearness) * (1 if is_type else 0.6)
        return logits, np.zeros(len(texts), dtype=bool)


@dataclass(frozen=True)
class Fit:
    """Folder of a critic's stages `train` and `fit_prior`, the titles that are not rare, and the section types."""

    folder: TemporaryDirectory[str]
    frequent: frozenset[str]
    types: list[str]

    def prepare(self, documents: Sequence[Document]) -> list[Document]:
        """Replace the rare titles, as real texts are prepared."""
        measured = ((document, []) for document in documents)
        return [document for document, _ in replace_rare_titles(measured, self.frequent, RARE_TITLE, Count("", 0, 0))]

    def score(self, documents: Sequence[Document], folder: Path, name: str, rng: np.random.Generator) -> pd.DataFrame:
        """Run the stages `project` and `score`; return the scores."""
        from macroscope.critics.coherence import projection, scoring  # PyTorch takes seconds

        texts, latents, scores = (folder / f"{name}.{kind}.parquet" for kind in ("texts", "latents", "scores"))
        write_documents(texts, documents, Provenance(name))
        learned = Path(self.folder.name)
        with patch.object(projection, "SectionClassifier", lambda *_: SimulatedClassifier(self.types, rng)):
            projection.project(Collection(texts), learned, signature="s", options=OPTIONS, output=latents)
        scoring.score(latents, learned / "prior", options=OPTIONS, output=scores)
        return pd.read_parquet(scores)


@cache
def learn(training: int, number: int) -> Fit:
    """Learn section types and their order from training documents, and write what the stages need."""
    rng = np.random.default_rng([training, number])
    raw = [*sample(rng, training, split="train"), *sample(rng, max(30, training // 5), split="valid")]
    census = TitleCensus.of((document, []) for document in raw)
    fit = Fit(TemporaryDirectory(), census.frequent(RareTitles(min_count=2, min_share=0.01)), [])
    documents = fit.prepare(raw)
    train, valid = (
        [get_gold_types(document) or [] for document in documents if document.split == split]
        for split in ("train", "valid")
    )
    fit.types.extend(rank_section_types(train))
    index = {name: number for number, name in enumerate(fit.types)}
    gold = np.array([index.get(name, -1) for titles in valid for name in titles])
    texts = [section.text for document in documents if document.split == "valid" for section in document.sections]
    confusion = estimate_confusion(calibrate(SimulatedClassifier(fit.types, rng).logits(texts)[0], 1.0), gold)
    sequences = ([[index.get(name, -1) for name in titles] for titles in part] for part in (train, valid))
    priors, _ = fit_priors(*sequences, fit.types, confusion, OPTIONS)
    folder = Path(fit.folder.name)
    write_json(folder / "validation.json", {"temperature": 1.0})
    write_json(folder / "section_types.json", {"language": "en"})
    (folder / "prior").mkdir()
    priors.save(folder / "prior")
    write_confusion(folder / "prior" / "confusion.json", confusion)
    return fit


@cache
def find_truth(training: int, number: int) -> dict[str, float]:
    """Compute the values of the tested statistics in a large collection."""
    fit, rng = learn(training, number), np.random.default_rng([training, number, 1])
    with TemporaryDirectory() as folder:
        scores = fit.score(sample(rng, POPULATION), Path(folder), "population", rng)
    estimates = list_estimates(compare_scores(scores, scores, Resampling(1, 1)))
    return {each.statistic: each.value for each in estimates if each.statistic in TESTED} | {RATIO: 1.0}


@dataclass(frozen=True)
class Scored:
    """Scores and features of a run's real texts and of a system's, and the truth of the tested statistics."""

    scores: list[pd.DataFrame]
    features: list[DocumentFeatures]
    truth: dict[str, float]


def score_both(rng: np.random.Generator, training: int, real: int, prompts: int, texts: int) -> Scored:
    """Sample and score the collections of a run; each is read as real texts and a user's are."""
    number = int(rng.integers(FITS))
    fit = learn(training, number)
    collections = fit.prepare(sample(rng, real, name="real")), sample(rng, prompts, texts, "prompt")
    with TemporaryDirectory() as folder:
        scores = [fit.score(each, Path(folder), str(name), rng) for name, each in enumerate(collections)]
        paths = [Path(folder) / f"{name}.scores.parquet" for name in range(len(scores))]
        return Scored(scores, [read_score_features(path, path) for path in paths], find_truth(training, number))


def compare(rng: np.random.Generator, **sizes: int) -> Run:
    """Compare the scores of real texts and of a system's."""
    run = score_both(rng, **sizes)
    resampling = Resampling(FEW.resamples, FEW.permutations, FEW.confidence, int(rng.integers(1 << 30)))
    estimates = list_estimates(compare_scores(*run.scores, resampling))
    return [each for each in estimates if each.statistic in (*TESTED, RATIO)], run.truth


def detect(rng: np.random.Generator, **sizes: int) -> Run:
    """Compute the detectability of a system's texts."""
    estimates = two_sample_test(*score_both(rng, **sizes).features, confidence=0.95, seed=int(rng.integers(1 << 30)))
    return [each for each in estimates if each.statistic == C2ST_AUC], {C2ST_AUC: MEAN}


SIZES = {
    "60 against 150, learned from 300": {"training": 300, "real": 60, "prompts": 150, "texts": 1},
    "150 against 40, learned from 60": {"training": 60, "real": 150, "prompts": 40, "texts": 1},
    "100 against 5 texts of each of 30 prompts, learned from 300": {
        "training": 300,
        "real": 100,
        "prompts": 30,
        "texts": 5,
    },
}


def _settings(run: Callable[..., Run], null: tuple[str, ...], runs: int) -> tuple[Setting, ...]:
    return tuple(
        Setting(f"rare titles: {name}", partial(run, **sizes), null, runs=runs) for name, sizes in SIZES.items()
    )


COMPARED = _settings(compare, TESTED, 1000)
DETECTED = _settings(detect, (C2ST_AUC,), 300)
