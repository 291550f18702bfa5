"""Stories about three persons with a known process of mentions, as WebText, for coreference (deng2022 §5).

A sentence mentions no person, or a subject, optionally with "his" or "her", and optionally an object. The persons and
the form of their mentions depend only on the preceding sentence. So the sentences are a Markov chain, and the entropy
of the mentions is known exactly.
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

from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.texts import require_order, write_simulation
from macroscope.documents import Document, Section, in_batches
from macroscope.files import RESOURCES, read_json

NAME = "simpeople"
Genders = tuple[str, ...]
PERSONS = 3
DAMAGES = ("wrong_gender", "no_antecedent", "merged", "split")
DAMAGED_SHARE = 0.3
"""Share of the mentions that a damage changes, among those that it can change."""
ROWS_AT_ONCE = 1000
_SHORTEST, _LONGEST = 10, 24
"""Fewest and most sentences of a story after its opening."""
_PRONOUNS = {"male": {"S": "He", "P": "his", "O": "him"}, "female": {"S": "She", "P": "her", "O": "her"}}
GENDERS = tuple(product(("male", "female"), repeat=PERSONS))
"""Possible genders of the three persons, equally likely."""
_SLOTS = re.compile(r"([^{}]*)(?:\{(\w+)\})?")
_OTHER = {"male": "female", "female": "male"}


@dataclass(frozen=True)
class Sentence:
    """Mentions of persons in a sentence.

    Attributes
    ----------
    subject
        Number of the person, or None if the sentence mentions no person.
    subject_pronoun, object_pronoun
        True if subject and object are mentioned by a pronoun instead of their name.
    possessive
        True if a possessive of the subject ("his") is in the sentence.
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
        """Return the number of mentions."""
        return len(self.persons) + self.possessive

    @property
    def persons(self) -> tuple[int, ...]:
        """Return the numbers of the mentioned persons."""
        return tuple(person for person in (self.subject, self.object) if person is not None)


BEGINNING = Sentence(None)
"""State before the first sentence after the opening, which names all persons: no person is mentioned."""


@dataclass(frozen=True)
class Mentioned:
    """A mention in a story.

    Attributes
    ----------
    start, end
        Character positions of the mention in the text.
    entity
        Number of the entity that it refers to.
    pronoun
        True if it is a pronoun.
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
        Text of the story, one paragraph.
    sentence_starts
        Character positions of the starts of its sentences.
    mentions
        Mentions in order.
    """

    text: str
    sentence_starts: tuple[int, ...]
    mentions: tuple[Mentioned, ...]


@dataclass(frozen=True)
class PeopleProcess:
    """Probabilities of the sentences of a story, each given the preceding sentence.

    Attributes
    ----------
    nobody, same, owns, transitive
        Probabilities of a sentence without persons; of the same subject as before (the other two share the rest); of
        "his" or "her"; of an object (the two other persons are equally likely).
    subject_pronoun, object_pronoun
        Probabilities of an unambiguous pronoun. It refers to a person of the preceding sentence that mentions no other
        person of that gender; an object pronoun also needs a subject of the other gender.
    wording
        Names by gender, and sentence templates by their mentions; see resources/simulated_people.yaml.
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
        """Return all possible next sentences with their probabilities, which sum to 1."""
        candidates = [(Sentence(None), self.nobody)]
        for subject, named, owns in product(range(PERSONS), (True, False), (True, False)):
            pronoun = self._pronoun(subject, before, genders, self.subject_pronoun)
            p = (1 - self.nobody) * self._subject(subject, before) * ((1 - pronoun) if named else pronoun)
            p *= self.owns if owns else 1 - self.owns
            intransitive = Sentence(subject, not named, owns)
            candidates.append((intransitive, p * (1 - self.transitive)))
            for target in set(range(PERSONS)) - {subject}:
                allowed = self.object_pronoun if genders[target] != genders[subject] else 0.0
                pronoun = self._pronoun(target, before, genders, allowed)
                transitive = replace(intransitive, object=target)
                share = p * self.transitive / (PERSONS - 1)
                candidates.append((transitive, share * (1 - pronoun)))
                candidates.append((replace(transitive, object_pronoun=True), share * pronoun))
        return [(sentence, p) for sentence, p in candidates if p > 0]

    def latent_ppl(self) -> float:
        """Return the exact exponential of the entropy of the mentions per symbol.

        A symbol is a mention or the beginning of a sentence. The genders of the three persons and the sentences are
        random; the number of sentences is given.
        """
        sums = np.mean([self._expected(genders) for genders in GENDERS], axis=0)
        return math.exp((sums[0] + math.log(len(GENDERS))) / sums[1])

    def _expected(self, genders: Genders) -> tuple[float, float]:
        """Return the expected entropy of a story's sentences after the opening (nats), and its expected symbols."""
        steps = {sentence: self.following(sentence, genders) for sentence in _sentences()}
        nats, symbols = 0.0, 1.0 + 2 * PERSONS
        states = {BEGINNING: 1.0}
        for number in range(1, _LONGEST + 1):
            share = min(1.0, (_LONGEST + 1 - number) / (_LONGEST + 1 - _SHORTEST))  # of stories with this sentence
            after = dict.fromkeys(steps, 0.0)
            for before, p in states.items():
                for sentence, q in steps[before] if p else ():
                    nats -= share * p * q * math.log(q)
                    symbols += share * p * q * (1 + sentence.symbols)
                    after[sentence] += p * q
            states = after
        return nats, symbols

    def _subject(self, subject: int, before: Sentence) -> float:
        if before.subject is None:
            return 1 / PERSONS
        return self.same if subject == before.subject else (1 - self.same) / (PERSONS - 1)

    @staticmethod
    def _pronoun(person: int, before: Sentence, genders: Genders, probability: float) -> float:
        same_gender = [candidate for candidate in before.persons if genders[candidate] == genders[person]]
        return probability if same_gender == [person] else 0.0


