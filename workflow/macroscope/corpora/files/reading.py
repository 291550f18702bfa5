"""Reader of the source `files`: the user's own documents, or their model's texts, in common formats.

The formats are JSON Lines (also gzipped), a JSON list, Parquet, CSV, and a folder of .txt and .md files. A record has
`sections` (a list of strings, or of objects with `text` and optionally `title`; with strings also `section_names`, as
in deng2022's released data) or `text`, which is split at its headings or blank lines. The fields `id`, `title`,
`split`, `label` and `original` are optional.
"""

import csv
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from macroscope.corpora.files import FilesCorpus
from macroscope.corpora.files.hard_wraps import join_hard_wraps
from macroscope.corpora.files.headings import NONE, SplitText, split_sections
from macroscope.corpora.plain_text import compose, tidy
from macroscope.corpora.records import UniqueIds, read_numbered_records, read_numbered_rows
from macroscope.corpora.splits import assign_split
from macroscope.documents import SPLITS, Count, Document, Provenance, Section, keep, validate
from macroscope.errors import MacroscopeError
from macroscope.files import parse_json, read_json, require_regular

_TEXT_SUFFIXES = (".txt", ".md", ".markdown")
NOT_COMPOSED = "not_composed"
HARD_WRAPPED = "hard_wrapped"
"""Entries of the provenance's source: numbers of records with characters that were not in Unicode's composed form, and
with lines that were joined."""
_HIDDEN = ("__MACOSX", "__pycache__")
"""Folders that systems and programs make beside texts, besides those whose names begin with a dot."""
_ABOUT_FOLDER = ("readme", "license", "licence")
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")
_FORMATS = "JSON Lines (.jsonl, .jsonl.gz), Parquet (.parquet), CSV (.csv), or a folder of .txt or .md files"
_FIELDS = ("id", "title", "text", "sections", "section_names", "split", "label", "original")
"""Fields of a record that are read; all others are ignored."""


@dataclass(frozen=True)
class Record:
    """A record and its place; lines, rows and items count from 1.

    Attributes
    ----------
    fields
        Fields of the record among `id`, `title`, `text`, `sections`, `section_names`, `split`, `label`, `original`.
    where
        File and line, for messages.
    default_id
        Id of the document if the record has no `id`.
    """

    fields: dict[str, Any]
    where: str
    default_id: str


@dataclass
class _Counts:
    empty_sections: Count = field(default_factory=lambda: Count("section without text", 0, 0, "sections"))
    without_text: Count = field(default_factory=lambda: Count("document without text", 0, 0))
    duplicates: Count = field(default_factory=lambda: Count("the same document again (id and text)", 0, 0))
    removed: dict[str, Count] = field(default_factory=dict)
    headings: Counter[str] = field(default_factory=Counter)

    def add(self, split: SplitText, provenance: Provenance) -> None:
        """Count the kind of headings of a text, and what was taken off: a count per kind that occurs."""
        for kind in split.removed:
            if kind not in self.removed:
                self.removed[kind] = Count(kind, self.headings.total(), 0, "texts")
                provenance.counts.append(self.removed[kind])
        for kind, count in self.removed.items():
            keep(count, kind not in split.removed)
        self.headings[split.headings] += 1


