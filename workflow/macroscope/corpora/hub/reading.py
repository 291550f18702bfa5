"""Reader of the source `hub`: rows of folders in the layouts of Hugging Face data sets, through the library `datasets`.

Rows are streamed from the files; nothing is copied to the library's cache. Memory grows with the data set, but more
slowly: 400 MB for 20,000 rows of 1 kB in Parquet, 622 MB for 200,000.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.corpora.hub import Columns, DataSet, HubCorpus
from macroscope.documents import Document, Provenance
from macroscope.errors import MacroscopeError, nearest
from macroscope.extras import is_installed, name_command
from macroscope.readers.parsing import Record, parse_records
from macroscope.readers.selection import Selection

if TYPE_CHECKING:
    from datasets import Dataset, IterableDataset

_SAVED, _SAVED_SPLITS = "state.json", "dataset_dict.json"
"""Files that `save_to_disk` writes to the folder of one split, and of several splits."""


def read_hub(options: HubCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of one split of a data set, as the source `hub`; see `read_data_set`."""
    provenance.source.update(file=path.name)
    records = read_data_set(path, options, provenance)
    shares, selection = (options.valid_share, options.test_share), Selection(one_section=options.one_section)
    return (document for document, _ in parse_records(records, provenance, *shares, False, selection))


def read_data_set(folder: Path, data_set: DataSet, provenance: Provenance) -> Iterator[Record]:
    """Stream the rows of one split of a data set, in its order.

    Parameters
    ----------
    folder
        A copy of a repository, files with a suffix that `datasets.load_dataset` supports, or a folder written by
        `save_to_disk`.
    data_set
        Rows and columns to read. A retrieved folder holds only one configuration.
    provenance
        Receives the licence and the name on the data set's card, the configuration and the split.

    Raises
    ------
    MacroscopeError
        If the library, the folder, the configuration, the split or a column is missing, or a file is unreadable.
    """
    require_library(str(folder))
    if not folder.is_dir():
        raise MacroscopeError(f"{folder}: no such folder; give the folder of a Hugging Face data set")
    provenance.source.update(
        read_card(folder / "README.md"), configuration=data_set.configuration, split=data_set.split
    )
    configuration = data_set.configuration if data_set.folder is not None else None
    return _records(folder, configuration, data_set.split, data_set.columns)


def require_library(what: str) -> None:
    """Check that the library `datasets` is installed; the error names the data set, `what`."""
    if not is_installed("datasets"):
        raise MacroscopeError(
            f"{what}: reading a Hugging Face data set needs the package 'datasets'; {name_command('datasets')}"
        )


def read_card(card: Path) -> dict[str, Any]:
    """Read the licence and the name of a data set from its card; empty if there is no card."""
    from huggingface_hub import DatasetCard

    if not card.is_file():
        return {}
    try:
        data = DatasetCard.load(card).data
    except (ValueError, OSError) as error:
        raise MacroscopeError(f"{card}: not a readable card ({describe_error(error)}); correct or remove it") from None
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
            f"{folder}: not a readable data set ({describe_error(error)}); give its folder and configuration, or copy"
            " it again"
        ) from None


def _rows(folder: Path, configuration: str | None, split: str) -> "Dataset | IterableDataset":
    import datasets

    if (folder / _SAVED).is_file() or (folder / _SAVED_SPLITS).is_file():
        if configuration is not None:
            raise MacroscopeError(f"{folder}: written by save_to_disk, which has no configurations; leave it out")
        loaded = datasets.load_from_disk(str(folder))
    else:
        require_configuration(str(folder), configuration)
        loaded = datasets.load_dataset(str(folder), configuration, streaming=True)
    return select_split(loaded, split, str(folder))


def select_split(loaded: Any, split: str, where: str) -> "Dataset | IterableDataset":
    """Return the rows of one split of a loaded data set; `where` names the data set in the message."""
    if not isinstance(loaded, dict):  # save_to_disk of one split
        loaded = {str(loaded.split or "train"): loaded}
    if split not in loaded:
        raise MacroscopeError(f"{where}: has no split {split!r}, only {', '.join(map(str, loaded))}; give 'split'")
    return loaded[split]


def require_configuration(data_set: str, configuration: str | None, **where: Any) -> None:
    """Check that a data set has the configuration, or a default one if none is given.

    Parameters
    ----------
    data_set
        A folder, or a name on the hub.
    where
        Further arguments of the library that locate it: `revision`.
    """
    import datasets

    names = datasets.get_dataset_config_names(data_set, **where)
    if configuration is None and datasets.get_dataset_default_config_name(data_set, **where) is None:
        raise MacroscopeError(f"{data_set}: has the configurations {', '.join(names)}; give one as 'configuration'")
    if configuration is not None and configuration not in names:
        raise MacroscopeError(f"{data_set}: has no configuration {configuration!r}{nearest(configuration, names)}")


def _class_names(rows: "Dataset | IterableDataset") -> dict[str, list[str]]:
    """Return the class names by column of classes; streamed files without a schema have none."""
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
        fields["label"] = names[number] if number >= 0 else None  # -1: the data set withholds the label
    return fields


def describe_error(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