def people_process() -> PeopleProcess:
    """Return the process with the wording of resources/simulated_people.yaml."""
    wording = yaml.safe_load((RESOURCES / "simulated_people.yaml").read_text(encoding="utf-8"))
    wording["names"] = {gender: names.split() for gender, names in wording["names"].items()}
    return PeopleProcess(0.1, 0.5, 0.3, 0.5, 0.8, 0.6, wording)


def simulate_stories(process: PeopleProcess, order: str, n: int, seed: int) -> Iterator[Story]:
    """Generate stories.

    Parameters
    ----------
    order
        "process": stories of the process. "shuffled": the sentences after the opening in random order.
        "independent": the persons of each sentence are permuted at random, independently of the preceding sentence.
        "wrong_gender": 30 % of the pronouns have the other gender. "no_antecedent": 30 % of the names become pronouns
        that cannot be resolved; each refers to an entity of its own. "merged": two of the three persons have the same
        name, and so are one entity. "split": each person has a second name in 30 % of the named mentions, which is a
        separate entity.
    n
        Number of stories. The first stories are the same whatever `n` is.
    seed
        Random seed; the same seed gives the same stories.
    """
    require_order(order, DAMAGES)
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
        body = sentences[1:]
        if order == "shuffled":
            body = [body[place] for place in rng.permutation(len(body))]
        elif order == "independent":
            body = [_permute_persons(sentence, rng.permutation(PERSONS).tolist()) for sentence in body]
        yield _Writer(process.wording, genders, order, rng).write(body)


def simulate_texts(process: PeopleProcess, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate stories as documents in the split "test", with ids "simulated-<number>"; see `simulate_stories`."""
    for number, story in enumerate(simulate_stories(process, order, n, seed)):
        yield Document(f"simulated-{number:06d}", "test", None, (Section(None, story.text),))


def generate(process: Path, order: str, n: int, seed: int) -> Iterator[Document]:
    """Generate texts of the process in a file; see `simulate_stories`."""
    return simulate_texts(PeopleProcess.load(process), order, n, seed)


def write_corpus(options: SimulatedCorpus, seed: int, raw: Path, truth: Path) -> None:
    """Write stories as texts, and the truth about them; see `texts.write_simulation`.

    mentions.parquet in the folder of the truth has the true mentions, in the format of the coreference resolvers.
    """
    process = people_process()
    texts = simulate_texts(process, "process", options.documents, seed)
    documents = write_simulation(process.to_json(), texts, options, seed, raw, truth, NAME)
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
    # As Python objects, the mentions of 200,000 stories take 3 GB.
    tables = [pa.Table.from_pylist(batch) for batch in in_batches(rows, ROWS_AT_ONCE)]
    pq.write_table(pa.concat_tables(tables), truth / "mentions.parquet")


class _Writer:
    """Writer of one story in words, with a damage or none."""

    def __init__(self, wording: Mapping[str, Any], genders: Genders, order: str, rng: np.random.Generator) -> None:
        self.wording, self.genders, self.order, self.rng = wording, genders, order, rng
        names = {gender: list(rng.permutation(pool)) for gender, pool in wording["names"].items()}
        self.names = [names[gender].pop() for gender in genders]
        self.second_names = [names[gender].pop() for gender in genders]
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

    def write(self, body: Sequence[Sentence]) -> Story:
        """Write the opening, which names all persons, and the sentences after it."""
        self._sentence(self.wording["opening"], {letter: n for n, letter in enumerate("ABC")}, Sentence(None))
        for sentence in body:
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
        """Write a mention of a person as subject (S), possessive (P) or object (O)."""
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


def _permute_persons(sentence: Sentence, persons: Sequence[int]) -> Sentence:
    """Replace the persons of a sentence: person n becomes persons[n]."""
    subject, target = (
        None if person is None else int(persons[person]) for person in (sentence.subject, sentence.object)
    )
    return replace(sentence, subject=subject, object=target)


@cache
def _sentences() -> tuple[Sentence, ...]:
    """Return all possible sentences."""
    sentences = [BEGINNING]
    for subject, pronoun, owns in product(range(PERSONS), (False, True), (False, True)):
        sentences.append(Sentence(subject, pronoun, owns))
        for target, target_pronoun in product(set(range(PERSONS)) - {subject}, (False, True)):
            sentences.append(Sentence(subject, pronoun, owns, target, target_pronoun))
    return tuple(sentences)
