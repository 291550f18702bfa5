"""The collections of `macroscope criticize`: files, and the texts to read of them."""

import logging
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError, UsageError
from macroscope.files import atomic
from macroscope.options import KEPT_NAMES, fit_for_paths
from macroscope.phrases import format_count, order_by_numbers
from macroscope.readers.containers import KNOWN_SUFFIXES
from macroscope.readers.layout import UnknownRecords, examine, find_example, has_field
from macroscope.readers.reading import KEPT_SUFFIX, list_models
from macroscope.readers.selection import FieldNames, Selection, Side

log = logging.getLogger("macroscope")
CORPUS = "reference"
"""Name of the real texts as a corpus."""
_FLAGS = ("straighten_typography", "join", "keep_wrappers", "detokenize")
_VALUES = ("separator", "dialogue")
_MOST_MODELS = 12
"""Largest number of models in a file that are candidates of their own without the field of the model."""


@dataclass(frozen=True)
class GivenFields:
    """Names of fields that the user gave; None for what the format of a file says.

    Attributes
    ----------
    text, prompt, id
        Fields of the text of candidates, of the prompt and of the id.
    reference
        Field of the text of the reference.
    model
        Field of the model, by which the texts of a candidate's file are several candidates.
    label
        Field of the label, by which texts are compared.
    separator
        Separator of the texts of text files, which have no fields.
    straighten_typography, join, keep_wrappers, detokenize, dialogue
        As in `Selection`, for the texts of all collections; `join` only for those with a named field of the text.
    split_models
        Whether texts of several models in a file are several candidates, though the user names no field of the model.
    """

    text: str | None = None
    prompt: str | None = None
    id: str | None = None
    reference: str | None = None
    model: str | None = None
    separator: str | None = None
    straighten_typography: bool = False
    join: bool = False
    keep_wrappers: bool = False
    detokenize: bool = False
    split_models: bool = True
    dialogue: str | None = None
    label: str | None = None

    def select(self, authors: Side, distinct: bool = False, **names: str | None) -> Selection:
        """Return the texts of some authors, in fields of these names."""
        flags = {name: getattr(self, name) for name in (*_VALUES, *_FLAGS)}
        return Selection(FieldNames(**names), authors=authors, distinct=distinct, **flags)


@dataclass(frozen=True)
class Input:
    """Files of a collection, and the texts to read of them."""

    files: Sequence[Path]
    selection: Selection

    def options(self) -> dict[str, Any]:
        """Return the options of a corpus or a system that read the same texts."""
        fields, only_model = self.selection.fields.given(), self.selection.only_model
        return {
            "files": [str(path.resolve()) for path in self.files],
            **({"fields": fields} if fields else {}),
            **({"only_model": only_model} if only_model is not None else {}),
            **{name: value for name in _VALUES if (value := getattr(self.selection, name)) is not None},
            **{name: True for name in ("distinct", *_FLAGS) if getattr(self.selection, name)},
        }


def make_reference(reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields) -> Input:
    """Return the reference: files of its own, or the other side of the candidates' files.

    Raises
    ------
    MacroscopeError
        If no reference is given, and a candidate's file has no texts of people that are known.
    """
    files = list(reference) or list(candidates)
    names = {"prompt": given.prompt, "id": given.id, "label": _field_of_label(files, candidates, given)}
    if reference:
        names["text"] = given.reference or given.text
        # The files of a reference may be in another layout.
        is_required = {"text": given.reference is not None, "label": True}
        names = {
            what: name
            for what, name in names.items()
            if name is not None and (is_required.get(what, False) or all(has_field(path, name) for path in files))
        }
    else:
        names["text"] = given.reference
    selection = given.select("people", distinct=not reference, **names)
    if not reference and given.reference is None:
        for path in files:
            _require_people(path, selection)
    return Input(files, selection)


def _require_people(path: Path, selection: Selection) -> None:
    with suppress(UnknownRecords):
        if path.is_file() and examine(path, selection).has_sides:
            return
    raise UsageError(
        f"{path}: no texts of people beside those of models; give ⟨reference⟩, or ⟨reference_field⟩ for those in the"
        " same file (docs/no-reference.md says where to find real texts)"
    )


def make_texts(files: Sequence[Path], given: GivenFields, authors: Side) -> Input:
    """Return files that no other collection is compared with: they must have every field that the user gave."""
    return Input(files, given.select(authors, text=given.text, prompt=given.prompt, id=given.id))


def _field_of_label(files: Sequence[Path], others: Sequence[Path], given: GivenFields) -> str | None:
    """Return the field of the label in files; None if only others have it, whose texts may have the same prompts."""
    is_there, is_elsewhere = (
        given.label is not None and bool(paths) and all(has_field(path, given.label) for path in paths)
        for paths in (files, others)
    )
    return None if is_elsewhere and not is_there else given.label


