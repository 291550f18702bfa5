"""Training of the weights of `name_use` on real texts, and on copies of them whose last names have changed places."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from macroscope.critics.coreference.name_use import FEATURES, Array, describe_names
from macroscope.documents import Document, Section
from macroscope.progress import progress
from macroscope.systems.perturbation.declaration import Touch
from macroscope.systems.perturbation.mentions import swap_entities

DOSES = (0.25, 0.5)
"""Shares of the sentences, from the end, whose names change places in the copies."""
STRENGTH = 0.1
"""Inverse strength of the L2 penalty."""


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
