"""`macroscope corpora <verb>`: raw files -> documents."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import Inputs, OptionsJson, Output, Seed, StageName, Values, parse_json, parse_options
from macroscope.cli.verbs import Verbs
from macroscope.errors import UsageError, nearest

if TYPE_CHECKING:
    from macroscope.corpora.options import Corpus

app = typer.Typer(help="Make documents of raw files: jobs of the workflow.", no_args_is_help=True, cls=Verbs)

CorpusOptions = Annotated[str, typer.Option("--options", help="Options of the corpus, as JSON.")]


@app.command()
def run(
    stage: StageName, output: Output, options: OptionsJson = "{}", inputs: Inputs = None, values: Values = None
) -> None:
    """Run a stage: simulate (a raw file), extract (its documents), prepare (filter and describe a corpus)."""
    from macroscope.corpora.declaration import STAGES
    from macroscope.registry import require
    from macroscope.stages import run_stage

    chosen = require(stage, STAGES, "stage")
    run_stage(chosen, "macroscope.corpora", _corpus_options(options), inputs or (), values or (), output)


@app.command()
def simulate(
    options: CorpusOptions,
    seed: Seed,
    raw: Annotated[Path, typer.Option(help="Raw file to write, in the upstream format.")],
    truth: Annotated[Path, typer.Option(help="Folder to write the truth about it to.")],
) -> None:
    """Write the raw file of a simulated corpus, and the truth about it."""
    from macroscope.corpora.prepare import simulate as run

    parsed = _corpus_options(options)
    if parsed.kind_of_process is None:
        raise UsageError(f"--options, source: the raw files of '{parsed.source}' are not made here; retrieve them")
    run(parsed, seed, truth / "process.json", raw)


@app.command()
def retrieve(
    name: Annotated[str, typer.Option(help="Name of the source in resources/sources.yaml.")],
    file: Annotated[str, typer.Option(help="Name of one of its files.")],
    output: Annotated[Path, typer.Option(help="File to write; the next call resumes a broken download.")],
    mirror: Annotated[str | None, typer.Option(help="http(s) or file URL, or folder, in place of the hosts.")] = None,
    checksums: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File in the format of sha256sum that learns, then checks, a sha256."),
    ] = None,
) -> None:
    """Download a raw file and verify it."""
    from macroscope.corpora.retrieval import retrieve as run

    run(name, file, output, mirror, checksums)


@app.command()
def fetch(
    source: Annotated[str, typer.Option(help="Source with its own retrieval, such as a hub.")],
    place: Annotated[str, typer.Option(help="Data to retrieve, as its path below data/<source>/.")],
    output: Annotated[Path, typer.Option(help="Folder to write; the next call resumes a broken one.")],
) -> None:
    """Retrieve raw files that resources/sources.yaml does not have."""
    from macroscope.corpora import sources
    from macroscope.stages import load

    retrieving = {name: plugin for name, plugin in sources().items() if plugin.data.retrieve}
    if source not in retrieving:
        raise UsageError(f"--source: {source!r} has no retrieval of its own{nearest(source, retrieving)}")
    load(retrieving[source].data.retrieve, retrieving[source].package)(place, output)


@app.command()
def count(
    documents: Annotated[Path, typer.Option(help="Collection of documents (Parquet).")],
    output: Annotated[Path, typer.Option(help="JSON file to write.")],
) -> None:
    """Count the documents of a collection, so that critics can project them in shards."""
    from macroscope.documents import Collection
    from macroscope.files import write_json

    write_json(output, {"documents": Collection(documents).total})


def _corpus_options(text: str) -> "Corpus":
    """Return the options of the source that the JSON names; errors are thus about that source only."""
    from macroscope.corpora import sources

    raw = parse_json(text)
    name = raw.get("source") if isinstance(raw, dict) else None
    if name not in sources():
        raise UsageError(f"--options, source: {name!r} is not a source{nearest(str(name), sources())}")
    return parse_options(sources()[name].options, text)
