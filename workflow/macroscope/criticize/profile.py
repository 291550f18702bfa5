"""A first look at texts of the user's own, in seconds: what is there, and what it allows."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from statistics import median

import pandas as pd

from macroscope.corpora.files.reading import read_user_documents
from macroscope.corpora.plain_text import split_sentences
from macroscope.corpora.stop_words import known_languages, stop_words
from macroscope.documents import SPLITS, Count, Document, Provenance, opening_of

MOST_DOCUMENTS = 20_000
"""Documents of a side that are looked at."""
NARRATIVE_SENTENCES = 5
_LANGUAGE_WORDS = 200
_LEAST_STOP_WORDS = 0.15
"""Share of stop words below which a text's language is not known."""
_PERSON = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)


@dataclass
class Profile:
    """What one side is like.

    Attributes
    ----------
    name
        Of the side.
    words
        Of each document.
    ids, openings, texts
        Hashes of each document's id, its opening (0 where it has none) and its text.
    titled, with_persons, narratives
        Documents with section titles; that say "he" or "she" at least twice; of five sentences or more.
    splits, labels, languages
        How many documents have each; languages are told by stop words, "?" where none is clear.
    shortest, longest
        (words, id).
    counts
        What reading left out.
    is_all
        Whether all documents were looked at.
    """

    name: str
    words: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    openings: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    titled: int = 0
    with_persons: int = 0
    narratives: int = 0
    splits: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    shortest: tuple[int, str] | None = None
    longest: tuple[int, str] | None = None
    counts: Sequence[Count] = ()
    is_all: bool = True

    @property
    def documents(self) -> int:
        """Documents that were looked at."""
        return len(self.words)

    @property
    def repeated(self) -> int:
        """Documents whose text an earlier one has."""
        return self.documents - len(set(self.texts))

    def counted(self) -> dict[str, int]:
        """What critics may ask for (`critics.declaration.COUNTED`)."""
        return {
            "documents": self.documents,
            "titled": self.titled,
            "with_persons": self.with_persons,
            "narratives": self.narratives,
        }


def profile_texts(name: str, paths: Sequence[Path], shares: tuple[float, float] = (0.1, 0.2)) -> Profile:
    """Read the first documents of files and folders.

    Parameters
    ----------
    name
        Of this side.
    shares
        Of the validation and test splits, for documents that do not say theirs.

    Raises
    ------
    MacroscopeError
        Where a file cannot be read, or a record is malformed; with file and line.
    """
    found, provenance = Profile(name), Provenance(name)
    documents = read_user_documents(paths, provenance, *shares)
    for document in islice(documents, MOST_DOCUMENTS):
        _add(found, document)
    found.is_all = next(documents, None) is None
    found.counts = provenance.counts
    return found


def _add(found: Profile, document: Document) -> None:
    text = document.text
    words = len(text.split())
    found.words.append(words)
    found.ids.append(_hash(document.id))
    opening = opening_of(text)
    found.openings.append(_hash(opening) if opening else 0)
    found.texts.append(_hash(" ".join(text.split())))
    found.titled += any(section.title for section in document.sections)
    found.with_persons += len(_PERSON.findall(text)) > 1
    found.narratives += len(split_sentences(text)) >= NARRATIVE_SENTENCES
    found.splits[document.split] += 1
    if document.label is not None:
        found.labels[document.label] += 1
    found.languages[_language(text)] += 1
    size = (words, document.id)
    found.shortest = size if found.shortest is None else min(found.shortest, size)
    found.longest = size if found.longest is None else max(found.longest, size)


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def _language(text: str) -> str:
    """Language whose stop words make up most of the first words; "?" where that is too few."""
    words = [word.strip(".,;:!?\"'()").lower() for word in text.split()[:_LANGUAGE_WORDS]]
    shares = {name: sum(word in stop_words(name) for word in words) for name in known_languages()}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= _LEAST_STOP_WORDS * max(1, len(words)) else "?"


def table_of(reference: Profile, candidates: Sequence[Profile]) -> pd.DataFrame:
    """What a person is shown: a row a property, a column a side."""
    columns = {side.name: _column(side, reference) for side in (reference, *candidates)}
    order = dict.fromkeys(row for column in columns.values() for row in column.index)
    return pd.DataFrame(columns).reindex(list(order)).fillna("")


def _column(side: Profile, reference: Profile) -> pd.Series:
    of_reference = side is reference
    dropped = {count.filter: count.dropped for count in side.counts if count.dropped}
    rows: dict[str, str] = {
        "documents": f"{side.documents:,}" + ("" if side.is_all else " looked at, and more"),
        "words": f"{sum(side.words):,}; {median(side.words):,.0f} in the median text" if side.words else "0",
        "shortest text": _size(side.shortest),
        "longest text": _size(side.longest),
        "with section titles": f"{side.titled:,}",
        "language, by stop words": _shares(side.languages),
        "labels": f"{len(side.labels):,} on {side.labels.total():,} texts" if side.labels else "none",
        "splits": ", ".join(f"{split} {side.splits[split]:,}" for split in SPLITS) if of_reference else "",
        "texts that occur again": f"{side.repeated:,}",
        "left out": "; ".join(f"{number:,} {name}" for name, number in dropped.items()) or "none",
    }
    if not of_reference:
        rows["texts of the reference, word for word"] = f"{_shared(side.texts, reference.texts):,}"
        rows["ids of the reference"] = f"{_shared(side.ids, reference.ids):,}"
        rows["openings of the reference"] = f"{_shared(side.openings, reference.openings):,}"
    return pd.Series(rows)


def _size(size: tuple[int, str] | None) -> str:
    return "" if size is None else f"{size[0]:,} words ({size[1]})"


def _shares(counter: Mapping[str, int]) -> str:
    total = sum(counter.values())
    common = sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:3]
    names = {"?": "unknown"}
    return ", ".join(f"{names.get(name, name)} {_percent(number / total)}" for name, number in common)


def _percent(share: float) -> str:
    return "<1%" if share < 0.01 else f"{int(100 * share)}%"


def _shared(ours: Sequence[int], theirs: Sequence[int]) -> int:
    known = set(theirs) - {0}
    return sum(value in known for value in ours)