def read_files(options: FilesCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of one file or folder, as the source `files`; see `read_user_documents`."""
    provenance.source.update(file=path.name)
    names = make_file_namer([Path(file) for file in options.files])
    documents = read_user_documents(
        [path], provenance, options.valid_share, options.test_share, options.one_section, names
    )
    return documents if options.split is None else (replace(document, split=options.split) for document in documents)


def read_user_documents(
    paths: Sequence[Path],
    provenance: Provenance,
    valid_share: float,
    test_share: float,
    one_section: bool = False,
    names: "FileNamer | None" = None,
) -> Iterator[Document]:
    """Stream documents from files or folders, in the order given, folders by name.

    Parameters
    ----------
    paths
        Files and folders, at least one.
    provenance
        Receives the counts: files of folders that are not texts, sections without text, documents without text,
        repeated documents, texts with each kind of wrapping, which is taken off. Its source receives the number of
        texts with each kind of headings, and `NOT_COMPOSED` and `HARD_WRAPPED` if there are any.
    valid_share, test_share
        Shares for documents without a `split`; see `macroscope.corpora.splits.assign_split`.
    one_section
        True if a plain `text` is one section without a title; otherwise, it is split at its headings or blank lines.
    names
        Function that names files, for the ids of documents without `id`; default: `make_file_namer(paths)`. A reader of
        some of several files needs the names of all.

    Raises
    ------
    MacroscopeError
        If a file has another format or is unreadable, a record is malformed, or two documents have one id; with file
        and line.
    """
    records = _records(paths, names or make_file_namer(paths), provenance)
    yield from parse_records(records, provenance, valid_share, test_share, one_section)


def parse_records(
    records: Iterable["Record"], provenance: Provenance, valid_share: float, test_share: float, one_section: bool
) -> Iterator[Document]:
    """Convert records to documents; parameters, counts and errors are those of `read_user_documents`."""
    counts = _Counts()
    provenance.counts += [counts.empty_sections, counts.without_text, counts.duplicates]
    provenance.source["headings"] = counts.headings
    unique = UniqueIds()
    for record in (_normalised(record, provenance) for record in records):
        split = _split(record, one_section)
        counts.add(split, provenance)
        document = _document(record, split, counts, valid_share, test_share)
        if document is not None:
            validate(document, record.where)
        if document is not None and keep(counts.duplicates, unique.is_new(document, record.where)):
            yield document


FileNamer = Callable[[Path], str]
"""Function from a file to the name that the ids of its documents begin with."""


def make_file_namer(paths: Iterable[Path]) -> FileNamer:
    """Make a function that names files, by their paths below the common folder of all files and folders.

    A single file gets its own name, a file of a single folder its path in that folder. Names are unique.
    """
    folders = [os.path.abspath(path if path.is_dir() else path.parent) for path in paths]
    common = os.path.commonpath(folders)

    def name(file: Path) -> str:
        below = os.path.relpath(os.path.abspath(file), common)
        # A file name may hold bytes that are not UTF-8; an id must not.
        return below.replace(os.sep, "/").encode("utf-8", "backslashreplace").decode()

    return name


def _records(paths: Sequence[Path], names: FileNamer, provenance: Provenance) -> Iterator[Record]:
    counts = _FolderCounts()
    if any(path.is_dir() for path in paths):
        provenance.counts += [counts.texts, counts.links, counts.others]
    for path in paths:
        for file in _files(path, counts):
            yield from _file_records(file, names(file))


@dataclass
class _FolderCounts:
    texts: Count = field(default_factory=lambda: Count("file of a folder that is no .txt or .md", 0, 0, "files"))
    links: Count = field(
        default_factory=lambda: Count("link in a folder to another folder, or to nothing", 0, 0, "links")
    )
    others: Count = field(default_factory=lambda: Count("hidden file, README or licence of a folder", 0, 0, "files"))


def _files(path: Path, counts: _FolderCounts) -> list[Path]:
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file or folder")
    require_regular(path)
    if path.is_file():
        return [path]
    followed = (file for file in path.rglob("*") if not file.is_symlink() or keep(counts.links, file.is_file()))
    files = (file for file in followed if file.is_file() and keep(counts.others, _is_content(file, path)))
    text_files = sorted(file for file in files if keep(counts.texts, file.suffix.lower() in _TEXT_SUFFIXES))
    if not text_files:
        raise MacroscopeError(f"{path}: no .txt or .md file in this folder; give {_FORMATS}")
    return text_files


def _is_content(file: Path, folder: Path) -> bool:
    """Return whether a file of a folder may be one of its texts: not hidden, and not about the folder."""
    parts = file.relative_to(folder).parts
    return not any(part.startswith(".") or part in _HIDDEN for part in parts) and file.stem.lower() not in _ABOUT_FOLDER


def _file_records(file: Path, name_in_ids: str) -> Iterator[Record]:
    name = file.name.lower()
    if name.endswith(_TEXT_SUFFIXES):
        # A whole file is one document, with the file's name as its id.
        text = _read_text(file)
        if _is_json_lines(text):
            raise MacroscopeError(f"{file}: JSON Lines in a text file; call it .jsonl, so that each line is a document")
        yield Record({"text": text}, str(file), name_in_ids)
        return
    if name.endswith(".json") and _is_json_list(file):
        rows, unit = _json_list(file), "item"
    elif name.endswith(_JSON_SUFFIXES):
        rows, unit = read_numbered_records(file), "line"
    elif name.endswith(".parquet"):
        rows, unit = read_numbered_rows(file, _FIELDS), "row"
    elif name.endswith(".csv"):
        rows, unit = _csv_rows(file), "line"
    else:
        raise MacroscopeError(f"{file}: unknown format; give {_FORMATS}")
    for number, fields in rows:
        yield Record(fields, f"{file}, {unit} {number}", f"{name_in_ids}-{number}")


def _read_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{file}: not valid UTF-8 (byte {error.start + 1:,}); save the file as UTF-8") from None


def _is_json_lines(text: str) -> bool:
    """Return whether the first line is a record with `text` or `sections`."""
    first = text.lstrip().partition("\n")[0]
    if not first.startswith("{"):
        return False
    try:
        record = parse_json(first.encode(), "", "")
    except (MacroscopeError, UnicodeEncodeError):
        return False
    return isinstance(record, dict) and bool({"text", "sections"} & set(record))


def _is_json_list(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")


def _json_list(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the items of a JSON list, deng2022's released layout; only this format is read as a whole."""
    for number, item in enumerate(read_json(file), start=1):
        if not isinstance(item, dict):
            raise MacroscopeError(
                f"{file}, item {number}: is a {type(item).__name__}, not an object; give a list of objects"
            )
        yield number, item


def _csv_rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(sys.maxsize)
    with file.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream, strict=True)
        rows = reader.reader
        try:
            names = reader.fieldnames or []
            if repeated := next((name for name in names if names.count(name) > 1), None):
                raise MacroscopeError(f"{file}: two columns are called {repeated!r}; rename one")
            for row in reader:
                if None in row or None in row.values():
                    raise MacroscopeError(
                        f"{file}, line {reader.line_num}: another number of fields than in the first line; quote fields"
                        " that contain commas"
                    )
                yield reader.line_num, _from_csv(row, f"{file}, line {reader.line_num}")
        except csv.Error as error:
            # Line number of the broken row: `reader` still has that of the last good row.
            raise MacroscopeError(f"{file}, line {rows.line_num}: not valid CSV ({error})") from None
        except UnicodeDecodeError:
            raise MacroscopeError(
                f"{file}, after line {reader.line_num}: not valid UTF-8; save the file as UTF-8"
            ) from None


