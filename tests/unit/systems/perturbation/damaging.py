"""Documents to damage, and the application of a damage."""

import numpy as np

from macroscope.documents import Document, Section
from macroscope.systems.perturbation import STEPS
from macroscope.systems.perturbation.declaration import Touch


def document(*texts):
    return Document("d", "test", "D", tuple(Section(f"title {n}", text) for n, text in enumerate(texts)))


def texts_of(document):
    return [section.text for section in document.sections]


def rng(seed=0):
    return np.random.default_rng(seed)


def damage(rule, documents, dose=None, seed=0, language="en", position="anywhere", **options):
    """Apply a damage to a document, or to a list of documents if it joins them."""
    step = STEPS[rule](rule=rule, **({} if dose is None else {"dose": dose}), position=position, **options)
    touch = Touch(language, np.random.default_rng(seed), step.dose, step.position)
    return step.damage.apply(documents, touch, **step.own_options)
