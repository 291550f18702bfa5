"""Documents from records, which are a text or sections with optional fields around them.

A record has `sections` (a list of strings, or of objects with `text` and optionally `title`; with strings also
`section_names`, as in deng2022's released data) or `text`, which is split at its headings or blank lines. The fields
`id`, `title`, `split`, `label`, `original` and `prompt` are optional.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from macroscope.document_keys import number_sample
from macroscope.documents import SPLITS, Count, Document, Provenance, Section, keep, validate
from macroscope.errors import MacroscopeError
from macroscope.natural_language.typesetting import straighten
from macroscope.readers.headings import NONE, SplitText, split_sections
from macroscope.readers.plain_text import BLANKS, compose, detokenize, is_tokenised, join_hard_wraps, tidy
from macroscope.readers.selection import Selection
from macroscope.readers.splits import assign_split
from macroscope.readers.templates import find_prompt, mentions_tokens, unwrap_prompt
from macroscope.readers.unique_ids import UniqueIds
from macroscope.readers.wrappers import MARKS, unwrap

WITHOUT_TEXT = "document without text"
"""Name of the count of records without a text."""
NOT_COMPOSED = "not_composed"
HARD_WRAPPED = "hard_wrapped"
NAMED_BY_PLACE = "named_by_place"
STRAIGHTENED = "straightened"
SAID = "said"
"""Entries of the provenance's source: numbers of records with characters that were not in Unicode's composed form, and
with lines that were joined; number of documents so far without an id of their own; numbers of the marks that were
straightened, and of the records that they are in; numbers of texts with what stays in them, by `MENTIONED` and the
like."""
MENTIONED, TOKENISED, CUT, STATED = "mentioned", "tokenised", "cut", "stated"
"""Kinds of texts that users should know of: with control tokens within sentences, with blanks before punctuation, cut
at a limit, and with a field that says whether they were cut."""

WRAPPED_PROMPT = "a chat template around the prompt"
_TEXTS = ("text", "sections")
LONGEST_TEXT, LONGEST_ID = 1 << 24, 10_000
"""Most characters of a text, three times the longest novels in one volume, and of an id, which may be a prompt."""
_MOST_NULS = 0.1
"""Largest share of NULs in a text."""


@dataclass(frozen=True)
class Record:
    """A record and its place; lines, rows and items count from 1.

    Attributes
    ----------
    fields
        Fields of the record among `id`, `title`, `text`, `sections`, `section_names`, `split`, `label`, `original`,
        `prompt`. A text may be None: the document has no text.
    where
        File and line, for messages.
    default_id
        Id of the document if the record has no `id`.
    has_own_id
        Whether the id is the user's: another text with the same id is then an error, and else gets a number.
    removed
        Kinds of text that were taken off, for the counts.
    given_text
        Text as the file has it, with its prompt; None if the file has sections.
    """

    fields: dict[str, Any]
    where: str
    default_id: str
    has_own_id: bool = True
    removed: tuple[str, ...] = ()
    given_text: str | None = None

    @property
    def given(self) -> str:
        """Return the text as the file has it; of given sections, their texts with a line break between them."""
        if self.given_text is not None:
            return self.given_text
        sections = self.fields.get("sections") or []
        return "\n".join(section["text"] if isinstance(section, dict) else section for section in sections)


@dataclass
class _Counts:
    empty_sections: Count = field(default_factory=lambda: Count("section without text", 0, 0, "sections"))
    without_text: Count = field(default_factory=lambda: Count(WITHOUT_TEXT, 0, 0))
    duplicates: Count = field(default_factory=lambda: Count("the same document again (id and text)", 0, 0))
    removed: dict[str, Count] = field(default_factory=dict)
    texts: int = 0

    def add_removed(self, split: SplitText, provenance: Provenance) -> None:
        """Count what was taken off a text: a count per kind that occurs."""
        for kind in split.removed:
            if kind not in self.removed:
                self.removed[kind] = Count(kind, self.texts, 0, "texts")
                provenance.counts.append(self.removed[kind])
        for kind, count in self.removed.items():
            keep(count, kind not in split.removed)
        self.texts += 1


def parse_records(
    records: Iterable["Record"],
    provenance: Provenance,
    valid_share: float,
    test_share: float,
    may_repeat_ids: bool,
    selection: Selection,
) -> Iterator[tuple[Document, Record]]:
    """Convert records to documents, each with its record.

    Parameters, counts and errors are those of `read_user_documents`.

    Parameters
    ----------
    may_repeat_ids
        Whether several texts may have one id of the user's: texts of one prompt (`document_keys.number_sample`).
    selection
        How texts are read: its `one_section`, `straighten_typography`, `keep_wrappers` and `detokenize`.
    """
    counts = _Counts()
    provenance.counts += [counts.empty_sections, counts.without_text, counts.duplicates]
    headings: Counter[str] = Counter()
    provenance.source["headings"] = headings
    unique = UniqueIds()
    for given in records:
        record = _normalised(given, provenance, selection)
        split = _split(record, selection.one_section)
        if not (selection.one_section or selection.keep_wrappers):
            split = _without_marks(split)
        if selection.straighten_typography:
            record, split = _straighten(record, split, provenance)
        split.removed.extend(record.removed)
        counts.add_removed(split, provenance)
        document = _document(record, split, counts, valid_share, test_share)
        if document is None:
            continue
        validate(document, record.where)
        named = document
        if not record.has_own_id:
            named = unique.numbered(document, "{}-no{}".format)
        elif may_repeat_ids:
            named = unique.numbered(document, number_sample)
        if keep(counts.duplicates, unique.is_new(named, record.where)):
            headings[split.headings] += 1
            if document.id == record.default_id:
                provenance.source[NAMED_BY_PLACE] = provenance.source.get(NAMED_BY_PLACE, 0) + 1
            yield named, given


def _document(
    record: Record, split: SplitText, counts: _Counts, valid_share: float, test_share: float
) -> Document | None:
    raw = split.sections
    sections = tuple(section for section in raw if section.text)
    counts.empty_sections.kept += len(sections)
    counts.empty_sections.dropped += len(raw) - len(sections)
    if not keep(counts.without_text, bool(sections)):
        return None
    given_id = _string_or_number(record, "id")
    title = _optional_string(record, "title") or split.title
    # Not by the default id: the same texts in a file of another name, or in a list, have the same splits.
    of_split = _optional_string(record, "split") or assign_split(
        given_id or "\n".join(section.text for section in sections), valid_share, test_share
    )
    if of_split not in SPLITS:
        raise MacroscopeError(f"{record.where}: 'split' is {of_split!r}; it must be one of {', '.join(SPLITS)}")
    label, original = _string_or_number(record, "label"), _optional_string(record, "original")
    prompt = _optional_string(record, "prompt")
    return Document(
        given_id or record.default_id, of_split, title, sections, label=label, original=original, prompt=prompt
    )


def _string_or_number(record: Record, name: str) -> str | None:
    value = record.fields.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise MacroscopeError(
            f"{record.where}: '{name}' is a {type(value).__name__}; give a string or a whole number (of a list,"
            " an item: NAME[0])"
        )
    if len(text := str(value)) > LONGEST_ID:
        raise MacroscopeError(f"{record.where}: '{name}' has {len(text):,} characters; give at most {LONGEST_ID:,}")
    return text


def _optional_string(record: Record, name: str) -> str | None:
    value = record.fields.get(name)
    if value is not None and not isinstance(value, str):
        raise MacroscopeError(f"{record.where}: '{name}' is a {type(value).__name__}; give a string, or leave it out")
    return value or None


def _normalised(record: Record, provenance: Provenance, selection: Selection) -> Record:
    """Return a record with composed characters, without wrapping and hard wraps; count changes in the provenance."""
    for text in _strings(record.fields):
        _require_text(text, record.where)
    composed = compose(record.fields)
    unwrapped, removed = composed, record.removed
    if not selection.one_section:
        unwrapped, kinds = _unwrapped(composed, provenance, selection)
        removed = (*kinds, *removed)
    fields = unwrapped | {name: _map_texts(unwrapped[name], join_hard_wraps) for name in _TEXTS if name in unwrapped}
    for entry, changed in ((NOT_COMPOSED, composed != record.fields), (HARD_WRAPPED, fields != unwrapped)):
        if changed:
            provenance.source[entry] = provenance.source.get(entry, 0) + 1
    return replace(record, fields=fields, removed=removed)


def _unwrapped(
    fields: dict[str, Any], provenance: Provenance, selection: Selection
) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a record without what surrounds its texts and its prompt, and the kinds taken off."""
    removed, said, named = dict[str, None](), set[str](), dict[str, Any]()

    def clean(text: str) -> str:
        if not selection.keep_wrappers:
            named.setdefault("prompt", find_prompt(text))
            text, kinds, title = unwrap(text)
            removed.update(dict.fromkeys(kinds))
            named.setdefault("title", title)
        if selection.detokenize and (plain := detokenize(text)) != text:
            text = plain
            removed[BLANKS] = None
        said.update([MENTIONED] * (not selection.keep_wrappers and mentions_tokens(text)))
        said.update([TOKENISED] * is_tokenised(text))
        return text

    cleaned = {name: _map_texts(fields[name], clean) for name in _TEXTS if name in fields}
    prompt = fields.get("prompt")
    if isinstance(prompt, str) and not selection.keep_wrappers and (plain := unwrap_prompt(prompt)) != prompt.strip():
        cleaned["prompt"] = plain
        removed[WRAPPED_PROMPT] = None
    for kind in said:
        count_said(provenance, kind)
    added = {name: value for name, value in named.items() if value and not fields.get(name)}
    return fields | added | cleaned, [*removed]


