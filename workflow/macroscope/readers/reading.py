"""Reader of files: the user's own documents, or their model's texts, in the formats that people have.

A file is a *container* (`containers`) of rows; a *format* (`formats`) says what of a row is the prompt and what the
text. Both are recognised by their content, and told to the user (`layout`).
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from macroscope.documents import Count, Document, Provenance, keep, require_whole_characters
from macroscope.errors import MacroscopeError
from macroscope.phrases import format_count
from macroscope.readers.folders import find_layouts
from macroscope.readers.formats import DOCUMENTS
from macroscope.readers.formats.declaration import Answer
from macroscope.readers.layout import Layout
from macroscope.readers.parsing import CUT, MENTIONED, SAID, STATED, TOKENISED, Record, count_said, parse_records
from macroscope.readers.paths import MissingField
from macroscope.readers.selection import Selection

READ_AS = "read_as"
REMARKS = "remarks"
MODELS = "models"
"""Entries of the provenance's source: what was taken as what, with the number of files; facts that the user should
know; numbers of texts per model, if the records name their models."""
KEPT_SUFFIX = ".reference"
"""End of the name of a kept reference (`engine.kept_references`), which has no texts."""
PROMPT_REMOVED = "a prompt at the beginning of the text"


def read_user_documents(
    paths: Sequence[Path],
    provenance: Provenance,
    valid_share: float,
    test_share: float,
    selection: Selection | None = None,
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
        documents with each kind of headings, `NAMED_BY_PLACE`, `NOT_COMPOSED`, `HARD_WRAPPED` and `STRAIGHTENED` if
        there are any, `READ_AS`, `REMARKS` and `MODELS`.
    valid_share, test_share
        Shares for documents without a `split`; see `macroscope.readers.splits.assign_split`.
    selection
        Texts to read; default: all.
    names
        Function that names files, for the ids of documents without `id`; default: `make_file_namer(paths)`. A reader of
        some of several files needs the names of all.

    Raises
    ------
    MacroscopeError
        If a file has another format or is unreadable, a record is malformed, or two documents have one id; with file
        and line.
    """
    selection = selection or Selection()
    records = _records(paths, selection, names or make_file_namer(paths), provenance)
    yield from (document for document, _ in _parse(records, provenance, valid_share, test_share, selection))


def read_given_texts(paths: Sequence[Path], selection: Selection) -> Iterator[tuple[Document, str]]:
    """Stream the documents of `read_user_documents`, each with the string that it was read from."""
    records = _records(paths, selection, make_file_namer(paths), Provenance(""))
    parsed = _parse(records, Provenance(""), 0.0, 1.0, selection)
    yield from ((document, record.given) for document, record in parsed)


def _parse(
    records: Iterable[Record], provenance: Provenance, valid_share: float, test_share: float, selection: Selection
) -> Iterator[tuple[Document, Record]]:
    may_repeat_ids = selection.authors == "models"
    return parse_records(records, provenance, valid_share, test_share, may_repeat_ids, selection)


def describe_said(provenance: Provenance) -> list[str]:
    """Return sentences about what stays in texts, and about cut ones."""
    counts = provenance.source.get(SAID, {})
    sentences = {
        CUT: f"{{}} of {counts.get(STATED, 0):,} cut at a limit, as the records say",
        TOKENISED: "{} with blanks before punctuation, as tokenised text has; ⟨detokenize⟩ removes them",
        MENTIONED: "{} with control tokens within sentences, which stay",
    }
    return [text.format(format_count(counts[kind], "text")) for kind, text in sentences.items() if counts.get(kind)]


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


def list_models(paths: Sequence[Path], selection: Selection) -> tuple[Counter[str], int]:
    """Count the texts of each model in files whose records name their models, and those without a name."""
    provenance = Provenance("")
    texts = sum(1 for _ in _records(paths, selection, str, provenance))
    models = Counter(provenance.source.get(MODELS, {}))
    return models, texts - models.total()


