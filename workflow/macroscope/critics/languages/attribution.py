"""The words of a document that are of another language than most of it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.critics.attributions import Attribution, Place, totals, write_attributions
from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.critics.words import placed_words
from macroscope.documents import Document, read_documents
from macroscope.files import read_json

MARKED = 0.5
"""A word is marked where it is likelier than this that it is not of the document's main language."""


def attribute(texts: Path, latents: Path, scores: Path, inference: Path, *, output: Path) -> None:
    """Blame documents for T(x), and the words that are not of their main language; see `critics.attributions`."""
    model = LatentDirichletAllocation.load(inference / "model.npz")
    index = {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}
    proportions, nats = read_proportions(latents).mean, totals(scores)
    rows = (
        Attribution(document.id, nats[document.id], list(marks(document, own, index, model)))
        for document, own in zip(read_documents(texts), proportions, strict=True)
    )
    write_attributions(rows, output)


def marks(
    document: Document, proportions: Array, index: dict[str, int], model: LatentDirichletAllocation
) -> Iterator[tuple[Place, float, str]]:
    """Words by the probability that they are not of the language that most of the text is of.

    Under the document's expected proportions z, word w is of language k with probability z_k phi_kw / sum_j z_j phi_jw.
    """
    if np.isnan(proportions).any():
        return
    main = int(np.argmax(proportions))
    for number, section in enumerate(document.sections):
        for start, end, word in placed_words(section.text):
            if word in index:
                joint = proportions * model.topics[:, index[word]]
                other = float(1 - joint[main] / joint.sum())
                if other > MARKED:
                    yield (number, start, end), other, f"{other:.0%} that it is of another language than most words"
