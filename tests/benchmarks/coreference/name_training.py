"""Training of the weights of `name_use` on real texts, and on copies of them whose last names have changed places."""

import gzip
import json
import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from macroscope.critics.coreference.name_use import FEATURES, Array, describe_names
from macroscope.documents import Document, Section
from macroscope.files import write_json
from macroscope.progress import progress
from macroscope.systems.perturbation.declaration import Touch
from macroscope.systems.perturbation.mentions import swap_entities

DOSES = (0.25, 0.5)
"""Shares of the sentences, from the end, whose names change places in the copies."""
STRENGTH = 0.1
"""Inverse strength of the L2 penalty."""
SENTENCES = 35
"""Sentences per passage of a novel."""
WORDS = (120, 600)
"""Smallest and largest length of a passage of Wikipedia."""
_BLANKS = re.compile(r" ([.,!?;:%)\]]|['’]s\b)")


def train_names(data: Path, output: Path) -> None:
    """Train the weights of the use of names on public texts by people; write them as JSON.

    The data's folders `litbank_coref`, `wikitext2` and `fast_detect_gpt` have published sets: excerpts of novels,
    passages of Wikipedia and news. None of them is among the texts of docs/sensitivity.md.
    """
    texts = [*read_novels(data / "litbank_coref" / "litbank_coref.tar.xz"), *read_wikipedia(data / "wikitext2")]
    texts += read_originals(data / "fast_detect_gpt" / "exp_main__xsum_gpt2-xl.raw_data.json.gz")
    about = f"{len(texts)} texts of LitBank, WikiText-2 and XSum"
    write_json(output, {"trained_on": about, "weights": train(texts, seed=1)})


def train(texts: Sequence[str], seed: int) -> dict[str, float]:
    """Fit the weights with which a text has larger log odds than its copies; return them by feature.

    Raises
    ------
    ValueError
        If no text has names that can change places.
    """
    rng = np.random.default_rng(seed)
    differences = [row for text in progress(texts, "describe names", unit="texts") for row in compare_copies(text, rng)]
    if not differences:
        raise ValueError("no text has two names or more that can change places; give texts with names")
    rows = np.array(differences)
    scale = np.maximum(rows.std(axis=0), 1e-9)
    signs = np.where(np.arange(len(rows)) % 2, 1.0, -1.0)  # logistic regression needs examples of both classes
    model = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=1000)
    weights = model.fit(rows / scale * signs[:, None], signs).coef_[0] / scale
    return dict(zip(FEATURES, np.round(weights, 4).tolist(), strict=True))


def compare_copies(text: str, rng: np.random.Generator) -> Iterator[Array]:
    """Yield the features of a text less those of each copy whose names differ."""
    document = Document(id="", split="train", title=None, sections=(Section(None, text),))
    for dose in DOSES:
        copy = swap_entities(document, Touch("en", rng, dose, "end")).text
        described, damaged = describe_names(text), describe_names(copy)
        if copy != text and described is not None and damaged is not None:
            yield described - damaged


def read_novels(path: Path) -> Iterator[str]:
    """Yield passages of the novels of LitBank, from its CoNLL files."""
    with tarfile.open(path) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".conll") else None
            if file is None:
                continue
            blocks = file.read().decode().split("\n\n")
            rows = [[line.split("\t") for line in block.splitlines()] for block in blocks]
            sentences = [" ".join(row[3] for row in block if len(row) > 3) for block in rows]
            for start in range(0, len(sentences) - SENTENCES + 1, SENTENCES):
                yield _BLANKS.sub(r"\1", " ".join(sentences[start : start + SENTENCES]))


def read_wikipedia(folder: Path) -> Iterator[str]:
    """Yield sections of the articles of WikiText-2's validation and test sets."""
    for name in ("valid", "test"):
        sections = re.split(r"\n =.*= \n", (folder / f"{name}.txt").read_text(encoding="utf-8"))
        texts = [_BLANKS.sub(r"\1", section.replace("<unk>", "thing")).strip() for section in sections]
        yield from (text for text in texts if WORDS[0] < len(text.split()) < WORDS[1])


def read_originals(path: Path) -> list[str]:
    """Read the texts by people of a file of fast-detect-gpt."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return list(dict.fromkeys(json.load(file)["original"]))
