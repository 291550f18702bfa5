"""Random assignment of documents to annotators, balanced over systems and annotators.

Every system has equally many documents, and every document equally many annotators. Within a system, the numbers of
documents of any two annotators differ by at most one; ties go to the annotator with the fewest documents so far, then
to the one who least often shares documents with the other annotators of this document, so that all pairs of annotators
can be compared. Each annotator has a random order of documents, with repeated documents in the second half. Codes are
random and differ at every showing of a document: they reveal neither the system nor that two annotators, or the same
one twice, see the same text. The documents of a screening task come first, in random order, for every annotator.
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
SCREENING = "screening"
"""Name of the system whose documents are those of the screening task."""


@dataclass(frozen=True)
class Showing:
    """A single presentation of a document to an annotator.

    Attributes
    ----------
    annotator
        Name of the annotator.
    code
        Random code of the showing.
    system
        Name of the document's system.
    document
        Document that is shown.
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
    """Design of a study.

    Attributes
    ----------
    per_system
        Number of documents per system.
    annotators
        Number of annotators.
    per_document
        Number of annotators per document.
    repeated
        Share of an annotator's documents that are shown a second time.
    training
        Number of documents of the training phase.
    seed
        Seed of all random choices.
    passing
        Share of right answers in the screening task from which on an annotator's answers count.
    """

    per_system: int
    annotators: int
    per_document: int
    repeated: float
    training: int
    seed: int
    passing: float = 0.8


def assign_documents(pool: Pool, design: Design) -> tuple[list[Showing], list[Document]]:
    """Sample documents and assign them to annotators.

    Returns
    -------
    showings
        Showings, in each annotator's order.
    training
        Documents of the training phase, the same for all annotators.
    """
    _require(pool, design)
    rng = np.random.default_rng(design.seed)
    names = [f"annotator-{number + 1}" for number in range(design.annotators)]
    assigned: dict[str, list[tuple[str, Document]]] = {name: [] for name in names}
    shared: Counter[frozenset[str]] = Counter()
    for system, documents in pool.systems.items():
        chosen = [documents[i] for i in rng.permutation(len(documents))[: design.per_system]]
        in_system: Counter[str] = Counter()
        for document in chosen:
            totals = {name: len(documents_so_far) for name, documents_so_far in assigned.items()}
            order = [names[i] for i in rng.permutation(len(names))]
            selected = _select_annotators(design.per_document, order, in_system, totals, shared)
            for name in selected:
                assigned[name].append((system, document))
            in_system.update(selected)
            shared.update(frozenset(pair) for pair in combinations(selected, 2))
    codes = _Codes(rng)
    screening = [(SCREENING, document) for document, _ in pool.screening]
    showings = [
        showing
        for name in names
        for documents, repeated in ((screening, 0.0), (assigned[name], design.repeated))
        for showing in _order_showings(name, documents, repeated, codes, rng)
    ]
    training = [pool.training[i] for i in rng.permutation(len(pool.training))[: design.training]]
    return showings, training


def _select_annotators(
    number: int, order: Sequence[str], in_system: Counter[str], totals: dict[str, int], shared: Counter[frozenset[str]]
) -> list[str]:
    """Select the annotators with the fewest documents of the system, then in total, then shared with each other."""
    selected: list[str] = []

    def burden(name: str) -> tuple[int, int, int]:
        return in_system[name], totals[name], sum(shared[frozenset({name, partner})] for partner in selected)

    for _ in range(number):
        selected.append(min((name for name in order if name not in selected), key=burden))
    return selected


def _require(pool: Pool, design: Design) -> None:
    if len(pool.systems) == 0:
        raise MacroscopeError("there are no documents to sample; give texts with --real and --system, or a --run")
    for system, documents in pool.systems.items():
        if len(documents) < design.per_system:
            raise MacroscopeError(
                f"system '{system}' has {len(documents):,} usable documents, but the design needs"
                f" {design.per_system:,}; give more texts, or a smaller --documents"
            )
    if design.per_document > design.annotators:
        raise MacroscopeError(
            f"--per-document {design.per_document} exceeds the {design.annotators} annotators; give at most this number"
        )
    if len(pool.training) < design.training:
        raise MacroscopeError(
            f"{len(pool.training):,} real documents have a title for every section, but the training phase needs"
            f" {design.training:,}; give more real documents with titled sections, or a smaller --training"
        )


class _Codes:
    """Generator of unique random codes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.used = rng, set[str]()

    def __call__(self) -> str:
        while True:
            code = "".join(_CODE_LETTERS[i] for i in self.rng.integers(0, len(_CODE_LETTERS), _CODE_LENGTH))
            if code not in self.used:
                self.used.add(code)
                return code


def _order_showings(
    annotator: str,
    documents: Sequence[tuple[str, Document]],
    repeated: float,
    codes: _Codes,
    rng: np.random.Generator,
) -> list[Showing]:
    """Return an annotator's documents in random order, with some of the first half repeated in the second."""
    order = [documents[i] for i in rng.permutation(len(documents))]
    first = [Showing(annotator, codes(), system, document, False) for system, document in order]
    half = (len(first) + 1) // 2
    again = [
        Showing(annotator, codes(), showing.system, showing.document, True)
        for showing in _select_balanced(first[:half], round(repeated * len(first)))
    ]
    rest = first[half:]
    for showing in again:
        rest.insert(int(rng.integers(0, len(rest) + 1)), showing)
    return [*first[:half], *rest]


def _select_balanced(showings: Sequence[Showing], number: int) -> list[Showing]:
    """Return the first showings, cycling through the systems."""
    counts: Counter[str] = Counter()
    keyed = []
    for position, showing in enumerate(showings):
        keyed.append((counts[showing.system], position, showing))
        counts[showing.system] += 1
    return [showing for _, _, showing in sorted(keyed, key=lambda item: item[:2])[:number]]
