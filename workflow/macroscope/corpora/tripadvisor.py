"""Source `tripadvisor`: hotel reviews, in LARA's files of hotels or as JSON Lines with one review per line.

LARA (Wang et al. 2010): a file is one hotel, a JSON object with `HotelInfo` and `Reviews`, a list of objects with
`ReviewID`, `Content` and others. The release is a tar archive of such files. Two traces of the web page are removed
from `Content`: line breaks (`<br/>`) become line ends, and calls of its script, `showReview(...)`, are deleted.
Everything else is kept, because the reviewer may have written it.

JSON Lines: a line is an object with `text` and optionally `id`, or a list of sentences. The reviews that INSET (Huang
et al. 2020) processed have that form after a conversion. According to INSET's README and code (not checked here),
`tripadvisor_review_processed_uncut.json` in its dataset.tar.gz is a list of reviews, each a list of sentences, in
Python's pickle format in spite of its name. Opening a pickle runs the code in it, so pickles are refused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import RetrievedCorpus, TextFilters
from macroscope.documents import Count, Document, Provenance, Section, keep, require_whole_characters
from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import parse_json
from macroscope.natural_language.sentences import split_sentences
from macroscope.options import UserPath
from macroscope.progress import Progress
from macroscope.readers.archives import open_members, read_member
from macroscope.readers.plain_text import tidy
from macroscope.readers.records import read_identifier, read_numbered_lines
from macroscope.readers.splits import assign_split

SOURCE = Source(options=":TripAdvisorCorpus", read=":read_tripadvisor")
_LINES = (".jsonl", ".jsonl.gz")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
_PICKLE = b"\x80"  # first byte of a pickle, and of no text in UTF-8
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SCRIPT = re.compile(r"showReview\([^()\n]*\)\s*;?")
_A_HOTEL = "a .json file is a hotel of LARA, an object with 'Reviews'; a file with a review per line is named .jsonl"
_A_LINE = "a line is an object with 'text' (a string), or a list of sentences"
_CONVERT = (
    "python -c 'import json, pickle, sys; [print(json.dumps(r)) for r in pickle.load(sys.stdin.buffer)]'"
    " < FILE > reviews.jsonl"
)


class TripAdvisorCorpus(RetrievedCorpus):
    """Options of hotel reviews, each a short narrative of sentences (Wang et al. 2010; cai2020)."""

    source: Literal["tripadvisor"]
    dataset: Literal["tripadvisor"] | None = Field(None, description="Data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead; each is a part: LARA's hotels (.json, or a .tar.bz2, .tar.gz, .tar or .zip of"
        " such files), or JSON Lines (.jsonl, .jsonl.gz) with a review per line: an object with `text`, or a list of"
        " sentences.",
    )
    fewest_sentences: int = Field(
        8,
        ge=1,
        description="Fewest sentences of a review. cai2020's segments have 8; INSET kept reviews of 7 or more.",
    )
    most_words: int | None = Field(
        30,
        ge=1,
        description="Longest sentence, in words between white space; a review with a longer one is dropped (none: any"
        " length). INSET's sentences have fewer than 32 tokens of BERT, with the two special ones; words approximate"
        " tokens, and let a little more pass.",
    )
    filters: TextFilters = Field(TextFilters(), description="Filters that choose the reviews.")


@dataclass(frozen=True)
class Review:
    """A review: its id, and its text or its sentences."""

    id: str
    text: str | list[str]


def read_tripadvisor(
    options: TripAdvisorCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the reviews of a file; each has `sentences`, and one section that joins them.

    Parameters
    ----------
    provenance
        Receives the counts: reviews without text, with too few sentences, with too long a sentence, or with an id that
        occurred before.
    """
    fewest, most = options.fewest_sentences, options.most_words
    empty = Count("review without text", 0, 0)
    few = Count(f"fewer than {fewest} sentences (fewest_sentences)", 0, 0, option="fewest_sentences")
    long = Count(f"a sentence of more than {most} words (most_words)", 0, 0, option="most_words")
    duplicates = Count("review id that occurred before", 0, 0)
    provenance.counts += [empty, few, *([] if most is None else [long]), duplicates]
    provenance.source.update(file=path.name)
    seen: set[str] = set()
    with Progress(f"extract {path.name}", unit="reviews") as progress:
        for review in read_reviews(path):
            progress.advance(1)
            sentences = _sentences(review, options.language)
            if not keep(empty, bool(sentences)) or not keep(few, len(sentences) >= fewest):
                continue
            if not keep(long, most is None or max(len(sentence.split()) for sentence in sentences) <= most):
                continue
            if keep(duplicates, review.id not in seen):
                seen.add(review.id)
                split = assign_split(review.id, options.valid_share, options.test_share)
                yield Document(review.id, split, None, (Section(None, " ".join(sentences)),), sentences=sentences)