def _records(paths: Sequence[Path], selection: Selection, names: FileNamer, provenance: Provenance) -> Iterator[Record]:
    read_as: Counter[str] = Counter()
    remarks: dict[str, None] = {}
    models: Counter[str] = Counter()
    left_out: dict[str, Count] = {}
    repeated, seen = Count("the same text again (prompt and text)", 0, 0), set[bytes]()
    if selection.distinct:
        provenance.counts.append(repeated)
    for path in paths:
        if path.name.endswith(KEPT_SUFFIX):
            raise MacroscopeError(
                f"{path}: a kept reference, whose texts are not there; give the texts, or this file alone to"
                " `criticize`, `compare`, `rank` or `sentences`"
            )
    for layout in find_layouts(paths, selection, provenance):
        read_as[layout.described] += 1
        remarks |= dict.fromkeys(layout.remarks)
        provenance.source |= {READ_AS: dict(read_as)} | ({REMARKS: list(remarks)} if remarks else {})
        for answer, record in _records_of_file(layout, selection, names(layout.path)):
            if answer.left_out:
                if answer.left_out not in left_out:
                    left_out[answer.left_out] = Count(answer.left_out, 0, 0, "texts")
                    provenance.counts.append(left_out[answer.left_out])
                left_out[answer.left_out].dropped += 1
                continue
            for count in left_out.values():
                count.kept += 1
            if selection.distinct and not keep(repeated, _is_new(answer, seen)):
                continue
            for kind in [STATED] * (answer.is_cut is not None) + [CUT] * bool(answer.is_cut):
                count_said(provenance, kind)
            if answer.model is not None:
                models[answer.model] += 1
                provenance.source[MODELS] = models
            yield record


def _is_new(answer: Answer, seen: set[bytes]) -> bool:
    """Return whether no earlier answer had the prompt and the text of this one, and record it."""
    digest = blake2b(repr((answer.prompt, answer.text)).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    is_new = answer.text is None or answer.text is ... or digest not in seen
    seen.add(digest)
    return is_new


def _records_of_file(layout: Layout, selection: Selection, name_in_ids: str) -> Iterator[tuple[Answer, Record]]:
    unit = layout.rows.unit
    for number, row in layout.rows.read(layout.wanted):
        where = f"{layout.path}, {unit} {number}" if unit else str(layout.path)
        try:
            answers = [answer for answer in layout.answers(row) if selection.includes(answer)]
        except MissingField as error:
            raise layout.missing(str(error), where) from None
        default_id = f"{name_in_ids}-{number}" if unit else name_in_ids
        for place, answer in enumerate(answers, start=1):
            suffix = "" if place == 1 else f"-{place}"
            if answer.model is not None:
                require_whole_characters(answer.model, f"{where}: the name of the model")
            yield answer, _record(layout, selection, answer, where, default_id, suffix)


def _record(layout: Layout, selection: Selection, answer: Answer, where: str, default_id: str, suffix: str) -> Record:
    """Return the record of an answer; `suffix` tells the ids of several answers of one row apart."""
    fields: dict[str, Any] = dict(answer.fields)
    if answer.text is not ...:
        fields["text"] = answer.text
    elif fields.get("sections") is None:
        raise MacroscopeError(f"{where} has neither 'sections' nor 'text'; give one of them ({layout.fields_found()})")
    identifier = answer.id
    fields["id"] = f"{identifier}{suffix}" if suffix and identifier not in (None, "") else identifier
    fields["prompt"] = answer.prompt
    removed: tuple[str, ...] = ()
    if layout.format is not DOCUMENTS and answer.prompt and isinstance(answer.text, str):
        rest = answer.text.lstrip().removeprefix(answer.prompt.strip())
        if len(rest) < len(answer.text.lstrip()):
            fields["text"], removed = rest, (PROMPT_REMOVED,)
    given = answer.text if isinstance(answer.text, str) else None
    return Record(fields, where, default_id + suffix, layout.format.has_own_ids, removed, given)
