"""Files of a folder: its texts, or else its parts with records; what is left out is counted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from macroscope.documents import Count, Provenance, keep
from macroscope.errors import MacroscopeError, no_such_file
from macroscope.files import require_regular
from macroscope.readers.compression import without_suffix
from macroscope.readers.containers import FORMATS_READ, RECORD_SUFFIXES, SUBTITLE_SUFFIXES, TEXT_SUFFIXES, advise
from macroscope.readers.containers.texts import describe_lines, describe_lines_of_folder
from macroscope.readers.layout import Layout, UnknownRecords, examine, examine_part
from macroscope.readers.selection import Selection

_HIDDEN = ("__MACOSX", "__pycache__")
"""Folders that systems and programs make beside texts, besides those whose names begin with a dot."""
_MOST_SUFFIXES = 3
_ABOUT_FOLDER = ("readme", "license", "licence")


@dataclass
class _FolderCounts:
    texts: Count = field(
        default_factory=lambda: Count("file of a folder that is not a text (.txt, .md, .srt, .vtt)", 0, 0, "files")
    )
    parts: Count = field(default_factory=lambda: Count("file of a folder without texts that are known", 0, 0, "files"))
    links: Count = field(
        default_factory=lambda: Count("link in a folder to another folder, or to nothing", 0, 0, "links")
    )
    others: Count = field(
        default_factory=lambda: Count("hidden file, README, licence or note of a folder", 0, 0, "files")
    )


def find_layouts(paths: Sequence[Path], selection: Selection, provenance: Provenance) -> Iterator[Layout]:
    """Stream the layouts of files, and of files of folders, by name; the provenance receives the counts of folders."""
    counts = _FolderCounts()
    if any(path.is_dir() for path in paths):
        provenance.counts += [counts.links, counts.others]
    for path in paths:
        if not path.exists():
            raise no_such_file(path)
        require_regular(path)
        yield from (
            _layouts_of_folder(path, selection, counts, provenance) if path.is_dir() else [_layout(path, selection)]
        )


def _layout(path: Path, selection: Selection) -> Layout:
    """Return the layout of a file outside of a folder; if it is a text, a remark says that it may be several."""
    layout = examine(path, selection)
    if (
        layout.rows.unit
        or layout.remarks
        or selection.dialogue
        or without_suffix(path.name).endswith(SUBTITLE_SUFFIXES)
    ):
        return layout
    with suppress(MacroscopeError):  # reading raises it, too
        if lines := describe_lines(path):
            return replace(layout, remarks=[*layout.remarks, lines])
    return layout


def _layouts_of_folder(
    folder: Path, selection: Selection, counts: _FolderCounts, provenance: Provenance
) -> Iterator[Layout]:
    files = _list_files(folder, counts)
    texts = [file for file in files if without_suffix(file.name).endswith(TEXT_SUFFIXES)]
    if len(texts) == 1 and any(without_suffix(file.name).endswith(RECORD_SUFFIXES) for file in files):
        keep(counts.others, False)
        files.remove(texts.pop())  # a note about the records
    count = counts.texts if texts else counts.parts
    if not any(listed is count for listed in provenance.counts):
        provenance.counts.append(count)
    if texts:
        counts.texts.kept += len(texts)
        counts.texts.dropped += len(files) - len(texts)
        remarks = _describe_lines(folder, texts, selection)
        for layout in (examine(file, selection) for file in texts):
            yield layout if layout.rows.unit else replace(layout, remarks=[*layout.remarks, *remarks])
        return
    unknown: list[UnknownRecords] = []
    is_empty = True
    for part in (examine_part(file, selection, unknown) for file in files):
        if keep(counts.parts, part is not None) and part is not None:
            is_empty = False
            yield part
    if is_empty and unknown:
        raise unknown[0]
    if is_empty:
        advice = advise(files[0]) if files else f"give {FORMATS_READ}"
        raise MacroscopeError(f"{folder}: no texts in this folder ({_describe(files)}); {advice}")


def _describe_lines(folder: Path, texts: Sequence[Path], selection: Selection) -> list[str]:
    """Return a remark if the text files of a folder may hold several texts each."""
    plain = [file for file in texts if without_suffix(file.name).endswith(".txt")]
    if selection.separator is not None or selection.dialogue or not plain:
        return []
    with suppress(MacroscopeError):  # reading raises it, too
        return [said] if (said := describe_lines_of_folder(folder, plain)) else []
    return []


def _describe(files: Sequence[Path]) -> str:
    """Return the numbers of files by their suffixes, the most frequent first."""
    counts = Counter(file.suffix.lower() or "without a suffix" for file in files)
    named = [f"{count:,} {suffix}" for suffix, count in counts.most_common(_MOST_SUFFIXES)]
    return f"{', '.join(named)}{' and others' if len(counts) > _MOST_SUFFIXES else ''}" if named else "no files"


def _list_files(folder: Path, counts: _FolderCounts) -> list[Path]:
    followed = (file for file in folder.rglob("*") if not file.is_symlink() or keep(counts.links, file.is_file()))
    return sorted(file for file in followed if file.is_file() and keep(counts.others, _is_content(file, folder)))


def _is_content(file: Path, folder: Path) -> bool:
    """Return whether a file of a folder may be one of its texts: not hidden, and not about the folder."""
    parts = file.relative_to(folder).parts
    return not any(part.startswith(".") or part in _HIDDEN for part in parts) and file.stem.lower() not in _ABOUT_FOLDER
