"""Stories about three persons who are mentioned in a known way: for coreference (deng2022 §5), as WebText.

Each sentence has a subject or nobody, perhaps "his" or "her", perhaps an object. Whom it is about and what they are
called depends on the sentence before, and on nothing else: the sentences are a Markov chain, so that the entropy of who
is mentioned how is known exactly.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from macroscope.corpora.simulated.options import SimulatedCorpus
from macroscope.corpora.simulated.texts import write_texts
from macroscope.documents import Document, Provenance, Section, in_batches, write_documents
from macroscope.files import RESOURCES, read_json, write_json

NAME = "simpeople"
Genders = tuple[str, ...]
PERSONS = 3
DAMAGES = ("wrong_gender", "no_antecedent", "merged", "split")
ORDERS = ("process", "shuffled", "independent", *DAMAGES)
DAMAGED_SHARE = 0.3
"""Share of the mentions that a damage changes, of those that it can change."""
ROWS_AT_ONCE = 1000
_SHORTEST, _LONGEST = 10, 24
"""Sentences of a story, besides the two that begin it."""
_PRONOUNS = {"male": {"S": "He", "P": "his", "O": "him"}, "female": {"S": "She", "P": "her", "O": "her"}}
GENDERS = tuple(product(("male", "female"), repeat=PERSONS))
"""Of the three persons; all alike."""
_SLOTS = re.compile(r"([^{}]*)(?:\{(\w+)\})?")
_OTHER = {"male": "female", "female": "male"}


@dataclass(frozen=True)
class Sentence:
    """What a sentence says of persons.

    Attributes
    ----------
    subject
        Number of the person, or None: it is about nobody.
    subject_pronoun, object_pronoun
        Whether these are called by a pronoun, and not by their name.
    possessive
        Whether something of the subject's is mentioned ("his").
    object
        Number of another person, or None.
    """

    subject: int | None
    subject_pronoun: bool = False
    possessive: bool = False
    object: int | None = None
    object_pronoun: bool = False

    @property
    def symbols(self) -> int:
        """How many mentions it has."""
        return len(self.persons) + self.possessive

    @property
    def persons(self) -> tuple[int, ...]:
        """Who is mentioned."""
        return tuple(person for person in (self.subject, self.object) if person is not None)


BEGINNING = Sentence(None)
"""What stands before the first sentence after the one that names all: it is about nobody."""


@dataclass(frozen=True)
class Mentioned:
    """A mention in a story.

    Attributes
    ----------
    start, end
        Its characters in the text.
    entity
        Whom it means.
    pronoun
        Whether it is one.
    """

    start: int
    end: int
    entity: int
    pronoun: bool


@dataclass(frozen=True)
class Story:
    """A text, and the truth about it.

    Attributes
    ----------
    text
        One paragraph.
    sentence_starts
        Characters where its sentences start.
    mentions
        In order.
    """

    text: str
    sentence_starts: tuple[int, ...]
    mentions: tuple[Mentioned, ...]


@dataclass(frozen=True)
class PeopleProcess:
    """Probabilities of the sentences of a story, given the one before.

    Attributes
    ----------
    nobody, same, owns, transitive
        Of a sentence about nobody; of the same subject as before (the others share the rest); of "his" or "her"; of an
        object (both others alike).
    subject_pronoun, object_pronoun
        Of a pronoun where it can only mean the one: somebody of the sentence before, where nobody else of that gender
        is mentioned; an object's only where the subject is of the other gender.
    wording
        Names by gender, and the sentences by what they mention; see resources/simulated_people.yaml.
    """

    nobody: float
    same: float
    owns: float
    transitive: float
    subject_pronoun: float
    object_pronoun: float
    wording: Mapping[str, Any]

    @classmethod
    def load(cls, path: Path) -> "PeopleProcess":
        """Read what `to_json` describes from a JSON file."""
        return cls(**read_json(path))

    def to_json(self) -> dict[str, object]:
        """Describe the process, for `truth/process.json`."""
        return asdict(self)

    def following(self, before: Sentence, genders: Genders) -> list[tuple[Sentence, float]]:
        """Every sentence that can follow another, with its probability; they add up to 1."""
        found = [(Sentence(None), self.nobody)]
        for subject, named, owns in product(range(PERSONS), (True, False), (True, False)):
            pronoun = self._pronoun(subject, before, genders, self.subject_pronoun)
            p = (1 - self.nobody) * self._subject(subject, before) * ((1 - pronoun) if named else pronoun)
            p *= self.owns if owns else 1 - self.owns
            said = Sentence(subject, not named, owns)
            found.append((said, p * (1 - self.transitive)))
            for other in set(range(PERSONS)) - {subject}:
                allowed = self.object_pronoun if genders[other] != genders[subject] else 0.0
                pronoun = self._pronoun(other, before, genders, allowed)
                whole = replace(said, object=other)
                share = p * self.transitive / (PERSONS - 1)
                found.append((whole, share * (1 - pronoun)))
                found.append((replace(whole, object_pronoun=True), share * pronoun))
        return [(sentence, p) for sentence, p in found if p > 0]

    def latent_ppl(self) -> float:
        """Exp of the entropy of who is mentioned how, a symbol: exact.

        A symbol is a mention or the beginning of a sentence. Random are the gender of the three persons and the
        sentences; how many sentences there are is given.
        """
        sums = np.mean([self._expected(genders) for genders in GENDERS], axis=0)
        return math.exp((sums[0] + math.log(len(GENDERS))) / sums[1])

    def _expected(self, genders: Genders) -> tuple[float, float]:
        """Expected entropy of a story's sentences after the first (nats), and its symbols."""
        steps = {sentence: self.following(sentence, genders) for sentence in _sentences()}
        nats, symbols = 0.0, 1.0 + 2 * PERSONS
        states = {BEGINNING: 1.0}
        for number in range(1, _LONGEST + 1):
            told = min(1.0, (_LONGEST + 1 - number) / (_LONGEST + 1 - _SHORTEST))  # share of the stories so long
            after = dict.fromkeys(steps, 0.0)
            for before, p in states.items():
                for sentence, q in steps[before] if p else ():
                    nats -= told * p * q * math.log(q)
                    symbols += told * p * q * (1 + sentence.symbols)
                    after[sentence] += p * q
            states = after
        return nats, symbols

    def _subject(self, subject: int, before: Sentence) -> float:
        if before.subject is None:
            return 1 / PERSONS
        return self.same if subject == before.subject else (1 - self.same) / (PERSONS - 1)

    @staticmethod
    def _pronoun(person: int, before: Sentence, genders: Genders, probability: float) -> float:
        alike = [other for other in before.persons if genders[other] == genders[person]]
        return probability if alike == [person] else 0.0


