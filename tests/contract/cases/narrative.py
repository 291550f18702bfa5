"""Narrative: whether sentences follow from each other; who a story is about, and with what, is nothing to it."""

import re
from dataclasses import replace

from macroscope.corpora.simulated.scripts import script_process, simulate_texts
from macroscope.documents import Section
from tests.contract.case import Case, Texts

_WORD = re.compile(r"\w+")


def _drawn(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(script_process(), order, n, seed))


def _renamed(texts: Texts) -> Texts:
    """The same stories about persons of other names."""
    change = {name: some[n - 1] for some in script_process().names.values() for n, name in enumerate(some)}
    return [
        replace(
            document,
            sections=(Section(None, _WORD.sub(lambda word: change.get(word[0], word[0]), document.text)),),
            sentences=None,
        )
        for document in texts
    ]


CASE = Case(
    damage=lambda texts: _drawn(len(texts), 5, "independent"),
    harmless=_renamed,
    options={
        "encoder": "minilm",  # one with random weights knows of no two sentences that one is about the other
        "max_tokens": 32,
        "draws": 4,
        "similarity": None,
        "detector": {"layers": 2, "heads": 4, "width": 128, "hidden": 256, "epochs": 8, "learning_rate": 1e-3},
    },
    draw=_drawn,
    train=700,
    kind_of_process="scripts",
)