def make_candidates(candidates: Sequence[Path], given: GivenFields, reference: Sequence[Path] = ()) -> dict[str, Input]:
    """Return the candidates by name: that of their file, or of their model, if it has texts of several.

    Parameters
    ----------
    reference
        Files of the real texts, which may have the labels of both.

    Raises
    ------
    MacroscopeError
        If a file names no model in the field that the user gave, or is a kept reference.
    """
    for path in candidates:
        if path.name.endswith(KEPT_SUFFIX):
            raise UsageError(f"{path}: a kept reference, which has no texts to judge; give it as ⟨reference⟩")
    names_of_fields: dict[str, str | None] = {
        "text": given.text,
        "prompt": given.prompt,
        "id": given.id,
        "model": given.model,
    }
    selections = [
        given.select("models", False, label=_field_of_label([path], reference, given), **names_of_fields)
        for path in candidates
    ]
    called = [
        (path if model is None else Path(model), Input([path], replace(selection, only_model=model)))
        for path, selection in zip(candidates, selections, strict=True)
        for model in (_list_models(path, selection) if given.model or given.split_models else [None])
    ]
    names = names_of_candidates([path for path, _ in called])
    return {name: each for name, (_, each) in zip(names, called, strict=True)}


def _list_models(path: Path, selection: Selection) -> list[str] | list[None]:
    """List the models of a file that are candidates of their own: all of a field that the user named, or a few others.

    The most frequent comes first, or steps of a training log in their order. One or none, many, or models of some texts
    only, are one candidate.
    """
    models, unnamed = list_models([path], selection)
    names = order_by_numbers(name for name, _ in models.most_common())
    field = selection.fields.model
    if field is None:
        return names if 1 < len(models) <= _MOST_MODELS and not unnamed else [None]
    if not models:
        held = f"names no model: it holds {find_example(path, field)}" if unnamed else "is in no text"
        raise MacroscopeError(f"{path}: the field {field!r} {held}; give another one")
    if unnamed:
        log.warning("%s: left out: %s without a model in the field %r", path, format_count(unnamed, "text"), field)
    return names


def names_of_candidates(files: Sequence[Path]) -> dict[str, Path]:
    """Return names for the candidates from their files: unique on any disk, usable in paths, not reserved.

    Files of one name in several folders are called after these, too: a/samples.jsonl and b/samples.jsonl are a-samples
    and b-samples.
    """
    folders: dict[str, set[Path]] = {}
    for file in files:
        folders.setdefault(_stem(file).casefold(), set()).add(file.absolute().parent)
    taken = {name.casefold() for name in (*KEPT_NAMES, CORPUS)}
    names: dict[str, Path] = {}
    for file in files:
        stem = _stem(file)
        if len(folders[stem.casefold()]) > 1 and (folder := fit_for_paths(file.resolve().parent.name)):
            stem = fit_for_paths(f"{folder}-{stem}")
        name, number = stem, 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem}-no{number}"  # not "-2", which may be a version
        taken.add(name.casefold())
        names[name] = file
    return names


def _stem(file: Path) -> str:
    """Return a file's name without the suffixes of its format, fit for paths; as in gpt-3.5-turbo, others stay."""
    return fit_for_paths(without_suffixes(file)) or "candidate"


def without_suffixes(file: Path) -> str:
    """Return a file's name without the suffixes of its format; as in gpt-3.5-turbo, others stay."""
    while file.suffix.lower() in KNOWN_SUFFIXES:
        file = file.with_suffix("")
    return file.name


STANDARD_INPUT = Path("-")
SUFFIX = ".standard-input"


@contextmanager
def without_standard_input(
    candidates: Sequence[Path], reference: Sequence[Path] = ()
) -> Iterator[tuple[list[Path], list[Path]]]:
    """Yield the candidates and the reference with a temporary file in place of the standard input.

    It is for commands that read their texts once and keep none; see `store_standard_input`.
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
        paths = _replace([*candidates, *reference], Path(folder) / "stdin")
        yield paths[: len(candidates)], paths[len(candidates) :]


def store_standard_input(paths: Sequence[Path], output: Path) -> list[Path]:
    """Return paths with a file in place of the standard input, which is copied there.

    Parameters
    ----------
    paths
        Paths of files and folders; at most one is `STANDARD_INPUT`.
    output
        Output folder. The file is beside it, under its name with `SUFFIX`: a folder with results is written as a whole.

    Raises
    ------
    UsageError
        If the standard input is given twice.
    """
    place = output.resolve()
    return _replace(paths, place.with_name(place.name + SUFFIX))


def _replace(paths: Sequence[Path], file: Path) -> list[Path]:
    if list(paths).count(STANDARD_INPUT) > 1:
        raise UsageError("-: the standard input is given twice; give it once, and a file otherwise")
    if STANDARD_INPUT in paths:
        with atomic(file) as temporary, temporary.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
    return [file if path == STANDARD_INPUT else path for path in paths]
