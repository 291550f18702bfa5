"""The raw files of a corpus as parts, each extracted by a job of its own."""

import re
from collections.abc import Iterable
from pathlib import Path

from macroscope.corpora.retrieval import RemoteSource, remote_source
from macroscope.corpora.splits import named_split
from macroscope.documents import SPLITS
from macroscope.errors import MacroscopeError
from macroscope.options import fit_for_paths


def source_named(name: str, place: str) -> RemoteSource:
    """Source of the registry that a config names.

    Parameters
    ----------
    place
        Where it does, for the error when there is none.
    """
    try:
        return remote_source(name)
    except MacroscopeError as error:
        raise MacroscopeError(f"{place}: {error}") from None


def data_files(source: RemoteSource, splits: Iterable[str], place: str) -> list[str]:
    """Where the files of a source are kept; of those with a split in their names, only the ones of these splits.

    Parameters
    ----------
    place
        Where the config asks for them, for the error when there is none.
    """
    wanted = {None, *splits}
    files = [file.name for file in source.files if named_split(file.name) in wanted]
    if not files:
        raise MacroscopeError(
            f"{place}.splits: {source.name!r} has no file for {', '.join(splits)}; give another split"
        )
    return [f"data/{source.name}/{source.version}/{file}" for file in files]


def named_parts(files: Iterable[str]) -> dict[str, str]:
    """Number the parts: file names may repeat, be long, and hold what a wildcard must not."""
    return {
        f"{number:03d}-{fit_for_paths(re.sub('[^A-Za-z0-9]+', '-', Path(file).name))}": file
        for number, file in enumerate(files)
    }


def local_or_retrieved(
    files: Iterable[str], option: str, name: str | None, source: str, place: str, splits: Iterable[str] = SPLITS
) -> dict[str, str]:
    """Parts of a corpus of local files, or, where there are none, of a data set of the registry.

    Parameters
    ----------
    option, name
        Key of the config that names the data set, and what it says.
    source
        Source of the corpus.
    place
        Of the corpus in the config, for the message.
    splits
        Which of the data set's files are taken, of those that have a split in their names.

    Raises
    ------
    MacroscopeError
        Where there is neither, or another source reads the data set.
    """
    if files:
        return named_parts(files)
    if name is None:
        raise MacroscopeError(f"{place}: give '{option}', a source of resources/sources.yaml, or 'files'")
    found = source_named(name, f"{place}.{option}")
    if found.source != source:
        raise MacroscopeError(
            f"{place}: {name!r} of resources/sources.yaml is read by 'source: {found.source}', not by {source!r};"
            " give that source, or another data set"
        )
    return named_parts(data_files(found, splits, place))
