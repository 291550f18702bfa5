"""Case of `narrative`: sensitive to the order of events in a story, insensitive to the names of persons."""

import re
from dataclasses import replace

from macroscope.corpora.simulated.scripts import script_process, simulate_texts
from macroscope.documents import Section
from tests.contract.case import Case, Texts

_WORD = re.compile(r"\w+")


def _generate(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(script_process(), order, n, seed))


def _renamed(texts: Texts) -> Texts:
    """Rename the persons of the stories."""
    change = {name: names[n - 1] for names in script_process().names.values() for n, name in enumerate(names)}
    return [
        replace(
            document,
            sections=(Section(None, _WORD.sub(lambda word: change.get(word[0], word[0]), document.text)),),
            sentences=None,
        )
        for document in texts
    ]


CASE = Case(
    damage=lambda texts: _generate(len(texts), 5, "independent"),
    harmless=_renamed,
    options={
        "encoder": "minilm",  # with random weights, similarities of sentences carry no information
        "max_tokens": 32,
        "draws": 4,
        "similarity": None,
    },
    generate=_generate,
    train=700,
    kind_of_process="scripts",
)