def people_process() -> PeopleProcess:
    """Return the process whose wording is resources/simulated_people.yaml."""
    wording = yaml.safe_load((RESOURCES / "simulated_people.yaml").read_text(encoding="utf-8"))
    wording["names"] = {gender: names.split() for gender, names in wording["names"].items()}
    return PeopleProcess(0.1, 0.5, 0.3, 0.5, 0.8, 0.6, wording)


def simulate_stories(process: PeopleProcess, order: str, n: int, seed: int) -> Iterator[Story]:
    """Draw stories.

    Parameters
    ----------
    order
        "process": as it is. "shuffled": the sentences after the first in random order. "independent": everybody of a
        sentence is anybody, whoever the sentence before was about. "wrong_gender": of the pronouns 30 % are of the
        other gender. "no_antecedent": of the names 30 % are pronouns, which nobody can resolve: in truth they mean
        somebody else each. "merged": two of the three have the same name, and so are one. "split": each person has a
        second name, which is used for 30 % of the names: in truth that is somebody else.
    n
        Number of stories. The first ones are the same whatever `n` is.
    seed
        Same seed, same stories.
    """
    if order not in ORDERS:
        raise ValueError(f"order is {order!r}, not one of {', '.join(ORDERS)}")
    steps: dict[tuple[Genders, Sentence], tuple[list[Sentence], np.ndarray]] = {}
    for number in range(n):
        rng = np.random.default_rng([seed, number])
        genders = GENDERS[rng.integers(len(GENDERS))]
        sentences = [BEGINNING]
        for _ in range(int(rng.integers(_SHORTEST, _LONGEST + 1))):
            if (genders, sentences[-1]) not in steps:
                possible, shares = zip(*process.following(sentences[-1], genders), strict=True)
                steps[genders, sentences[-1]] = list(possible), np.cumsum(shares)
            following, sums = steps[genders, sentences[-1]]
            sentences.append(following[int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))])
        told = sentences[1:]
        if order == "shuffled":
            told = [told[place] for place in rng.permutation(len(told))]
        elif order == "independent":
            told = [_with_others(sentence, rng.permutation(PERSONS).tolist()) for sentence in told]
        yield _Writer(process.wording, genders, order, rng).write(told)


