"""Options that several commands share, and the flags of `macroscope <room> run`, which calls any declared stage."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError

from macroscope.errors import UsageError, nearest
from macroscope.execution.limits import Device
from macroscope.options import LARGEST_SEED

if TYPE_CHECKING:
    from macroscope.options import Resampling
    from macroscope.registry import Plugin


Corpus = Annotated[str, typer.Option(help="Name of the corpus, for the table.")]
Signature = Annotated[
    str, typer.Option(help="Further settings that change the numbers, as key:value pairs joined by '|'.")
]


StageName = Annotated[str, typer.Option("--stage", help="Name of the stage.")]
OptionsJson = Annotated[str, typer.Option("--options", help="Options, as JSON.")]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", metavar="NAME=PATH", help="A file that the stage reads; repeatable.")
]
Values = Annotated[
    list[str] | None, typer.Option("--value", metavar="NAME=VALUE", help="A value that it reads; repeatable.")
]
Output = Annotated[Path, typer.Option(help="File or folder to write.")]


Candidates = Annotated[
    list[Path], typer.Option(help="Texts of a system: a file or folder of any format that is known, or -; repeatable.")
]
TextField = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Field of the text to judge; 'sample*': fields that hold several texts of a prompt."
    ),
]
PromptField = Annotated[
    str | None, typer.Option(metavar="NAME", help="Field of the prompt, which pairs texts and is not judged.")
]
IdField = Annotated[str | None, typer.Option(metavar="NAME", help="Field of the id, which pairs texts.")]
ModelField = Annotated[
    str | None, typer.Option(metavar="NAME", help="Field of the model, each of which is a system of its own.")
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="LINE",
        help="Separator of the texts of a .txt file: line (each line is a text), blank-line, or a line such as ---."
        " Default: each file is one text.",
    ),
]
Language = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the texts (ISO 639-1). Default: it is recognized.")
]
Join = Annotated[
    bool, typer.Option("--join", help="Join the texts that --text-field names in a record: they are parts of one.")
]
KeepWrappers = Annotated[
    bool,
    typer.Option("--keep-wrappers", help="Keep control tokens, front matter and what else surrounds texts."),
]
Detokenize = Annotated[
    bool, typer.Option("--detokenize", help="Remove the blanks before the punctuation of tokenised texts.")
]
Straighten = Annotated[
    bool,
    typer.Option(
        "--straighten-typography",
        help="Replace quotation marks, apostrophes, dashes, ellipses and spaces of all texts by those of a keyboard.",
    ),
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FOLDER",
        help="Encoder of the critics that have one: a folder, a name in resources/models.yaml or on Hugging Face."
        " Default: minilm, for English.",
    ),
]
DeviceFlag = Annotated[
    Device, typer.Option("--device", help="Device of the models: cpu, cuda (a GPU), or auto (a GPU if there is one).")
]


def run_declared(
    plugin: "Plugin[Any]",
    stage: str,
    options: str,
    inputs: list[str] | None,
    values: list[str] | None,
    output: Path,
) -> None:
    """Run a stage of a source, a kind of system or a critic, with the command line's inputs and values."""
    from macroscope.stages import run_stage

    declared_stage = plugin.stage(stage)
    parsed = parse_options(plugin.options, options) if declared_stage.options else None
    run_stage(declared_stage, plugin.package, parsed, inputs or (), values or (), output)


Resamples = Annotated[int, typer.Option(min=100, help="Bootstrap resamples of documents.")]
Permutations = Annotated[int, typer.Option(min=100, help="Permutations of a p-value.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Level of the intervals.")]
Seed = Annotated[int, typer.Option(min=0, max=LARGEST_SEED, help="Seed of everything that is random.")]


def resampling_of(resamples: int, permutations: int, confidence: float, seed: int) -> "Resampling":
    """Return the flags as the argument of functions of the statistics room."""
    from macroscope.options import Resampling

    return Resampling(resamples, permutations, confidence, seed)


M = TypeVar("M", bound=BaseModel)


def parse_options(model: type[M], text: str) -> M:
    """Validate a JSON object against an options model."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"--options: not valid JSON ({error.msg} at column {error.colno})") from None
    try:
        return TypeAdapter(model).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        hint = nearest(str(first["loc"][-1]), model.model_fields) if first["type"] == "extra_forbidden" else ""
        raise UsageError(f"--options, {place}: {first['msg']}{hint}") from None
