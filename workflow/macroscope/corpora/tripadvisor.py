"""From files to hotel reviews: LARA's hotels, and JSON Lines with a review a line.

LARA (Wang et al. 2010): a file is one hotel, a JSON object with `Reviews`, a list of objects with `ReviewID`, `Content`
and others, and with `HotelInfo`. The release is a tar archive of such files. Two traces of the web page go from
`Content`: its line breaks (`<br/>`) end a line, and calls of its script, `showReview(...)`, are left out. All else
stays: it may be what the reviewer wrote.

JSON Lines: a line is an object with `text`, and perhaps an `id`, or a list of sentences. What INSET (Huang et al. 2020)
made of the reviews has that form once it is converted. INSET's README and code say, and it has not been seen here, that
`tripadvisor_review_processed_uncut.json` in its dataset.tar.gz is a list of reviews, each a list of sentences, written
by Python's pickle in spite of its name. To open a pickle runs the code in it, so none is opened here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import Field

from macroscope.corpora.archives import open_archive, open_member, open_zip, read_member
from macroscope.corpora.declaration import Source
from macroscope.corpora.lines import identifier_of, numbered_lines
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.corpora.plain_text import split_sentences, tidy
from macroscope.corpora.splits import split_of
from macroscope.documents import Count, Document, Provenance, Section, keep, whole_characters
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json
from macroscope.options import UserPath
from macroscope.progress import Progress

SOURCE = Source(options=":TripAdvisorCorpus", read=":read_tripadvisor")


class TripAdvisorCorpus(Corpus):
    """Hotel reviews, each a short narrative of sentences (Wang et al. 2010; cai2020)."""

    source: Literal["tripadvisor"]
    dataset: Literal["tripadvisor"] | None = Field(None, description="The data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: hotels as LARA has them (.json, or a .tar.bz2, .tar.gz, .tar"
        " or .zip of such files), or JSON Lines (.jsonl, .jsonl.gz) with a review a line: an object with `text`, or a"
        " list of sentences.",
    )
    fewest_sentences: int = Field(
        8,
        ge=1,
        description="Fewest sentences of a review: cai2020's segments have 8; INSET kept reviews of 7 and more.",
    )
    most_words: int | None = Field(
        30,
        ge=1,
        description="Longest sentence, in words between white space; a review with a longer one is dropped (none: any"
        " length). INSET's sentences have fewer than 32 tokens of BERT, its two special ones among them; words stand in"
        " for tokens, and let a little more through.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which reviews are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.raw_files import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)


_LINES = (".jsonl", ".jsonl.gz")
_TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz")
_PICKLE = b"\x80"  # a pickle begins with this byte, and no text in UTF-8 does
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_SCRIPT = re.compile(r"showReview\([^()\n]*\)\s*;?")
_A_HOTEL = "a .json file is a hotel of LARA, an object with 'Reviews'; a file with a review a line is named .jsonl"
_A_LINE = "a line is an object with 'text' (a string), or a list of sentences"
_CONVERT = (
    "python -c 'import json, pickle, sys; [print(json.dumps(r)) for r in pickle.load(sys.stdin.buffer)]'"
    " < FILE > reviews.jsonl"
)


@dataclass(frozen=True)
class Review:
    """A review: its id, and its text, or its sentences where they are known."""

    id: str
    text: str | list[str]


def read_reviews(path: Path) -> Iterator[Review]:
    """Stream the reviews of a file or archive, a hotel or a line at a time.

    An id is that of the review, or where there is none the file's name and the number of the review or the line.

    Raises
    ------
    MacroscopeError
        Where a file is of another format, a Python pickle, broken or malformed; with the line where there is one.
    """
    name = path.name.lower()
    if not path.is_file():
        raise MacroscopeError(f"{path}: no such file")
    if name.endswith(_LINES):
        return _of_lines(path)
    if name.endswith(".json"):
        with path.open("rb") as stream:
            return _of_hotel(read_member(stream, str(path)), path.stem, str(path))
    if name.endswith((".zip", *_TARS)):
        return _of_archive(path)
    raise MacroscopeError(
        f"{path}: this format is not known; give hotels of LARA (.json, or a .tar.bz2, .tar.gz, .tar or .zip of them),"
        " or JSON Lines (.jsonl, .jsonl.gz)"
    )


def cleaned(content: str) -> str:
    """Take the traces of the web page off a review."""
    return _SCRIPT.sub(" ", _BREAK.sub("\n", content))


def _of_lines(path: Path) -> Iterator[Review]:
    with path.open("rb") as stream:
        _refuse_pickle(stream.read(1), str(path))
    stem = path.name.split(".")[0]
    for number, line in numbered_lines(path):
        if line.strip():
            where = f"{path}, line {number}"
            yield _of_line(parse_json(line.encode(), where, f"; {_A_LINE}"), f"{stem}-{number}", where)


def _of_line(record: Any, default_id: str, where: str) -> Review:
    if isinstance(record, list) and all(isinstance(sentence, str) for sentence in record):
        return Review(default_id, record)
    if isinstance(record, dict) and isinstance(record.get("text"), str):
        return Review(identifier_of(record, "id", default_id, where), whole_characters(record["text"], where))
    raise MacroscopeError(f"{where}: neither a text nor a list of sentences; {_A_LINE}")


def _of_archive(path: Path) -> Iterator[Review]:
    found = False
    for name, data in (_zipped if path.suffix.lower() == ".zip" else _tarred)(path):
        found = True
        yield from _of_hotel(data, PurePosixPath(name).stem, f"{path}, {name}")
    if not found:
        raise MacroscopeError(f"{path}: no .json file in this archive; give TripAdvisorJson.tar.bz2 of LARA")


def _tarred(path: Path) -> Iterator[tuple[str, bytes]]:
    with open_archive(path) as archive:
        for member in archive:
            # A link may lead to nothing, or to itself.
            stream = archive.extractfile(member) if member.isfile() and _is_json(member.name) else None
            if stream is not None:
                yield member.name, read_member(stream, f"{path}, {member.name}")


def _zipped(path: Path) -> Iterator[tuple[str, bytes]]:
    with open_zip(path) as archive:
        for name in filter(_is_json, archive.namelist()):
            with open_member(archive, path, name) as stream:
                yield name, read_member(stream, f"{path}, {name}")


def _is_json(name: str) -> bool:
    """Whether a member of an archive is a .json file; macOS puts hidden ones beside the files."""
    return name.lower().endswith(".json") and not PurePosixPath(name).name.startswith(".")


def _of_hotel(data: bytes, stem: str, where: str) -> Iterator[Review]:
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
            identifier_of(record, "ReviewID", f"{stem}-{number}", place),
            cleaned(whole_characters(content or "", place)),
        )


def _refuse_pickle(start: bytes, where: str) -> None:
    if start.startswith(_PICKLE):
        raise MacroscopeError(
            f"{where}: a Python pickle, which is not opened, since that runs the code in it; where you trust the file,"
            f" convert it to JSON Lines, a review a line: {_CONVERT}"
        )


def read_tripadvisor(
    options: TripAdvisorCorpus, path: Path, provenance: Provenance, workers: int = 1
) -> Iterator[Document]:
    """Stream the reviews of a file; each has `sentences`, and one section with these one after the other.

    Parameters
    ----------
    provenance
        Receives the counts: reviews without text, with too few sentences, with a sentence that is too long, with an id
        that occurred before.
    workers
        Not used: reading is no faster than the decompression.

    Raises
    ------
    MacroscopeError
        Where a file is broken or of another format; see `macroscope.corpora.tripadvisor.read_reviews`.
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
                split = split_of(review.id, options.valid_share, options.test_share)
                yield Document(review.id, split, None, (Section(None, " ".join(sentences)),), sentences=sentences)


def _sentences(review: Review, language: str) -> tuple[str, ...]:
    """Sentences of a review, each on one line; white space alone is none."""
    given = review.text
    found = given if isinstance(given, list) else split_sentences(tidy(given), language)
    return tuple(line for line in (" ".join(tidy(sentence).split()) for sentence in found) if line)
