"""Data sets of the Hugging Face hub by their names: the rows of one split at one commit, streamed to Parquet files.

Each file of the data set becomes one of ours, so that memory does not grow and a broken retrieval goes on with the next
file. Addresses, tokens and caches are the library's own: HF_ENDPOINT, HF_TOKEN, HF_HOME. Where HF_HUB_OFFLINE is set,
the copy in the hub's cache is read, if this commit is there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.corpora.hub.options import DEFAULT
from macroscope.corpora.hub.reading import card_of, reason_of, require_configuration, require_library, split_of
from macroscope.corpora.provenance import RETRIEVED_AS, note_of
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.progress import progress

if TYPE_CHECKING:
    import pyarrow as pa
    from datasets import IterableDataset

_BATCH = 1000


@dataclass(frozen=True)
class Wanted:
    """One split of a data set at one commit.

    Attributes
    ----------
    configuration
        None for its only one, or the one that it calls default.
    """

    name: str
    revision: str
    configuration: str | None
    split: str

    @classmethod
    def at(cls, place: str) -> "Wanted":
        """What belongs at a place below data/hub (`hub.options.DataSet.place`)."""
        name, revision, configuration, split = place.split("/")
        return cls(name.replace("--", "/", 1), revision, None if configuration == DEFAULT else configuration, split)

    def __str__(self) -> str:
        return f"data set {self.name!r} at {self.revision[:8]}"


def retrieve_data_set(place: str, output: Path) -> None:
    """Write the rows of one split of a data set of the hub as Parquet files, and what is known of it beside them.

    Parameters
    ----------
    place
        owner--name/commit/configuration/split.
    output
        Folder to write. "<output>.json" gets address, commit, licence, name on the card and number of rows.

    Raises
    ------
    MacroscopeError
        Where the library is missing, the hub does not answer or has no such data set, commit, configuration or split;
        and offline, where the cache does not have it.
    """
    wanted = Wanted.at(place)
    require_library(str(wanted))
    part = output.with_name(output.name + ".part")
    with _in_one_sentence(wanted):
        source, where, card = _source(wanted)
        require_configuration(source, wanted.configuration, **where)
        rows = _rows(wanted, source, where)
        number = sum(_write_shards(rows, part / "data", wanted.split))
    if not number:
        raise MacroscopeError(f"{wanted}: its split {wanted.split!r} has no rows; give another 'split'")
    url = f"https://huggingface.co/datasets/{wanted.name}/tree/{wanted.revision}"
    known = {RETRIEVED_AS: wanted.name, "version": wanted.revision, "url": url, "rows": number}
    write_json(note_of(output), known | card)
    part.replace(output)


@contextmanager
def _in_one_sentence(wanted: Wanted) -> Iterator[None]:
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    from pyarrow import ArrowException

    try:
        yield
    except LocalEntryNotFoundError:
        raise MacroscopeError(
            f"{wanted}: the hub cannot be reached, or HF_HUB_OFFLINE forbids it, and the cache of this machine does not"
            f" have it; where there is a network: hf download {wanted.name} --repo-type dataset --revision"
            f" {wanted.revision}"
        ) from None
    except (DatasetsError, HfHubHTTPError, ArrowException, OSError, ValueError) as error:
        raise MacroscopeError(
            f"{wanted}: cannot be retrieved ({reason_of(error)}); check name, revision and network; a data set that"
            " needs a permission needs HF_TOKEN as well; what is there is kept, the next call goes on"
        ) from None


def _source(wanted: Wanted) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """What the library loads, how it finds it, and what the card says: on the hub, or offline in its cache."""
    from huggingface_hub import hf_hub_download, snapshot_download
    from huggingface_hub.constants import is_offline_mode
    from huggingface_hub.errors import EntryNotFoundError

    at: dict[str, Any] = {"repo_type": "dataset", "revision": wanted.revision}
    if is_offline_mode():
        folder = snapshot_download(wanted.name, local_files_only=True, **at)
        return folder, {}, card_of(Path(folder) / "README.md")
    try:
        card = card_of(Path(hf_hub_download(wanted.name, "README.md", **at)))
    except EntryNotFoundError:
        card = {}
    return wanted.name, {"revision": wanted.revision}, card


def _rows(wanted: Wanted, source: str, where: dict[str, Any]) -> "IterableDataset":
    import datasets

    found = datasets.load_dataset(source, wanted.configuration, streaming=True, **where)
    return split_of(found, wanted.split, str(wanted))


def _write_shards(rows: "IterableDataset", folder: Path, split: str) -> Iterator[int]:
    """Write every file of the split that is not there yet; yield the rows of each."""
    import pyarrow.parquet as pq

    for index in range(rows.num_shards):
        path = folder / f"{split}-{index:05d}-of-{rows.num_shards:05d}.parquet"
        if not path.exists():
            schema = rows.features.arrow_schema if rows.features else None
            _write(rows.shard(rows.num_shards, index), schema, path)
        yield pq.read_metadata(path).num_rows


def _write(rows: "IterableDataset", schema: "pa.Schema | None", path: Path) -> None:
    """Write rows in batches; without a schema, with that of the first one."""
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
