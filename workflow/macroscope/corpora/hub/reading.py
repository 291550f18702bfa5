"""Source `hub`: rows of a folder in the layouts of Hugging Face data sets, streamed through the library `datasets`.

Rows are read from the files as they stand; nothing is copied to the library's cache. Memory grows with the
data set, if less than it does: 400 MB for 20,000 rows of 1 kB in Parquet, 622 MB for 200,000.
"""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.corpora.files.reading import Record, documents_of
from macroscope.corpora.hub.options import Columns, DataSet, HubCorpus
from macroscope.documents import Document, Provenance
from macroscope.errors import MacroscopeError, nearest

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

_SAVED, _SAVED_SPLITS = "state.json", "dataset_dict.json"
"""What `save_to_disk` leaves in the folder of one split, and of several."""


def read_hub(options: HubCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of one split of a data set, as the source `hub`; see `read_data_set`."""
    provenance.source.update(file=path.name)
    records = read_data_set(path, options, provenance)
    return documents_of(records, provenance, options.valid_share, options.test_share, options.one_section)


def read_data_set(folder: Path, data_set: DataSet, provenance: Provenance) -> Iterator[Record]:
    """Stream the rows of one split of a data set, in its order.

    Parameters
    ----------
    folder
        A copy of a repository, files that `datasets.load_dataset` knows by their suffix, or what `save_to_disk` wrote.
    data_set
        Which of its rows and columns are read. A folder that was retrieved holds one configuration alone.
    provenance
        Receives the licence and the name that the data set's card gives, and the split.

    Raises
    ------
    MacroscopeError
        Where the library, the folder, the configuration, the split or a column is missing, or a file is unreadable.
    """
    require_library(str(folder))
    if not folder.is_dir():
        raise MacroscopeError(f"{folder}: no such folder; give the folder of a Hugging Face data set")
    provenance.source.update(card_of(folder / "README.md"), configuration=data_set.configuration, split=data_set.split)
    configuration = data_set.configuration if data_set.folder is not None else None
    return _records(folder, configuration, data_set.split, data_set.columns)


def require_library(what: str) -> None:
    """Stop, naming what was to be read, where the extra is not installed."""
    if importlib.util.find_spec("datasets") is None:
        raise MacroscopeError(
            f"{what}: reading a Hugging Face data set needs the package 'datasets'; install macroscope[datasets]"
        )


def card_of(card: Path) -> dict[str, Any]:
    """Licence and name of a data set, from its card; empty without one."""
    from huggingface_hub import DatasetCard

    if not card.is_file():
        return {}
    try:
        data = DatasetCard.load(card).data
    except (ValueError, OSError) as error:
        raise MacroscopeError(f"{card}: not a readable card ({reason_of(error)}); mend or remove it") from None
    return {"licence": data.license, "name_on_card": data.pretty_name}


def _records(folder: Path, configuration: str | None, split: str, columns: Columns) -> Iterator[Record]:
    from datasets.exceptions import DatasetsError
    from pyarrow import ArrowException

    try:
        rows = _rows(folder, configuration, split)
        classes = _class_names(rows)
        for number, row in enumerate(rows, start=1):
            where = f"{folder}, split {split!r}, row {number:,}"
            yield Record(_fields(row, columns, classes, where), where, f"{split}-{number}")
    except (DatasetsError, ArrowException, OSError, ValueError) as error:
        raise MacroscopeError(
            f"{folder}: not a readable data set ({reason_of(error)}); give its folder and configuration, or copy it"
            " again"
        ) from None


def _rows(folder: Path, configuration: str | None, split: str) -> "Dataset | IterableDataset":
    import datasets

    if (folder / _SAVED).is_file() or (folder / _SAVED_SPLITS).is_file():
        if configuration is not None:
            raise MacroscopeError(f"{folder}: written by save_to_disk, which has no configurations; leave it out")
        found = datasets.load_from_disk(str(folder))
    else:
        require_configuration(str(folder), configuration)
        found = datasets.load_dataset(str(folder), configuration, streaming=True)
    return split_of(found, split, str(folder))


def split_of(found: Any, split: str, where: str) -> "Dataset | IterableDataset":
    """The rows of one split of what the library has loaded."""
    if not isinstance(found, dict):  # save_to_disk of one split
        found = {str(found.split or "train"): found}
    if split not in found:
        raise MacroscopeError(f"{where}: has no split {split!r}, only {', '.join(map(str, found))}; give 'split'")
    return found[split]


def require_configuration(data_set: str, configuration: str | None, **where: Any) -> None:
    """Stop where a data set has no such configuration, or has several and none is asked for.

    Parameters
    ----------
    data_set
        A folder, or a name on the hub.
    where
        What else the library takes to find it: `revision`.
    """
    import datasets

    known = datasets.get_dataset_config_names(data_set, **where)
    if configuration is None and datasets.get_dataset_default_config_name(data_set, **where) is None:
        raise MacroscopeError(f"{data_set}: has the configurations {', '.join(known)}; give one as 'configuration'")
    if configuration is not None and configuration not in known:
        raise MacroscopeError(f"{data_set}: has no configuration {configuration!r}{nearest(configuration, known)}")


def _class_names(rows: "Dataset | IterableDataset") -> dict[str, list[str]]:
    """Column of classes -> their names; streamed files without a schema have none."""
    features = rows.features or {}
    return {column: feature.names for column, feature in features.items() if hasattr(feature, "names")}


def _fields(row: dict[str, Any], columns: Columns, classes: dict[str, list[str]], where: str) -> dict[str, Any]:
    chosen = columns.chosen()
    for name, column in chosen.items():
        if column not in row:
            raise MacroscopeError(f"{where}: no column {column!r}{nearest(column, row)}; give 'columns.{name}'")
    fields = {name: row[column] for name, column in chosen.items()}
    if "text" in fields and fields["text"] is None:
        fields["text"] = ""  # counted as a document without text
    if "sections" in fields and fields["sections"] is None:
        fields["sections"] = []
    number, names = fields.get("label"), classes.get(chosen.get("label", ""))
    if names is not None and number is not None:
        fields["label"] = names[number] if number >= 0 else None  # -1: the data set withholds it
    return fields


def reason_of(error: Exception) -> str:
    """First line of what a library says of a failure."""
    return str(error).strip().partition("\n")[0] or type(error).__name__
