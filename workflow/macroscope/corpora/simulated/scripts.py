"""Short stories that follow a script: events in a known causal order, as WebText, for narratives (cai2020).

A story is about one person, and tells events of one script in their order, always with the first and the last event.
The omitted events and the wording are random; the order of the events and the script are not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.texts import require_order, write_simulation
from macroscope.documents import Document, Section
from macroscope.files import RESOURCES, read_json

NAME = "simscripts"
FEWEST = 5
"""Fewest sentences of a story; it has at most all events of its script."""
_PRONOUNS = {"male": {"S": "he", "P": "his", "O": "him"}, "female": {"S": "she", "P": "her", "O": "her"}}


@dataclass(frozen=True)
class ScriptProcess:
    """Scripts, and names of the persons in the stories.

    Attributes
    ----------
    names
        Names by gender.
    scripts
        Things and events of each script by its name; an event is a list of alternative sentences.
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
    """Read the process of resources/simulated_scripts.yaml: twelve scripts of eight events."""
    raw = yaml.safe_load((RESOURCES / "simulated_scripts.yaml").read_text(encoding="utf-8"))
    return ScriptProcess(raw["names"], raw["scripts"])


def simulate_texts(process: ScriptProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate stories with their sentences, each labelled with its script.

    Parameters
    ----------
    order
        "process": stories of the process. "shuffled": the same stories with all sentences but the first in random
        order. "independent": the script of each sentence is sampled independently, and its event number is kept.
    n
        Number of stories. The first stories are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same stories.

    Returns
    -------
    iterator of Document
        Stories in the split "test", with ids "simulated-<number>".
    """
    require_order(order)
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        script = _choose(sorted(process.scripts), rng)
        events = _sample_events(process, script, rng)
        if order == "shuffled":
            events = [events[0], *(events[1 + place] for place in rng.permutation(len(events) - 1))]
        elif order == "independent":
            scripts = [_choose(sorted(process.scripts), rng) for _ in events]
            events = [(name, event) for name, (_, event) in zip(scripts, events, strict=True)]
        sentences = _write_sentences(process, events, rng)
        section = Section(None, " ".join(sentences))
        yield Document(f"simulated-{number:06d}", "test", None, (section,), sentences=tuple(sentences), label=script)


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts of the process in a file; see `simulate_texts`."""
    return simulate_texts(ScriptProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write stories as texts, and the truth about them; see `texts.write_simulation`."""
    process = script_process()
    texts = simulate_texts(process, "process", options.documents, seed)
    write_simulation(process.to_json(), texts, options, seed, raw, truth, NAME)


def _sample_events(process: ScriptProcess, script: str, rng: np.random.Generator) -> list[tuple[str, int]]:
    """Sample the events of a story, as pairs (script, number of the event)."""
    events = len(process.scripts[script]["events"])
    number = int(rng.integers(FEWEST, events + 1))
    between = 1 + rng.choice(events - 2, number - 2, replace=False)
    return [(script, event) for event in (0, *sorted(between.tolist()), events - 1)]


def _write_sentences(process: ScriptProcess, events: Sequence[tuple[str, int]], rng: np.random.Generator) -> list[str]:
    """Write the sentences of a story about one person, with one thing per script."""
    gender = _choose(sorted(process.names), rng)
    words = {"N": _choose(process.names[gender], rng), **_PRONOUNS[gender]}
    things = {script: _choose(process.scripts[script]["things"], rng) for script in sorted({s for s, _ in events})}
    sentences = []
    for script, event in events:
        sentence = _choose(process.scripts[script]["events"][event], rng).format(**words, X=things[script])
        sentences.append(sentence[0].upper() + sentence[1:])
    return sentences


def _choose(items: Sequence[str], rng: np.random.Generator) -> str:
    return items[int(rng.integers(len(items)))]
