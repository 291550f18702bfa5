"""Private kept references: rules for what fewer than K of the real texts have."""

import secrets
from collections import Counter
from collections.abc import Sequence

import numpy as np

from macroscope.documents import Document
from macroscope.engine.redaction import Rules
from macroscope.natural_language.tokens import make_tokenizer
from macroscope.natural_language.words import lower_case_words

NOT_PRIVATE = "it keeps an embedding or the words of each text, which are of this text alone (--private)"


def make_private_rules(real: Sequence[Document], language: str, fewest: int) -> Rules:
    """Return rules with a new salt, by which words and labels of fewer than `fewest` texts become pseudonyms."""
    batch = make_tokenizer(language)([document.text for document in real])
    width = max(1, len(batch.types))
    of_texts = np.unique(batch.texts * width + batch.ids) % width
    tokens = Counter(dict(zip(batch.types, np.bincount(of_texts, minlength=width).tolist(), strict=False)))
    words = Counter(word for document in real for word in {*lower_case_words(document.text), f"label:{document.label}"})
    shared = {word for counts in (tokens, words) for word, number in counts.items() if number >= fewest}
    return Rules(shared=frozenset(shared), salt=secrets.token_bytes(16))
