"""Texts of three simulated languages with common meanings: known truth for mixed languages (deng2022 App. C).

A text is a few sentences of one language. A sentence expresses a meaning (who does what to whom, where, when) with the
words, word order and endings of its language; place names are the same in all languages.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.texts import require_order, write_simulation
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES, read_json

NAME = "simlanguages"
_SENTENCES = (1, 4)
_PLURAL, _DESCRIBED, _TOLD_WHEN, _TOLD_WHERE = 0.3, 0.4, 0.6, 0.5
Words = list[str]


@dataclass(frozen=True)
class Thing:
    """A noun of a sentence, and its adjective or ""."""

    noun: str
    adjective: str
    plural: bool


@dataclass(frozen=True)
class Meaning:
    """Meaning of a sentence; "" for a missing place or time."""

    subject: Thing
    verb: str
    object: Thing
    place: str
    time: str


class Language:
    """A language: a grammar and a lexicon that express meanings.

    Parameters
    ----------
    name
        Name of the language.
    grammar
        Entry of the language in resources/simulated_languages.yaml.
    lexicon
        Words by meaning.
    """

    def __init__(self, name: str, grammar: dict[str, Any], lexicon: dict[str, str]) -> None:
        self.name, self.grammar, self.lexicon = name, grammar, lexicon

    def sentence(self, meaning: Meaning) -> Words:
        """Return the words of a sentence, without its full stop."""
        parts = {
            "subject": self._thing(meaning.subject, ""),
            "verb": [self.lexicon[meaning.verb] + self.grammar["verb"]],
            "object": self._thing(meaning.object, self.grammar["object"]),
            "place": [self.grammar["particles"]["in"], meaning.place] if meaning.place else [],
            "time": [self.lexicon[meaning.time]] if meaning.time else [],
        }
        return [word for part in self.grammar["order"] for word in parts[part]]

    def words(self) -> set[str]:
        """Return all words of the language in lower case, without names."""
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
    return yaml.safe_load((RESOURCES / "simulated_languages.yaml").read_text(encoding="utf-8"))


@cache
def languages() -> tuple[Language, ...]:
    """Return the three languages. No word is in two languages or has two meanings."""
    meanings = [word for kind, words in resource()["meanings"].items() if kind != "place" for word in words]
    built = []
    for number, (name, grammar) in enumerate(resource()["languages"].items()):
        rng = np.random.default_rng(number)
        taken: dict[str, None] = {}
        while len(taken) < len(meanings):
            syllables = rng.choice(grammar["syllables"], int(rng.integers(2, 4)))
            taken["".join(syllables)] = None
        built.append(Language(name, grammar, dict(zip(meanings, taken, strict=True))))
    return tuple(built)


def translate_to_english(meaning: Meaning) -> Words:
    """Return a meaning in English words and order: the original that the three languages translate."""

    def render(thing: Thing) -> Words:
        return ["the", *filter(None, [thing.adjective]), thing.noun, *(["-s"] if thing.plural else [])]

    rest = [*(["in", meaning.place] if meaning.place else []), *filter(None, [meaning.time])]
    return [*render(meaning.subject), meaning.verb, *render(meaning.object), *rest]


def sample_meaning(rng: np.random.Generator) -> Meaning:
    """Sample the meaning of a sentence."""
    kinds = resource()["meanings"]
    subject, target = _sample_thing(rng), _sample_thing(rng)
    place = str(rng.choice(kinds["place"])) if rng.random() < _TOLD_WHERE else ""
    time = _zipf(kinds["time"], rng) if rng.random() < _TOLD_WHEN else ""
    return Meaning(subject, _zipf(kinds["verb"], rng), target, place, time)


def simulate_texts(order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts, each labelled with its language.

    Parameters
    ----------
    order
        "process": each text is in one language. "shuffled": the same texts, with the words of each sentence in random
        order, which word counts cannot detect. "independent": the language of each word is sampled independently;
        such a text has no label.
    n
        Number of texts. The first texts are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same texts.

    Returns
    -------
    iterator of Document
        Texts in the split "test", with ids "simulated-<number>"; `original` is the same text in English words.
    """
    require_order(order)
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        language = languages()[int(rng.integers(len(languages())))]
        meanings = [sample_meaning(rng) for _ in range(int(rng.integers(*_SENTENCES)))]
        sentences = [_express(meaning, language, order, rng) for meaning in meanings]
        text = " ".join(" ".join(words)[:1].upper() + " ".join(words)[1:] + "." for words in sentences)
        label = None if order == "independent" else language.name
        original = " ".join(" ".join(translate_to_english(meaning)).capitalize() + "." for meaning in meanings)
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, text),), label=label, original=original)


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts of the languages in a process file; see `simulate_texts`."""
    if read_json(process)["languages"] != [language.name for language in languages()]:
        raise MacroscopeError(
            f"{process}: the corpus has other languages than resources/simulated_languages.yaml; simulate it again"
        )
    return simulate_texts(order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write texts, and the truth about them; see `texts.write_simulation`."""
    texts = simulate_texts("process", options.documents, seed)
    write_simulation(describe_process(), texts, options, seed, raw, truth, NAME)


def describe_process() -> dict[str, Any]:
    """Describe the process: the languages, the words of each, and the place names that they share."""
    return {
        "languages": [language.name for language in languages()],
        "words": [sorted(language.words()) for language in languages()],
        "names": resource()["meanings"]["place"],
    }


def _express(meaning: Meaning, language: Language, order: str, rng: np.random.Generator) -> Words:
    words = language.sentence(meaning)
    if order == "shuffled":
        return [words[place] for place in rng.permutation(len(words))]
    if order == "independent":
        sentences = [spoken.sentence(meaning) for spoken in languages()]
        return [sentences[int(rng.integers(len(sentences)))][place] for place in range(len(words))]
    return words


def _sample_thing(rng: np.random.Generator) -> Thing:
    kinds = resource()["meanings"]
    adjective = _zipf(kinds["adjective"], rng) if rng.random() < _DESCRIBED else ""
    return Thing(_zipf(kinds["noun"], rng), adjective, bool(rng.random() < _PLURAL))


def _zipf(words: Words, rng: np.random.Generator) -> str:
    weights = 1 / np.arange(1, len(words) + 1)
    return words[int(rng.choice(len(words), p=weights / weights.sum()))]
