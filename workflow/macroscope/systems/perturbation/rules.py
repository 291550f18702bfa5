"""Application of damages to collections."""

from collections.abc import Sequence
from zlib import crc32

import numpy as np

from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.systems.perturbation.declaration import Touch
from macroscope.systems.perturbation.steps import AnyStep


def apply_step(documents: Sequence[Document], step: AnyStep, language: str, key: Sequence[int]) -> list[Document]:
    """Apply one step to a collection.

    Parameters
    ----------
    language
        ISO 639-1 code of the texts.
    key
        Numbers that seed the step. Each document has its own generator, seeded by these and its id, so that the result
        for a document does not depend on others, except for damages that join documents.

    Returns
    -------
    list of Document
        The damaged documents with the same ids, in the same order unless the damage is one of their order; some may
        have no sections.
    """

    def touch(*further: int) -> Touch:
        return Touch(language, np.random.default_rng([*key, *further]), step.dose, step.position)

    apply, options = step.damage.apply, step.own_options
    if step.damage.joins:
        return list(apply(documents, touch(), **options))
    return [apply(document, touch(crc32(document.id.encode())), **options) for document in documents]


def require_language(step: AnyStep, language: str, place: str) -> None:
    """Raise `MacroscopeError` if a damage does not support the language of the texts.

    Parameters
    ----------
    place
        Place of the step in the config, for the message.
    """
    lacking = step.damage.lacks(language, **step.own_options)
    if lacking is not None:
        raise MacroscopeError(f"{place}: {lacking}")