def simulate_texts(process: PeopleProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw stories as documents of split "test" with the ids "simulated-<number>"; see `simulate_stories`."""
    for number, story in enumerate(simulate_stories(process, order, n, seed)):
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, story.text),))


def draw(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Draw texts from the process in a file; see `simulate_stories`."""
    return simulate_texts(PeopleProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write the JSON Lines file, and the truth about it. Same options and seed, same bytes.

    Parameters
    ----------
    options
        `documents`: number of stories of the process; `clutter`: texts without words per story.
    raw
        JSON Lines file to write; see `corpora.simulated.texts`.
    truth
        Folder: process.json (the process), documents.parquet (each story's id and text, as extraction and the filters
        should deliver it), mentions.parquet (who is meant where, as resolvers of coreference write it).
    """
    process = people_process()
    write_json(truth / "process.json", process.to_json())
    texts = simulate_texts(process, "process", options.documents, seed)
    documents = write_texts(raw, texts, options, seed)
    write_documents(truth / "documents.parquet", documents, Provenance(NAME, {"name": "truth", "seed": seed}))
    stories = simulate_stories(process, "process", options.documents, seed)
    rows = (
        {
            "id": document.id,
            "sentence_starts": story.sentence_starts,
            "mentions": [
                asdict(mention) | {"head_start": mention.start, "head_end": mention.end, "person": True}
                for mention in story.mentions
            ],
        }
        for document, story in zip(documents, stories, strict=True)
    )
    # As Python's objects the mentions of 200,000 stories are 3 GB.
    tables = [pa.Table.from_pylist(some) for some in in_batches(rows, ROWS_AT_ONCE)]
    pq.write_table(pa.concat_tables(tables), truth / "mentions.parquet")


class _Writer:
    """Puts a story into words, with a damage or none."""

    def __init__(self, wording: Mapping[str, Any], genders: Genders, order: str, rng: np.random.Generator) -> None:
        self.wording, self.genders, self.order, self.rng = wording, genders, order, rng
        drawn = {gender: list(rng.permutation(names)) for gender, names in wording["names"].items()}
        self.names = [drawn[gender].pop() for gender in genders]
        self.second_names = [drawn[gender].pop() for gender in genders]
        self.entities = list(range(PERSONS))
        if order == "merged":
            first, second = next(
                pair for pair in combinations(range(PERSONS), 2) if len({genders[p] for p in pair}) == 1
            )
            self.names[second], self.entities[second] = self.names[first], first
        self.strangers = 2 * PERSONS
        self.text = ""
        self.starts: list[int] = []
        self.mentions: list[Mentioned] = []

    def write(self, told: Sequence[Sentence]) -> Story:
        """Write the sentence that names all, and what is told of them."""
        self._sentence(self.wording["opening"], {letter: n for n, letter in enumerate("ABC")}, Sentence(None))
        for sentence in told:
            kind = {(False, False): "alone", (True, False): "possessive", (False, True): "object", (True, True): "both"}
            key = "nobody" if sentence.subject is None else kind[sentence.possessive, sentence.object is not None]
            templates = self.wording[key]
            whose = {"S": sentence.subject, "P": sentence.subject, "O": sentence.object}
            self._sentence(templates[self.rng.integers(len(templates))], whose, sentence)
        return Story(self.text, tuple(self.starts), tuple(self.mentions))

    def _sentence(self, template: str, whose: Mapping[str, int | None], sentence: Sentence) -> None:
        self.text += " " if self.text else ""
        self.starts.append(len(self.text))
        for literal, slot in _SLOTS.findall(template):
            self.text += literal
            if slot:
                case, person = slot[0], whose[slot[-1]]
                assert person is not None
                pronoun = {"S": sentence.subject_pronoun, "P": True, "O": sentence.object_pronoun}
                self._mention(person, case, pronoun.get(case, False))

    def _mention(self, person: int, case: str, pronoun: bool) -> None:
        """Write a mention of somebody, as subject (S), possessive (P) or object (O)."""
        gender, entity, name = self.genders[person], self.entities[person], self.names[person]
        damaged = len(self.starts) > 1 and self.rng.random() < DAMAGED_SHARE
        if self.order == "wrong_gender" and pronoun and damaged:
            gender = _OTHER[gender]
        elif self.order == "no_antecedent" and not pronoun and damaged:
            pronoun, entity = True, self.strangers
            self.strangers += 1
        elif self.order == "split" and not pronoun and damaged:
            name, entity = self.second_names[person], PERSONS + person
        surface = _PRONOUNS[gender][case] if pronoun else name
        self.mentions.append(Mentioned(len(self.text), len(self.text) + len(surface), entity, pronoun))
        self.text += surface


def _with_others(sentence: Sentence, persons: Sequence[int]) -> Sentence:
    """Put others into a sentence: person n becomes persons[n]."""
    subject, other = (
        None if person is None else int(persons[person]) for person in (sentence.subject, sentence.object)
    )
    return replace(sentence, subject=subject, object=other)


@cache
def _sentences() -> tuple[Sentence, ...]:
    """All sentences that there are."""
    found = [BEGINNING]
    for subject, pronoun, owns in product(range(PERSONS), (False, True), (False, True)):
        found.append(Sentence(subject, pronoun, owns))
        for other, called in product(set(range(PERSONS)) - {subject}, (False, True)):
            found.append(Sentence(subject, pronoun, owns, other, called))
    return tuple(found)
