"""Declarations of damages: what each does to a text, how much of it, where, and in which languages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from macroscope.documents import Document
from macroscope.natural_language.languages import LANGUAGES, name_of
from macroscope.systems.perturbation.pieces import Place, replace_places, round_share

Level = Literal["words", "sentences", "sections", "documents", "collection"]
LEVELS: tuple[Level, ...] = get_args(Level)
Position = Literal["anywhere", "beginning", "middle", "end"]


@dataclass(frozen=True)
class Touch:
    """One application of a damage to a document, or to a collection.

    Attributes
    ----------
    language
        ISO 639-1 code of the texts.
    rng
        Random generator of this document.
    dose
        Share of the places to damage, in (0, 1].
    position
        Part of the document in which the places are.
    """

    language: str
    rng: np.random.Generator
    dose: float
    position: Position = "anywhere"

    def choose(self, n: int) -> NDArray[np.int64]:
        """Choose the dose's share of n places, at least one, in random order."""
        number = round_share(self.dose, n)
        if self.position == "anywhere":
            return np.asarray(self.rng.permutation(n)[:number], dtype=np.int64)
        start = {"beginning": 0, "middle": (n - number) // 2, "end": n - number}[self.position]
        return np.asarray(start + self.rng.permutation(number), dtype=np.int64)

    def rearrange(self, n: int) -> NDArray[np.int64]:
        """Return an order of n places in which the dose's share of them, at least two, have changed places.

        All orders are equally likely if the dose is 1. Otherwise, none of the chosen places keeps its content.
        """
        order = np.arange(n, dtype=np.int64)
        chosen = self.choose(n)
        if len(chosen) == n:
            return chosen
        if len(chosen) == 1:  # one place cannot change places with itself
            chosen = np.append(chosen, (chosen[0] + 1) % n)
        order[chosen] = np.roll(chosen, 1)
        return order


Apply = Callable[..., Any]
"""(document, touch, **options) -> document; or the same for a list of documents, if the damage joins documents."""
Lack = Callable[..., str | None]
"""(code of a language, **options) -> what a damage lacks for it, and the way out; None if it lacks nothing."""


@dataclass(frozen=True)
class Damage:
    """A damage, as data.

    Attributes
    ----------
    name
        Name of the damage, its rule in a config.
    apply
        Function that damages a document or, if `joins`, a collection.
    level
        Kind of unit that it touches.
    keeps_length
        Whether a document keeps its number of words, up to a few percent.
    dose
        Default of the dose.
    highest
        Largest dose that it can give.
    position
        Part of the document that it touches; None: the user chooses.
    twin
        Name of the harmless damage to compare it with; "" for a harmless one.
    joins
        Whether a document's result depends on other documents.
    lacks
        Function of a language that says what the damage lacks for it.
    drops_sections
        Whether it may remove a section.
    options
        Name of a further option -> (type, pydantic field).
    """

    name: str
    apply: Apply
    level: Level
    keeps_length: bool
    dose: float
    highest: float = 1.0
    position: str | None = None
    twin: str = ""
    joins: bool = False
    lacks: Lack = lambda language, **options: None
    drops_sections: bool = False
    options: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def is_harmless(self) -> bool:
        """Return whether readers would not mind it."""
        return not self.twin

    @property
    def summary(self) -> str:
        """Return the first sentence of the function's docstring."""
        return (self.apply.__doc__ or "").partition("\n")[0].strip()


DAMAGES: dict[str, Damage] = {}
"""Every damage by its name; `steps` imports the modules that declare them."""


def declare(level: Level, *, keeps_length: bool, dose: float, **more: Any) -> Callable[[Apply], Apply]:
    """Return a decorator that adds a function to `DAMAGES`, under its own name."""

    def add(function: Apply) -> Apply:
        DAMAGES[function.__name__] = Damage(function.__name__, function, level, keeps_length, dose, **more)
        return function

    return add


def harmful() -> list[Damage]:
    return [damage for damage in DAMAGES.values() if not damage.is_harmless]


def needs_spaces(language: str, **options: Any) -> str | None:
    """Say that a damage of single words needs spaces between words."""
    if LANGUAGES[language].has_spaces:
        return None
    return f"words are changed between spaces, which {name_of(language)} does not write; omit the step"


def combine(*lacks: Lack) -> Lack:
    """Return a function that says the first of several lacks."""

    def combined(language: str, **options: Any) -> str | None:
        reasons = (lack(language, **options) for lack in lacks)
        return next((reason for reason in reasons if reason is not None), None)

    return combined


def replace_some(document: Document, touch: Touch, find: Callable[[str], Sequence[Place]]) -> Document:
    """Replace the dose's share of the places that a function finds in the text of a section."""
    places = [find(section.text) for section in document.sections]
    return replace_places(document, places, set(touch.choose(sum(map(len, places))).tolist()))


def pair_in_cycle(documents: Sequence[Document], rng: np.random.Generator) -> list[Document]:
    return [documents[number] for number in sample_cycle(len(documents), rng)]


def sample_cycle(n: int, rng: np.random.Generator) -> list[int]:
    """Sample a random permutation of one cycle, which leaves no element in place if n > 1."""
    order = rng.permutation(n)
    permutation = np.empty(n, dtype=int)
    permutation[order] = np.roll(order, -1)
    return permutation.tolist()
