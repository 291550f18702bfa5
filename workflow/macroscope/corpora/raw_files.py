"""Raw files of a corpus as parts; each part is extracted by a job of its own."""

import re
from collections.abc import Iterable
from pathlib import Path

from macroscope.corpora.retrieval import RemoteSource, find_remote_source
from macroscope.documents import SPLITS
from macroscope.errors import MacroscopeError
from macroscope.options import fit_for_paths
from macroscope.readers.splits import parse_split


def resolve_source(name: str, place: str) -> RemoteSource:
    """Find the source of the registry that a config names.

    Parameters
    ----------
    place
        Place of the name in the config, for the message.

    Raises
    ------
    MacroscopeError
        If the registry has no source of this name.
    """
    try:
        return find_remote_source(name)
    except MacroscopeError as error:
        raise MacroscopeError(f"{place}: {error}") from None


def list_data_files(source: RemoteSource, splits: Iterable[str], place: str) -> list[str]:
    """List the paths of the retrieved files of a source; files named after a split only if it is in `splits`.

    Parameters
    ----------
    place
        Place of the corpus in the config, for the message.

    Raises
    ------
    MacroscopeError
        If no file is left.
    """
    wanted = {None, *splits}
    files = [file.name for file in source.files if parse_split(file.name) in wanted]
    if not files:
        raise MacroscopeError(
            f"{place}.splits: {source.name!r} has no file for {', '.join(splits)}; give another split"
        )
    return [data_path(source, file) for file in files]


def data_path(source: RemoteSource, file: str) -> str:
    """Return the path that a file of the registry is retrieved to."""
    return f"data/{source.name}/{source.version}/{file}"


def retrieved_files(name: str) -> list[str]:
    """Return the paths of the retrieved files of a resource of the registry that is not a corpus."""
    source = find_remote_source(name)
    return [data_path(source, file.name) for file in source.files]


def number_parts(files: Iterable[str]) -> dict[str, str]:
    """Name the parts by numbers: file names may repeat, be long, and hold characters that wildcards must not."""
    return {
        f"{number:03d}-{fit_for_paths(re.sub('[^A-Za-z0-9]+', '-', Path(file).name))}": file
        for number, file in enumerate(files)
    }


def list_parts(
    files: Iterable[str], option: str, name: str | None, source: str, place: str, splits: Iterable[str] = SPLITS
) -> dict[str, str]:
    """List the parts of a corpus: local files or, if there are none, the files of a data set of the registry.

    Parameters
    ----------
    files
        Local files.
    option, name
        Key of the config that names the data set, and its value.
    source
        Source of the corpus.
    place
        Place of the corpus in the config, for the message.
    splits
        Splits to take, of a data set with splits in its file names.
    """
    if files:
        return number_parts(files)
    if name is None:
        raise MacroscopeError(f"{place}: no raw files; give '{option}', a source of resources/sources.yaml, or 'files'")
    remote = resolve_source(name, f"{place}.{option}")
    if remote.source is None:
        raise MacroscopeError(
            f"{place}.{option}: {name!r} of resources/sources.yaml has the weights of a model, not texts"
        )
    if remote.source != source:
        raise MacroscopeError(
            f"{place}: {name!r} of resources/sources.yaml is read by 'source: {remote.source}', not by {source!r};"
            " give that source, or another data set"
        )
    return number_parts(list_data_files(remote, splits, place))
