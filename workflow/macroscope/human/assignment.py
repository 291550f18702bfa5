"""Who judges what: documents drawn at random, dealt to annotators so that systems and people are balanced.

Every system has as many documents, every document as many annotators. Within a system, the numbers of documents of any
two annotators differ by one at most; ties go to who has the least so far, then to who has met the others of this
document least often, so that everybody can be compared with everybody. Each annotator has an order of their own, and
repeated documents come in its second half. Codes are random, another one for every time that a document is shown:
they tell neither the system nor that two annotators, or the same one twice, see the same text.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.human.pool import Pool

_CODE_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_CODE_LENGTH = 8


@dataclass(frozen=True)
class Showing:
    """One time that an annotator is shown a document.

    Attributes
    ----------
    repeat
        Whether the annotator has seen the document before.
    """

    annotator: str
    code: str
    system: str
    document: Document
    repeat: bool


@dataclass(frozen=True)
class Design:
    """How much is shown to whom.

    Attributes
    ----------
    per_system
        Documents of each system.
    annotators
        Number of them.
    per_document
        Annotators of each document.
    repeated
        Share of an annotator's documents that are shown a second time.
    training
        Documents of the training phase.
    seed
        Of all that is drawn.
    """

    per_system: int
    annotators: int
    per_document: int
    repeated: float
    training: int
    seed: int


def draw(pool: Pool, design: Design) -> tuple[list[Showing], list[Document]]:
    """Draw a sheet.

    Returns
    -------
    showings
        In the order in which each annotator sees them.
    training
        Documents of the training phase, the same for all.

    Raises
    ------
    MacroscopeError
        Where more is asked for than there is.
    """
    _require(pool, design)
    rng = np.random.default_rng(design.seed)
    names = [f"annotator-{number + 1}" for number in range(design.annotators)]
    dealt: dict[str, list[tuple[str, Document]]] = {name: [] for name in names}
    met: Counter[frozenset[str]] = Counter()
    for system, documents in pool.systems.items():
        chosen = [documents[i] for i in rng.permutation(len(documents))[: design.per_system]]
        here: Counter[str] = Counter()
        for document in chosen:
            shown = {name: len(already) for name, already in dealt.items()}
            taken = _annotators(design.per_document, [names[i] for i in rng.permutation(len(names))], here, shown, met)
            for name in taken:
                dealt[name].append((system, document))
            here.update(taken)
            met.update(frozenset(pair) for pair in combinations(taken, 2))
    codes = _Codes(rng)
    showings = [showing for name in names for showing in _ordered(name, dealt[name], design.repeated, codes, rng)]
    training = [pool.training[i] for i in rng.permutation(len(pool.training))[: design.training]]
    return showings, training


def _annotators(
    number: int, order: Sequence[str], here: Counter[str], shown: dict[str, int], met: Counter[frozenset[str]]
) -> list[str]:
    """Who judges a document: those with the fewest documents of its system, then of all, then together so far."""
    taken: list[str] = []

    def burden(name: str) -> tuple[int, int, int]:
        return here[name], shown[name], sum(met[frozenset({name, other})] for other in taken)

    for _ in range(number):
        taken.append(min((name for name in order if name not in taken), key=burden))
    return taken


def _require(pool: Pool, design: Design) -> None:
    if len(pool.systems) == 0:
        raise MacroscopeError("there is no system to draw from; give texts with --real and --system, or a --run")
    for system, documents in pool.systems.items():
        if len(documents) < design.per_system:
            raise MacroscopeError(
                f"system '{system}' has {len(documents):,} documents that can be shown, and {design.per_system:,} of"
                " each are asked for; give more texts, or a smaller --documents"
            )
    if design.per_document > design.annotators:
        raise MacroscopeError(
            f"--per-document {design.per_document} is more than {design.annotators} annotators; give at most as many"
        )
    if len(pool.training) < design.training:
        raise MacroscopeError(
            f"{len(pool.training):,} real documents have a title for every section, and {design.training:,} are asked"
            " for the training phase; give more real documents with titled sections, or a smaller --training"
        )


class _Codes:
    """Random codes, none of them twice."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.used = rng, set[str]()

    def __call__(self) -> str:
        while True:
            code = "".join(_CODE_LETTERS[i] for i in self.rng.integers(0, len(_CODE_LETTERS), _CODE_LENGTH))
            if code not in self.used:
                self.used.add(code)
                return code


def _ordered(
    annotator: str,
    documents: Sequence[tuple[str, Document]],
    repeated: float,
    codes: _Codes,
    rng: np.random.Generator,
) -> list[Showing]:
    """Documents of one annotator in a random order, some of the first half again in the second."""
    order = [documents[i] for i in rng.permutation(len(documents))]
    first = [Showing(annotator, codes(), system, document, False) for system, document in order]
    half = (len(first) + 1) // 2
    again = [
        Showing(annotator, codes(), one.system, one.document, True)
        for one in _balanced(first[:half], round(repeated * len(first)))
    ]
    rest = first[half:]
    for showing in again:
        rest.insert(int(rng.integers(0, len(rest) + 1)), showing)
    return [*first[:half], *rest]


def _balanced(showings: Sequence[Showing], number: int) -> list[Showing]:
    """The first ones, of each system in turn."""
    turn: Counter[str] = Counter()
    keyed = []
    for position, showing in enumerate(showings):
        keyed.append((turn[showing.system], position, showing))
        turn[showing.system] += 1
    return [showing for _, _, showing in sorted(keyed, key=lambda one: one[:2])[:number]]
