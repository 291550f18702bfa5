"""Retrieval of data sets of the Hugging Face hub: the rows of one split at one commit, streamed to Parquet files.

Each file of the data set becomes one Parquet file, so that memory does not grow and an interrupted retrieval continues
with the next file. Addresses, tokens and caches are set as for the library: HF_ENDPOINT, HF_TOKEN, HF_HOME. If
HF_HUB_OFFLINE is set, the copy in the hub's cache is read, which must have this commit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.corpora.hub import DEFAULT
from macroscope.corpora.hub.reading import (
    describe_error,
    read_card,
    require_configuration,
    require_library,
    select_split,
)
from macroscope.corpora.provenance import RETRIEVED_AS, note_path
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import IterableDataset

_BATCH = 1000


@dataclass(frozen=True)
class RemoteSplit:
    """One split of a data set at one commit.

    Attributes
    ----------
    name
        Name of the data set on the hub, `owner/name`.
    revision
        Commit.
    configuration
        Configuration; None for the only one, or the one called "default".
    split
        Name of the split.
    """

    name: str
    revision: str
    configuration: str | None
    split: str

    @classmethod
    def from_place(cls, place: str) -> "RemoteSplit":
        """Parse a place below data/hub (see `hub.options.DataSet.place`)."""
        name, revision, configuration, split = place.split("/")
        return cls(name.replace("--", "/", 1), revision, None if configuration == DEFAULT else configuration, split)

    def __str__(self) -> str:
        return f"data set {self.name!r} at {self.revision[:8]}"


def retrieve_data_set(place: str, output: Path) -> None:
    """Write the rows of one split of a data set of the hub as Parquet files, with a note beside them.

    Parameters
    ----------
    place
        Place of the data set below data/hub: owner--name/commit/configuration/split.
    output
        Folder to write. "<output>.json" records address, commit, licence, name on the card and number of rows.
    """
    remote = RemoteSplit.from_place(place)
    require_library(str(remote))
    part = output.with_name(output.name + ".part")
    with _clear_errors(remote):
        source, where, card = _find_source(remote)
        require_configuration(source, remote.configuration, **where)
        rows = _rows(remote, source, where)
        number = sum(_write_shards(rows, part / "data", remote.split))
    if not number:
        raise MacroscopeError(f"{remote}: its split {remote.split!r} has no rows; give another 'split'")
    url = f"https://huggingface.co/datasets/{remote.name}/tree/{remote.revision}"
    note = {RETRIEVED_AS: remote.name, "version": remote.revision, "url": url, "rows": number}
    write_json(note_path(output), note | card)
    part.replace(output)


@contextmanager
def _clear_errors(remote: RemoteSplit) -> Iterator[None]:
    """Turn errors of the libraries into one `MacroscopeError` of one sentence."""
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    from pyarrow import ArrowException

    try:
        yield
    except LocalEntryNotFoundError:
        raise MacroscopeError(
            f"{remote}: the hub cannot be reached, or HF_HUB_OFFLINE forbids it, and the cache of this machine lacks"
            f" the data set; on a machine with network, run: hf download {remote.name} --repo-type dataset --revision"
            f" {remote.revision}"
        ) from None
    except (DatasetsError, HfHubHTTPError, ArrowException, OSError, ValueError) as error:
        raise MacroscopeError(
            f"{remote}: cannot be retrieved ({describe_error(error)}); check name, revision and network, and set"
            " HF_TOKEN for a data set with restricted access; finished files are kept, and the next call continues"
        ) from None


def _find_source(remote: RemoteSplit) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the name or cached folder for the library, its further arguments, and the fields of the card."""
    from huggingface_hub import hf_hub_download, snapshot_download
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import EntryNotFoundError

    at: dict[str, Any] = {"repo_type": "dataset", "revision": remote.revision}
    if is_offline_mode():
        folder = snapshot_download(remote.name, local_files_only=True, **at)
        return folder, {}, read_card(Path(folder) / "README.md")
    try:
        card = read_card(Path(hf_hub_download(remote.name, "README.md", **at)))
    except EntryNotFoundError:
        card = {}
    return remote.name, {"revision": remote.revision}, card


def _rows(remote: RemoteSplit, source: str, where: dict[str, Any]) -> "IterableDataset":
    import datasets

    loaded = datasets.load_dataset(source, remote.configuration, streaming=True, **where)
    return select_split(loaded, remote.split, str(remote))


def _write_shards(rows: "IterableDataset", folder: Path, split: str) -> Iterator[int]:
    """Write each missing file of the split; yield the number of rows of each file."""
    import pyarrow.parquet as pq

    for index in range(rows.num_shards):
        path = folder / f"{split}-{index:05d}-of-{rows.num_shards:05d}.parquet"
        if not path.exists():
            schema = rows.features.arrow_schema if rows.features else None
            _write(rows.shard(rows.num_shards, index), schema, path)
        yield pq.read_metadata(path).num_rows


def _write(rows: "IterableDataset", schema: "pa.Schema | None", path: Path) -> None:
    """Write rows in batches; without a schema, use that of the first batch."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    batches = progress(rows.with_format("arrow").iter(_BATCH), f"retrieve {path.name}", unit="batches")
    writer: pq.ParquetWriter | None = None
    with atomic(path) as temporary:
        try:
            for batch in batches:
                schema = schema or batch.schema
                writer = writer or pq.ParquetWriter(temporary, schema)
                writer.write_table(batch.cast(schema))
            if writer is None:
                pq.write_table((schema or pa.schema([])).empty_table(), temporary)
        finally:
            if writer is not None:
                writer.close()