def _from_csv(row: dict[str, str], where: str) -> dict[str, Any]:
    """Parse lists, which CSV lacks, from JSON in the field; drop empty optional fields."""
    fields: dict[str, Any] = {name: value for name, value in row.items() if value or name == "text"}
    for name in ("sections", "section_names"):
        if name in fields:
            try:
                fields[name] = parse_json(
                    fields[name].encode(), f"{where}: '{name}'", "; in CSV, give 'text', or a JSON list"
                )
            except UnicodeEncodeError:
                raise MacroscopeError(f"{where}: '{name}' is not valid Unicode; write it again") from None
    return fields


def _document(
    record: Record, split: SplitText, counts: _Counts, valid_share: float, test_share: float
) -> Document | None:
    raw = split.sections
    sections = tuple(section for section in raw if section.text)
    counts.empty_sections.kept += len(sections)
    counts.empty_sections.dropped += len(raw) - len(sections)
    if not keep(counts.without_text, bool(sections)):
        return None
    identifier = _string_or_number(record, "id") or record.default_id
    title = _optional_string(record, "title") or split.title
    of_split = _optional_string(record, "split") or assign_split(identifier, valid_share, test_share)
    if of_split not in SPLITS:
        raise MacroscopeError(f"{record.where}: 'split' is {of_split!r}; it must be one of {', '.join(SPLITS)}")
    label, original = _string_or_number(record, "label"), _optional_string(record, "original")
    return Document(identifier, of_split, title, sections, label=label, original=original)


