"""Short stories that follow a script: events in a known causal order, as WebText, for narratives (cai2020).

A story is about somebody, and tells some events of one script in their order, the first and the last among them. What
is told instead of what, and which events are left out, is chance; the order and the script are not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.simulated.texts import write_texts
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.files import RESOURCES, read_json, write_json

NAME = "simscripts"
ORDERS = ("process", "shuffled", "independent")
FEWEST = 5
"""Sentences of a story, at least; at most all events of its script."""
_PRONOUNS = {"male": {"S": "he", "P": "his", "O": "him"}, "female": {"S": "she", "P": "her", "O": "her"}}


@dataclass(frozen=True)
class ScriptProcess:
    """Scripts, and names for those whom the stories are about.

    Attributes
    ----------
    names
        Gender -> names.
    scripts
        Name of a script -> its things and its events, each a list of sentences of which one is told.
    """

    names: Mapping[str, Sequence[str]]
    scripts: Mapping[str, Mapping[str, Any]]

    @classmethod
    def load(cls, path: Path) -> "ScriptProcess":
        """Read what `to_json` describes from a JSON file."""
        raw = read_json(path)
        return cls(raw["names"], raw["scripts"])

    def to_json(self) -> dict[str, object]:
        """Describe the process, for `truth/process.json`."""
        return {"names": dict(self.names), "scripts": dict(self.scripts)}


def script_process() -> ScriptProcess:
    """Process of resources/simulated_scripts.yaml: twelve scripts of eight events."""
    raw = yaml.safe_load((RESOURCES / "simulated_scripts.yaml").read_text(encoding="utf-8"))
    return ScriptProcess(raw["names"], raw["scripts"])


def simulate_texts(process: ScriptProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw stories, each labelled with its script, with its sentences.

    Parameters
    ----------
    order
        "process": as it is. "shuffled": the same stories with all sentences but the first in random order.
        "independent": each sentence from a script of its own, from the place where it stands in a story.
    n
        Number of stories. The first ones are the same whatever `n` is.
    seed
        Same seed, same stories.

    Returns
    -------
    iterator of Document
        Of split "test" with the ids "simulated-<number>".
    """
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        script = _one_of(sorted(process.scripts), rng)
        told = _told(process, script, rng)
        if order == "shuffled":
            told = [told[0], *(told[1 + place] for place in rng.permutation(len(told) - 1))]
        elif order == "independent":
            others = [_one_of(sorted(process.scripts), rng) for _ in told]
            told = [(other, event) for other, (_, event) in zip(others, told, strict=True)]
        sentences = _worded(process, told, rng)
        section = Section(None, " ".join(sentences))
        yield Document(f"simulated-{number:06d}", "test", None, (section,), sentences=tuple(sentences), label=script)


def draw(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts from the process in a file; see `simulate_texts`."""
    return simulate_texts(ScriptProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of stories of the process; `clutter`: texts without words per story.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder: process.json (the process), documents.parquet (each story's id, text and sentences, as extraction and
        the filters should deliver it).
    """
    process = script_process()
    write_json(truth / "process.json", process.to_json())
    documents = write_texts(raw, simulate_texts(process, "process", options.documents, seed), options, seed)
    write_documents(truth / "documents.parquet", documents, Provenance(NAME, {"name": "truth", "seed": seed}))


def _told(process: ScriptProcess, script: str, rng: np.random.Generator) -> list[tuple[str, int]]:
    """(script, number of the event) of what a story tells."""
    events = len(process.scripts[script]["events"])
    number = int(rng.integers(FEWEST, events + 1))
    between = 1 + rng.choice(events - 2, number - 2, replace=False)
    return [(script, event) for event in (0, *sorted(between.tolist()), events - 1)]


def _worded(process: ScriptProcess, told: Sequence[tuple[str, int]], rng: np.random.Generator) -> list[str]:
    """Sentences of a story about one person, with one thing a script."""
    gender = _one_of(sorted(process.names), rng)
    words = {"N": _one_of(process.names[gender], rng), **_PRONOUNS[gender]}
    things = {script: _one_of(process.scripts[script]["things"], rng) for script in sorted({s for s, _ in told})}
    found = []
    for script, event in told:
        sentence = _one_of(process.scripts[script]["events"][event], rng).format(**words, X=things[script])
        found.append(sentence[0].upper() + sentence[1:])
    return found


def _one_of(items: Sequence[str], rng: np.random.Generator) -> str:
    return items[int(rng.integers(len(items)))]
