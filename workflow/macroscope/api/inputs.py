"""Texts from Python as files: lists, data frames, data sets and paths, as the command line reads them."""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from macroscope.api.arguments import as_argument, convert
from macroscope.criticize.inputs import without_suffixes
from macroscope.errors import MacroscopeError
from macroscope.fields import word_fields
from macroscope.options import fit_for_paths
from macroscope.phrases import format_count

_COLLECTIONS = {"reference": "reference", "candidate": "candidates", "texts": "texts", "training": "training"}
"""Name of a file that is written for the caller -> argument that it holds."""
_LONGEST_NAME = 255
"""Largest number of characters of a file's name."""


def write_collection(texts: Any, folder: Path, name: str) -> list[Path]:
    """Return the files with a collection of texts: those that are given, or one that is written here.

    Parameters
    ----------
    texts
        A path, or several (`Path`); strings, one per text; records with `text` or `sections`; a data frame, a table or
        a data set with such columns.
    folder, name
        Folder for the file, and its name without suffix.
    """
    if isinstance(texts, str | os.PathLike):
        return [_require_path(texts, name)]
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(texts, "to_parquet") or _is_arrow_table(texts):
        path = folder / f"{name}.parquet"
        _write_table(texts, path)
        return [path]
    if (
        isinstance(texts, Mapping | bytes | bytearray)
        or not hasattr(texts, "__iter__")
        or getattr(texts, "ndim", 1) == 0
    ):
        raise _wrong(name, texts)
    items = list(texts)
    if items and all(isinstance(item, os.PathLike) for item in items):
        return [Path(item).resolve() for item in items]
    path = folder / f"{name}.jsonl"
    with path.open("w", encoding="utf-8", errors="surrogatepass") as file:
        for number, item in enumerate(items):
            file.write(json.dumps(_record(item, f"{name}[{number}]"), ensure_ascii=False, default=str) + "\n")
    return [path]


def write_sides(reference: Any, candidates: Any, folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files of the reference, none if it is None, and those of the candidates; see `write_collection`."""
    real = [] if reference is None else write_collection(reference, folder, "reference")
    return real, write_candidates(candidates, folder)


def write_candidates(candidates: Any, folder: Path) -> list[Path]:
    """Return one file or folder per system; its name is that of the system.

    Parameters
    ----------
    candidates
        The texts of one system, or system -> texts; see `write_collection`.

    Raises
    ------
    MacroscopeError
        If a name cannot be one of a file, two systems have one name, or a system has several files.
    """
    if not isinstance(candidates, Mapping):
        return _one_file(write_collection(candidates, folder, "candidate"), "candidate")
    if not candidates:
        raise MacroscopeError("the candidates are an empty dict; give system -> texts")
    names = {system: _name_of_file(str(system)) for system in candidates}
    for system, name in names.items():
        if not name or list(names.values()).count(name) > 1:
            raise MacroscopeError(
                f"candidates, {system!r}: no name for a system, or another one's;"
                " give letters, digits, '-', '_' and '.'"
            )
    files = []
    for system, texts in candidates.items():
        name = names[system]
        (given,) = _one_file(write_collection(texts, folder, name), name)
        files.append(given if given.parent == folder else _link(given, folder, name))
    return files


@contextmanager
def named_texts(folder: Path) -> Iterator[Callable[[str], str]]:
    """Name the caller's texts in errors, not the files that are written for them; yield the function that does so.

    It words fields as arguments, too. Line 2 of the file of a list is its item 1: "reference[1]".

    Parameters
    ----------
    folder
        Folder of the files.
    """
    place = re.compile(rf"{re.escape(str(folder.resolve()))}/([\w.-]*\w)(?:, line (\d+))?")

    def name_place(match: re.Match[str]) -> str:
        path = folder / match[1]
        if path.is_symlink():
            return f"{path.readlink()}{f', line {match[2]}' if match[2] else ''}"
        stem = path.name.removesuffix(".jsonl").removesuffix(".parquet")
        name = _COLLECTIONS.get(stem, f"candidates[{stem!r}]")
        return f"{name}[{int(match[2]) - 1}]" if match[2] else name

    def word(message: str) -> str:
        return word_fields(place.sub(name_place, message), as_argument)

    try:
        yield word
    except MacroscopeError as error:
        error.args = (word(str(error)),)
        raise


def _name_of_file(system: str) -> str:
    """Return the name of a system as that of a file, without the suffix of a format, which would be taken off."""
    name = fit_for_paths(system)
    stem = without_suffixes(Path(name))
    return stem + name.removeprefix(stem).replace(".", "-")


def _one_file(files: list[Path], name: str) -> list[Path]:
    if len(files) != 1:
        raise MacroscopeError(
            f"{name}: {format_count(len(files), 'file')} for one system; give one file, or a folder of texts"
        )
    return files


def _link(path: Path, folder: Path, name: str) -> Path:
    """Return a link of a system's name to a file or folder of another name."""
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / (name + path.name.removeprefix(without_suffixes(path)))
    link.symlink_to(path, target_is_directory=path.is_dir())
    return link


def _require_path(given: str | os.PathLike[str], name: str) -> Path:
    """Return the absolute path of a file or folder; an error if it is a text, which no path looks like."""
    path = os.fspath(convert(given, Path, name))
    if "\n" in path or max(map(len, path.split("/"))) > _LONGEST_NAME:
        raise MacroscopeError(f"{name}: a string is the path of a file or folder, and this one is a text; give [text]")
    return Path(path).resolve()


def _is_arrow_table(texts: Any) -> bool:
    """Return whether an object is a table that Arrow reads: of Polars, of PyArrow; a column alone is not one."""
    return hasattr(texts, "__arrow_c_stream__") and (hasattr(texts, "columns") or hasattr(texts, "column_names"))


def _write_table(table: Any, path: Path) -> None:
    """Write a pandas data frame without its index, another table that Arrow reads, or a data set of Hugging Face."""
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(table, pd.DataFrame):
        table.to_parquet(path, index=False)
    elif _is_arrow_table(table):
        pq.write_table(pa.table(table), path)
    else:
        table.to_parquet(str(path))


def _record(item: Any, where: str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, Mapping):
        return {str(key): value for key, value in item.items()}
    advice = "give a string or a record with 'text', and leave out missing texts"
    if isinstance(item, list | tuple):
        advice = "if these are several texts of a prompt, give a record with 'prompt' and 'text' for each"
    raise MacroscopeError(f"{where}: {type(item).__name__} is not a text; {advice}")


def _wrong(name: str, given: Any) -> MacroscopeError:
    advice = "give a path, strings, records with 'text', a data frame or a data set"
    if isinstance(given, Mapping):
        advice += "; only the candidates may be a dict, of one level: name of a system, such as 'gpt2-greedy' -> texts"
    return MacroscopeError(f"{name}: {type(given).__name__} is not a collection of texts; {advice}")