def _string_or_number(record: Record, name: str) -> str | None:
    value = record.fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise MacroscopeError(f"{record.where}: '{name}' is a {type(value).__name__}; give a string or a whole number")
    return str(value)


def _optional_string(record: Record, name: str) -> str | None:
    value = record.fields.get(name)
    if value is not None and not isinstance(value, str):
        raise MacroscopeError(f"{record.where}: '{name}' is a {type(value).__name__}; give a string, or leave it out")
    return value or None


def _normalised(record: Record, provenance: Provenance) -> Record:
    """Return a record with composed characters and without hard wraps; count changes in the provenance's source."""
    composed = compose(record.fields)
    fields = {name: _join(value) if name in ("text", "sections") else value for name, value in composed.items()}
    for entry, changed in ((NOT_COMPOSED, composed != record.fields), (HARD_WRAPPED, fields != composed)):
        if changed:
            provenance.source[entry] = provenance.source.get(entry, 0) + 1
    return replace(record, fields=fields)


def _join(value: Any) -> Any:
    """Return a text, or the texts of sections, without hard wraps; anything else as it is."""
    if isinstance(value, str):
        return join_hard_wraps(value.replace("\r\n", "\n").replace("\r", "\n"))
    if isinstance(value, list):
        return [_join(item) for item in value]
    return value | {"text": _join(value["text"])} if isinstance(value, dict) and "text" in value else value


def _split(record: Record, one_section: bool) -> SplitText:
    """Return the sections of a record: those given, or those of its text."""
    sections, text = record.fields.get("sections"), record.fields.get("text")
    if sections is not None:
        return SplitText(None, _given_sections(record, sections), NONE, [])
    if text is None:
        raise MacroscopeError(f"{record.where} has neither 'sections' nor 'text'; give one of them")
    if not isinstance(text, str):
        raise MacroscopeError(f"{record.where}: 'text' is a {type(text).__name__}; give a string")
    return SplitText(None, [Section(None, tidy(text))], NONE, []) if one_section else split_sections(text)


def _given_sections(record: Record, sections: Any) -> list[Section]:
    if not isinstance(sections, list):
        raise MacroscopeError(f"{record.where}: 'sections' is a {type(sections).__name__}; give a list")
    names = record.fields.get("section_names")
    if names is None:
        names = [None] * len(sections)
    if not isinstance(names, list) or len(names) != len(sections):
        raise MacroscopeError(
            f"{record.where}: 'section_names' must be a list of {len(sections)} names, one for each of 'sections'"
        )
    return [_given_section(record, *pair, number) for number, pair in enumerate(zip(sections, names, strict=True), 1)]


def _given_section(record: Record, section: Any, name: Any, number: int) -> Section:
    if isinstance(section, dict):
        name, section = section.get("title", name), section.get("text")
    if not isinstance(section, str) or not (name is None or isinstance(name, str)):
        raise MacroscopeError(
            f"{record.where}: section {number} is neither a string nor an object with 'text' (a string) and,"
            " optionally, 'title' (a string)"
        )
    return Section(name.strip() or None if name is not None else None, tidy(section))
