"""Measure whether the topics critic sees two texts in one, and topics drawn independently (docs/critics/topics.md).

    python examples/pairs/mixtures.py texts.jsonl --most 600

Each line of texts.jsonl has a `text`. 55 % of the texts are for training and 10 % for validation. Of the others, at
most `--most` are compared: with the first half of one text and the second half of another; with their sentences in
turn; with words drawn anew from the model's topics; and with such words after the strengths of each topic have been
permuted.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from macroscope.critics.topics.latents import read_document_features, read_strengths
from macroscope.critics.topics.model import CorrelatedTopicModel
from macroscope.critics.topics.options import TopicsOptions
from macroscope.critics.topics.projection import project
from macroscope.critics.topics.scoring import score
from macroscope.critics.topics.training import train
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.files import read_json
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.words import lower_case_words
from macroscope.statistics.document_features import DocumentFeatures
from macroscope.statistics.joint_test import standardise
from macroscope.statistics.power import PowerSettings, measure_power

OPTIONS = TopicsOptions(topics=20)
FEWEST_WORDS, FEWEST_SENTENCES, ALIKE = 20, 4, 12
"""Fewest words of the vocabulary and sentences of a compared text; texts of similar length among which pairs are."""
Text = list[str]
"""Sentences."""


def main(path: Path, most: int, sizes: tuple[int, ...]) -> None:
    """Print an AUC per number and kind of damage, and the power of the critic's features."""
    texts = [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]
    random.Random(1).shuffle(texts)
    first, second = int(0.55 * len(texts)), int(0.55 * len(texts)) + int(0.1 * len(texts))
    splits = ["train"] * first + ["valid"] * (second - first)
    folder = Path(tempfile.mkdtemp())
    _write(folder / "documents.parquet", texts[:second], splits)
    train(
        folder / "documents.parquet",
        output=folder / "inference",
        options=OPTIONS,
        seed=1,
        checkpoints=folder / "checkpoints",
    )
    words = read_json(folder / "inference" / "vocabulary.json")["words"]
    vocabulary, rng = set(words), np.random.default_rng(11)
    held_out = [split_sentences(text) for text in texts[second:]]
    real = [text for text in held_out if len(text) >= FEWEST_SENTENCES and _count(text, vocabulary) >= FEWEST_WORDS][
        -most:
    ]
    others = [real[place] for place in _pair(real, rng)]
    collections = {
        "real": real,
        "halves": [a[: (len(a) + 1) // 2] + b[len(b) // 2 :] for a, b in zip(real, others, strict=True)],
        "in turn": [
            [pair[n % 2] for n, pair in enumerate(zip(a, b, strict=False))] for a, b in zip(real, others, strict=True)
        ],
    }
    numbers = {name: _judge(folder, name, collection) for name, collection in collections.items()}
    model = CorrelatedTopicModel.load(folder / "inference" / "model.npz")
    strengths = model.strengths(torch.from_numpy(read_strengths(folder / "real.latents").mean)).numpy()
    strengths = strengths - strengths.mean(axis=1, keepdims=True)
    independent = rng.permuted(strengths, axis=0)
    for name, drawn in (("redrawn", strengths), ("independent", independent)):
        numbers[name] = _judge(folder, name, _draw(real, drawn, model, words, vocabulary, rng))
    place = model.dimensions
    print(f"{path.name}: {len(real)} texts, {np.median([_count(text, vocabulary) for text in real]):.0f} words")
    for label, column in (("patchiness", place), ("T(x)", place + 1)):
        for name in list(numbers)[1:]:
            print(f"{label}, {name}: AUC", _auc(numbers["real"].numbers[:, column], numbers[name].numbers[:, column]))
    settings = PowerSettings(sizes)
    for reference, name in (*(("real", name) for name in numbers), ("redrawn", "independent")):
        for label in ("all features", "without patchiness"):
            sides = [_without(numbers[each], place if label != "all features" else None) for each in (reference, name)]
            for power in measure_power(*standardise(*sides), "unpaired", settings):
                print(f"{name} against {reference}, n = {power.n}, {label}: {power.value:.2f}")


def _write(path: Path, texts: Iterable[str], splits: list[str]) -> None:
    documents = (
        Document(str(n), split, None, (Section(None, text),))
        for n, (text, split) in enumerate(zip(texts, splits, strict=True))
    )
    write_documents(path, documents, Provenance("mixtures"))


def _count(text: Text, vocabulary: set[str]) -> int:
    return sum(word in vocabulary for word in lower_case_words("".join(text)))


def _pair(texts: list[Text], rng: np.random.Generator) -> np.ndarray:
    """Return another text of about as many sentences for each text."""
    order, partners = np.argsort([len(text) for text in texts], kind="stable"), np.empty(len(texts), int)
    for group in np.array_split(order, max(1, len(order) // ALIKE)):
        shuffled = rng.permutation(group)
        partners[shuffled] = np.roll(shuffled, 1)
    return partners


def _draw(
    texts: list[Text],
    strengths: np.ndarray,
    model: CorrelatedTopicModel,
    words: list[str],
    vocabulary: set[str],
    rng: np.random.Generator,
) -> list[Text]:
    """Draw as many words of the vocabulary for each sentence as it has, given the strengths of each text's topics."""
    shares = torch.softmax(torch.from_numpy(strengths), dim=1).numpy() @ model.topics.numpy()
    drawn = []
    for text, of_text in zip(texts, shares, strict=True):
        lengths = [sum(word in vocabulary for word in lower_case_words(sentence)) for sentence in text]
        places = rng.choice(len(words), sum(lengths), p=of_text / of_text.sum())
        sentences = np.split(np.array(words)[places], np.cumsum(lengths)[:-1])
        drawn.append([f"{' '.join(sentence)}\n" for sentence in sentences])
    return drawn


def _judge(folder: Path, name: str, texts: list[Text]) -> DocumentFeatures:
    path, latents, scores = (folder / f"{name}.{kind}" for kind in ("parquet", "latents", "scores"))
    joined = ["".join(f"{sentence.rstrip()}\n" for sentence in text) for text in texts]
    _write(path, joined, ["test"] * len(texts))
    project(Collection(path), folder / "inference", options=OPTIONS, output=latents)
    score(latents, folder / "inference", options=OPTIONS, output=scores)
    return read_document_features(latents, scores)


def _without(features: DocumentFeatures, column: int | None) -> DocumentFeatures:
    numbers = features.numbers if column is None else np.delete(features.numbers, column, axis=1)
    return DocumentFeatures(pd.DataFrame({"id": range(len(features))}), numbers)


def _auc(real: np.ndarray, damaged: np.ndarray) -> str:
    """Return the share of pairs in which the damaged text has the larger number, with an interval over texts."""
    rng = np.random.default_rng(1)

    def share(first: np.ndarray, second: np.ndarray) -> float:
        first, second = (np.sort(values[np.isfinite(values)]) for values in (first, second))
        below = np.searchsorted(first, second, "left") + np.searchsorted(first, second, "right")
        return float(below.mean() / 2 / len(first))

    draws = [share(real[rows], damaged[rows]) for rows in rng.integers(0, len(real), (400, len(real)))]
    low, high = np.percentile(draws, [2.5, 97.5])
    return f"{share(real, damaged):.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--most", type=int, default=600, help="largest number of texts to compare")
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 100], help="numbers of texts per side")
    arguments = parser.parse_args()
    main(arguments.texts, arguments.most, tuple(arguments.sizes))
