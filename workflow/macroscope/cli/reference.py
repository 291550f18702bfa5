"""`macroscope reference <verb>`: a file with what critics need of real texts, without the texts."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import By, Cores, Critics, DeviceFlag, Encoder, Language, Seed, reads_one_side
from macroscope.cli.verbs import Verbs
from macroscope.printing import Json, print_json

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields
    from macroscope.engine.kept_references import KeptReference

app = typer.Typer(
    help="Keep and share a reference: what critics need of real texts, without the texts.",
    no_args_is_help=True,
    cls=Verbs,
)


@app.command()
@reads_one_side
def build(
    *,
    real: Annotated[list[Path], typer.Argument(help="Real texts: files or folders of any format that is known.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="File to write; its name ends with .reference.")],
    given: "GivenFields",
    critic: Critics = None,
    encoder: Encoder = None,
    device: DeviceFlag = "auto",
    language: Language = None,
    licence: Annotated[str, typer.Option(help="Licence of the texts and of the file, for its users.")] = "",
    citation: Annotated[str, typer.Option(help="What users of the file cite.")] = "",
    with_words: Annotated[
        bool,
        typer.Option(
            "--with-words",
            help="Keep the words of the texts, for critics that compare single texts. The texts can then be read from"
            " the file.",
        ),
    ] = False,
    private: Annotated[
        int,
        typer.Option(
            metavar="K",
            min=0,
            help="Leave out the words, titles and labels that fewer than K texts have, digests of texts and ids, and"
            " critics that keep something of each text.",
        ),
    ] = 0,
    by: By = None,
    seed: Seed = 1,
    cores: Cores = "all",
    json: Json = False,
) -> None:
    """Compute what critics need of real texts, and write it to a file without the texts.

    `macroscope criticize` and `macroscope.compare` take the file as their reference; their numbers are those that the
    texts give.
    """
    from macroscope.criticize.choice import given_options
    from macroscope.criticize.kept_reference import build_reference
    from macroscope.ranking.rank import PART as RANK
    from macroscope.sentences.table import PART as SENTENCES

    about = {name: value for name, value in (("licence", licence), ("citation", citation)) if value}
    kept = build_reference(
        real,
        output,
        replace(given, label=by),
        critic or [],
        given_options(critic or [], encoder),
        language=language,
        seed=seed,
        cores=cores,
        device=device,
        with_words=with_words,
        about=about,
        parts=[RANK, SENTENCES],
        private=private,
    )
    _print(kept, json)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A kept reference.")],
    json: Json = False,
) -> None:
    """Print what a kept reference holds, for which texts it fits, and what it reveals of its own."""
    from macroscope.engine.kept_references import read_kept

    _print(read_kept(file), json)


def _print(kept: "KeptReference", json: bool) -> None:
    from macroscope.criticize.kept_reference import describe_reference

    described = describe_reference(kept)
    if json:
        print_json(described)
    else:
        print("\n".join(f"{name + ':':12} {value}" for name, value in described.items()))