def count_said(provenance: Provenance, kind: str) -> None:
    """Count a text of a kind that is told to the user."""
    counts = provenance.source.setdefault(SAID, {})
    counts[kind] = counts.get(kind, 0) + 1


def _without_marks(split: SplitText) -> SplitText:
    """Return sections without the marks of Markdown inside them; one of marks alone is none."""
    removed, sections = dict[str, None](), list[Section]()
    for section in split.sections:
        text, kinds, _ = unwrap(section.text, MARKS)
        removed.update(dict.fromkeys(kinds))
        sections += [replace(section, text=tidy(text))] if text.strip() or not section.text else []
    return replace(split, sections=sections, removed=[*split.removed, *removed])


def _straighten(record: Record, split: SplitText, provenance: Provenance) -> tuple[Record, SplitText]:
    """Return a record and its sections with the marks of a keyboard; count these in the provenance's source."""
    changed = [0]

    def straight(text: str) -> str:
        plain, marks = straighten(text)
        changed[0] += marks
        return plain

    fields = {
        name: straight(value) if name in ("title", "prompt") and isinstance(value, str) else value
        for name, value in record.fields.items()
    }
    sections = [Section(each.title and straight(each.title), tidy(straight(each.text))) for each in split.sections]
    if changed[0]:
        marks, records = provenance.source.get(STRAIGHTENED, (0, 0))
        provenance.source[STRAIGHTENED] = [marks + changed[0], records + 1]
    return replace(record, fields=fields), replace(
        split, title=split.title and straight(split.title), sections=sections
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _require_text(text: str, where: str) -> None:
    """Check that a string can be a text that somebody wrote: not endless, and not full of NULs.

    A single NUL is named by the profile, as other rare characters are.
    """
    if len(text) > LONGEST_TEXT:
        raise MacroscopeError(
            f"{where}: a text of {len(text):,} characters, and no document has more than {LONGEST_TEXT:,}; give its"
            " documents one by one (of a text file: ⟨separator⟩)"
        )
    if (share := text.count("\0") / max(1, len(text))) > _MOST_NULS:
        raise MacroscopeError(
            f"{where}: {share:.0%} of a text are NULs, as in files that are no text, or in another encoding (UTF-16,"
            " UTF-32); save it as UTF-8"
        )


def _map_texts(value: Any, function: Callable[[str], str]) -> Any:
    """Return a text, or the texts of sections, as a function returns them; anything else as it is."""
    if isinstance(value, str):
        return function(value.replace("\r\n", "\n").replace("\r", "\n"))
    if isinstance(value, list):
        return [_map_texts(item, function) for item in value]
    has_text = isinstance(value, dict) and "text" in value
    return value | {"text": _map_texts(value["text"], function)} if has_text else value


def _split(record: Record, one_section: bool) -> SplitText:
    """Return the sections of a record: those given, or those of its text."""
    sections, text = record.fields.get("sections"), record.fields.get("text")
    if sections is not None:
        return SplitText(None, _given_sections(record, sections), NONE, [])
    if "text" not in record.fields:
        raise MacroscopeError(f"{record.where} has neither 'sections' nor 'text'; give one of them")
    if text is None:
        return SplitText(None, [], NONE, [])
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