def _sentences(review: Review, language: str) -> tuple[str, ...]:
    """Return the sentences of a review, each on one line, without empty ones."""
    given = review.text
    sentences = given if isinstance(given, list) else split_sentences(tidy(given), language)
    return tuple(line for line in (" ".join(tidy(sentence).split()) for sentence in sentences) if line)


def read_reviews(path: Path) -> Iterator[Review]:
    """Stream the reviews of a file or archive, a hotel or a line at a time.

    The id is the review's own, or else the file's name and the number of the review or of the line.
    """
    name = path.name.lower()
    if not path.is_file():
        raise no_such_file(path)
    if name.endswith(_LINES):
        return _read_lines(path)
    if name.endswith(".json"):
        with path.open("rb") as stream:
            return _parse_hotel(read_member(stream, str(path)), path.stem, str(path))
    if name.endswith((".zip", *_TARS)):
        return _read_archive(path)
    raise MacroscopeError(
        f"{path}: unknown format; give hotels of LARA (.json, or a .tar.bz2, .tar.gz, .tar or .zip of them),"
        " or JSON Lines (.jsonl, .jsonl.gz)"
    )


def clean_review(content: str) -> str:
    return _SCRIPT.sub(" ", _BREAK.sub("\n", content))


def _read_lines(path: Path) -> Iterator[Review]:
    with path.open("rb") as stream:
        _refuse_pickle(stream.read(1), str(path))
    stem = path.name.split(".")[0]
    for number, line in read_numbered_lines(path):
        if line.strip():
            where = f"{path}, line {number}"
            yield _parse_line(parse_json(line.encode(), where, f"; {_A_LINE}"), f"{stem}-{number}", where)


def _parse_line(record: Any, default_id: str, where: str) -> Review:
    if isinstance(record, list) and all(isinstance(sentence, str) for sentence in record):
        return Review(default_id, record)
    if isinstance(record, dict) and isinstance(record.get("text"), str):
        return Review(read_identifier(record, "id", default_id, where), require_whole_characters(record["text"], where))
    raise MacroscopeError(f"{where}: neither a text nor a list of sentences; {_A_LINE}")


def _read_archive(path: Path) -> Iterator[Review]:
    missing = "no .json file in this archive; give TripAdvisorJson.tar.bz2 of LARA"
    with open_members(path, _is_json, missing) as members:
        for name, member in members:
            where = f"{path}, {name}"
            with member as stream:
                data = read_member(stream, where)
            yield from _parse_hotel(data, PurePosixPath(name).stem, where)


def _is_json(name: str) -> bool:
    """Return whether a member of an archive is a .json file, and not a hidden one that macOS adds."""
    return name.lower().endswith(".json") and not PurePosixPath(name).name.startswith(".")


def _parse_hotel(data: bytes, stem: str, where: str) -> Iterator[Review]:
    _refuse_pickle(data, where)
    hotel = parse_json(data, where, f"; {_A_HOTEL}")
    reviews = hotel.get("Reviews") if isinstance(hotel, dict) else None
    if not isinstance(reviews, list):
        raise MacroscopeError(f"{where}: no list 'Reviews' in it; {_A_HOTEL}")
    for number, record in enumerate(reviews, start=1):
        place = f"{where}, review {number}"
        content = record.get("Content") if isinstance(record, dict) else record
        if not isinstance(record, dict) or not isinstance(content, str | None):
            raise MacroscopeError(
                f"{place}: 'Content' is a {type(content).__name__}; a review of LARA is an object whose 'Content' is a"
                " string"
            )
        yield Review(
            read_identifier(record, "ReviewID", f"{stem}-{number}", place),
            clean_review(require_whole_characters(content or "", place)),
        )


def _refuse_pickle(start: bytes, where: str) -> None:
    if start.startswith(_PICKLE):
        raise MacroscopeError(
            f"{where}: a Python pickle, which is not opened because that runs the code in it; if you trust the file,"
            f" convert it to JSON Lines, a review per line: {_CONVERT}"
        )
