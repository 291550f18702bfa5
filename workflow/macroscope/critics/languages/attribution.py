"""Attribution of `languages`: the words of a document in another language than most of it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from macroscope.critics.attributions import Attribution, Span, read_latent_nlls, write_attributions
from macroscope.critics.languages.latents import read_proportions
from macroscope.critics.languages.model import Array, LatentDirichletAllocation
from macroscope.documents import Collection, Document
from macroscope.files import read_json
from macroscope.natural_language.words import locate_words

MIN_PROBABILITY = 0.5
"""Probability of another language than the document's main one, above which a word is marked."""


def attribute(texts: Collection, latents: Path, scores: Path, inference: Path, *, output: Path) -> None:
    """Score documents by T(x), and mark words outside of their main language; see `critics.attributions`."""
    model = LatentDirichletAllocation.load(inference / "model.npz")
    index = {word: number for number, word in enumerate(read_json(inference / "vocabulary.json")["words"])}
    proportions, nats = read_proportions(latents).mean, read_latent_nlls(scores)
    rows = (
        Attribution(document.id, nats[document.id], list(mark_words(document, shares, index, model)))
        for document, shares in zip(texts, proportions, strict=True)
    )
    write_attributions(rows, output)


def mark_words(
    document: Document, proportions: Array, index: dict[str, int], model: LatentDirichletAllocation
) -> Iterator[tuple[Span, float, str]]:
    """Yield words that are probably not in the document's main language, with this probability as the weight.

    Under the document's expected proportions z, word w is in language k with probability z_k phi_kw / sum_j z_j phi_jw.
    """
    if np.isnan(proportions).any():
        return
    main = int(np.argmax(proportions))
    for number, section in enumerate(document.sections):
        for start, end, word in locate_words(section.text):
            if word in index:
                joint = proportions * model.topics[:, index[word]]
                probability = float(1 - joint[main] / joint.sum())
                if probability > MIN_PROBABILITY:
                    note = f"probability {probability:.0%} of another language than most words"
                    yield (number, start, end), probability, note
