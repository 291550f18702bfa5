"""Texts of three languages that have one meaning in common: known truth for mixes of languages (deng2022 App. C).

A text is a few sentences of one language. A sentence is a meaning (who does what to whom, where, when) in the own
words, order and endings of the language; names of places are the same in all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.simulated.texts import write_texts
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json, write_json

NAME = "simlanguages"
ORDERS = ("process", "shuffled", "independent")
_SENTENCES = (1, 4)
_PLURAL, _DESCRIBED, _TOLD_WHEN, _TOLD_WHERE = 0.3, 0.4, 0.6, 0.5
Words = list[str]


@dataclass(frozen=True)
class Thing:
    """A noun of a sentence, with its adjective, or ""."""

    noun: str
    adjective: str
    plural: bool


@dataclass(frozen=True)
class Meaning:
    """What a sentence says; "" for what it does not."""

    subject: Thing
    verb: str
    object: Thing
    place: str
    time: str


class Language:
    """How meanings are said.

    Parameters
    ----------
    grammar
        As in resources/simulated_languages.yaml.
    lexicon
        Meaning -> word.
    """

    def __init__(self, name: str, grammar: dict[str, Any], lexicon: dict[str, str]) -> None:
        self.name, self.grammar, self.lexicon = name, grammar, lexicon

    def sentence(self, meaning: Meaning) -> Words:
        """Words of a sentence, without its full stop."""
        parts = {
            "subject": self._thing(meaning.subject, ""),
            "verb": [self.lexicon[meaning.verb] + self.grammar["verb"]],
            "object": self._thing(meaning.object, self.grammar["object"]),
            "place": [self.grammar["particles"]["in"], meaning.place] if meaning.place else [],
            "time": [self.lexicon[meaning.time]] if meaning.time else [],
        }
        return [word for part in self.grammar["order"] for word in parts[part]]

    def words(self) -> set[str]:
        """Everything that it ever says, in lower case, but for names."""
        nouns = resource()["meanings"]["noun"]
        forms = {self._noun(noun, plural, case) for noun in nouns for plural in (False, True) for case in self._cases()}
        verbs = {self.lexicon[verb] + self.grammar["verb"] for verb in resource()["meanings"]["verb"]}
        others = {self.lexicon[word] for kind in ("adjective", "time") for word in resource()["meanings"][kind]}
        return forms | verbs | others | set(self.grammar["particles"].values())

    def _cases(self) -> tuple[str, str]:
        return "", self.grammar["object"]

    def _noun(self, noun: str, plural: bool, case: str) -> str:
        return self.lexicon[noun] + (self.grammar["plural"] if plural else "") + case

    def _thing(self, thing: Thing, case: str) -> Words:
        described = [self.lexicon[thing.adjective]] if thing.adjective else []
        noun = [self._noun(thing.noun, thing.plural, case)]
        rest = [*noun, *described] if self.grammar["noun_first"] else [*described, *noun]
        return [self.grammar["particles"]["the"], *rest]


@cache
def resource() -> dict[str, Any]:
    """Read resources/simulated_languages.yaml."""
    return yaml.safe_load((RESOURCES / "simulated_languages.yaml").read_text(encoding="utf-8"))


@cache
def languages() -> tuple[Language, ...]:
    """The three languages. No word is a word of two of them, nor has two meanings."""
    meanings = [word for kind, words in resource()["meanings"].items() if kind != "place" for word in words]
    found = []
    for number, (name, grammar) in enumerate(resource()["languages"].items()):
        rng = np.random.default_rng(number)
        taken: dict[str, None] = {}
        while len(taken) < len(meanings):
            syllables = rng.choice(grammar["syllables"], int(rng.integers(2, 4)))
            taken["".join(syllables)] = None
        found.append(Language(name, grammar, dict(zip(meanings, taken, strict=True))))
    return tuple(found)


def english(meaning: Meaning) -> Words:
    """The words that name a meaning, in the order of English: what the three languages are translations of."""

    def thing(some: Thing) -> Words:
        return ["the", *filter(None, [some.adjective]), some.noun, *(["-s"] if some.plural else [])]

    rest = [*(["in", meaning.place] if meaning.place else []), *filter(None, [meaning.time])]
    return [*thing(meaning.subject), meaning.verb, *thing(meaning.object), *rest]


def draw_meaning(rng: np.random.Generator) -> Meaning:
    """Draw what a sentence says."""
    kinds = resource()["meanings"]
    subject, other = _thing(rng), _thing(rng)
    place = str(rng.choice(kinds["place"])) if rng.random() < _TOLD_WHERE else ""
    time = _zipf(kinds["time"], rng) if rng.random() < _TOLD_WHEN else ""
    return Meaning(subject, _zipf(kinds["verb"], rng), other, place, time)


def simulate_texts(order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts, each labelled with its language.

    Parameters
    ----------
    order
        "process": each text is of one language. "shuffled": the same, with the words of each sentence in random order,
        which no count of words sees. "independent": each word of a sentence is said in a language of its own, as if it
        had been drawn without regard to the others; such a text has no label.
    n
        Number of texts. The first ones are the same whatever `n` is.
    seed
        Same seed, same texts.

    Returns
    -------
    iterator of Document, of split "test", with ids "simulated-<number>"; `original` says the same in English words
    """
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        language = languages()[int(rng.integers(len(languages())))]
        meanings = [draw_meaning(rng) for _ in range(int(rng.integers(*_SENTENCES)))]
        sentences = [_said(meaning, language, order, rng) for meaning in meanings]
        text = " ".join(" ".join(words)[:1].upper() + " ".join(words)[1:] + "." for words in sentences)
        label = None if order == "independent" else language.name
        original = " ".join(" ".join(english(meaning)).capitalize() + "." for meaning in meanings)
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, text),), label=label, original=original)


def draw(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts of the languages that a file names; see `simulate_texts`."""
    if read_json(process)["languages"] != [language.name for language in languages()]:
        raise MacroscopeError(
            f"{process}: the corpus has other languages than resources/simulated_languages.yaml; make it anew"
        )
    return simulate_texts(order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of texts; `clutter`: texts without words per text.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder: process.json (the languages and their words), documents.parquet (each text's id and words, as extraction
        and the filters should deliver it).
    """
    write_json(truth / "process.json", process())
    documents = write_texts(raw, simulate_texts("process", options.documents, seed), options, seed)
    write_documents(truth / "documents.parquet", documents, Provenance(NAME, {"name": "truth", "seed": seed}))


def process() -> dict[str, Any]:
    """What is known: the languages, the words of each, and the names that they share."""
    return {
        "languages": [language.name for language in languages()],
        "words": [sorted(language.words()) for language in languages()],
        "names": resource()["meanings"]["place"],
    }


def _said(meaning: Meaning, language: Language, order: str, rng: np.random.Generator) -> Words:
    words = language.sentence(meaning)
    if order == "shuffled":
        return [words[place] for place in rng.permutation(len(words))]
    if order == "independent":
        others = [other.sentence(meaning) for other in languages()]
        return [others[int(rng.integers(len(others)))][place] for place in range(len(words))]
    return words


def _thing(rng: np.random.Generator) -> Thing:
    kinds = resource()["meanings"]
    adjective = _zipf(kinds["adjective"], rng) if rng.random() < _DESCRIBED else ""
    return Thing(_zipf(kinds["noun"], rng), adjective, bool(rng.random() < _PLURAL))


def _zipf(words: Words, rng: np.random.Generator) -> str:
    weights = 1 / np.arange(1, len(words) + 1)
    return words[int(rng.choice(len(words), p=weights / weights.sum()))]
