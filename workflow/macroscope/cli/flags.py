"""Options that several commands share, the flags of `macroscope <room> run`, and checks of paths among arguments."""

import inspect
import json
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, TypeAdapter, ValidationError

from macroscope.errors import MacroscopeError, UsageError, nearest
from macroscope.execution.limits import Device, require_device
from macroscope.options import LARGEST_SEED

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields
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


def real_texts(default: str) -> Any:
    """Return the option of files of real texts, with a description of what is done without it."""
    described = f" Default: {default}." if default else ""
    return typer.Option(help=f"Real texts: files or folders of any format that is known; repeatable.{described}")


def _make_given(
    text_field: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Field of the text to judge; 'sample*': fields that hold several texts of a prompt."
        ),
    ] = None,
    prompt_field: Annotated[
        str | None, typer.Option(metavar="NAME", help="Field of the prompt, which pairs texts and is not judged.")
    ] = None,
    id_field: Annotated[str | None, typer.Option(metavar="NAME", help="Field of the id, which pairs texts.")] = None,
    reference_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Field of the real text, in the reference or in the candidates' files."),
    ] = None,
    model_field: Annotated[
        str | None, typer.Option(metavar="NAME", help="Field of the model, each of which is a system of its own.")
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="LINE",
            help="Separator of the texts of a .txt file: line (each line is a text), blank-line, or a line such as ---."
            " Default: each file is one text.",
        ),
    ] = None,
    dialogue: Annotated[
        str | None,
        typer.Option(
            metavar="WHOSE",
            help="Conversations as texts, a turn a section: whole, or what one side says (user, assistant, a name)."
            " Default: the last answer of a chat is the text.",
        ),
    ] = None,
    straighten_typography: Annotated[
        bool,
        typer.Option(
            "--straighten-typography",
            help="Replace quotation marks, apostrophes, dashes, ellipses and spaces of all texts by those of a"
            " keyboard.",
        ),
    ] = False,
    join: Annotated[
        bool, typer.Option("--join", help="Join the texts that --text-field names in a record: they are parts of one.")
    ] = False,
    keep_wrappers: Annotated[
        bool,
        typer.Option(
            "--keep-wrappers",
            help="Keep control tokens, front matter and what else surrounds texts; results have no warning sign for"
            " it.",
        ),
    ] = False,
    detokenize: Annotated[
        bool, typer.Option("--detokenize", help="Remove the blanks before the punctuation of tokenised texts.")
    ] = False,
) -> "GivenFields":
    """Return the values of the options of texts."""
    from macroscope.criticize.inputs import GivenFields

    names = (text_field, prompt_field, id_field, reference_field, model_field, separator)
    return GivenFields(*names, straighten_typography, join, keep_wrappers, detokenize, dialogue=dialogue)


_ONE_SIDE = ("reference_field", "model_field")
"""Options of texts that mean something only if systems are compared with real texts."""
Command = Callable[..., None]


def reads_texts(command: Command, left_out: Collection[str] = ()) -> Command:
    """Return a command with the options of texts (those of `_make_given`) in the place of its parameter `given`.

    Parameters
    ----------
    left_out
        Options that the command lacks.
    """
    signature = inspect.signature(command)
    options = [each for name, each in inspect.signature(_make_given).parameters.items() if name not in left_out]
    names = [option.name for option in options]
    parameters = [
        each.replace(kind=each.KEYWORD_ONLY)
        for name, parameter in signature.parameters.items()
        for each in (options if name == "given" else [parameter])
    ]

    def run_command(**values: Any) -> None:
        if empty := [name for name in (*names, "by") if values.get(name) == ""]:
            raise UsageError(f"--{empty[0].replace('_', '-')} is empty; give a name, or leave it out")
        command(given=_make_given(**{name: values.pop(name) for name in names}), **values)

    run_command.__name__, run_command.__doc__ = command.__name__, command.__doc__
    run_command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run_command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run_command


def reads_one_side(command: Command) -> Command:
    """Return a command with the options of texts, as `reads_texts` does, that compares no texts of several sides."""
    return reads_texts(command, _ONE_SIDE)


Language = Annotated[
    str | None, typer.Option(metavar="CODE", help="Language of the texts (ISO 639-1). Default: it is recognized.")
]
Encoder = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FOLDER",
        help="Encoder of the critics that have one: a folder, a name in resources/models.yaml or on Hugging Face."
        " Default: minilm, for English.",
    ),
]


def _usable_device(device: Device) -> Device:
    require_device(device)
    return device


def require_cores(cores: str) -> str:
    """Return the value of `--cores`, which must be a number above 0, or 'all'."""
    if cores != "all" and not (cores.isdecimal() and int(cores)):
        raise UsageError(f"--cores {cores}: give a whole number above 0, or 'all'")
    return cores


DeviceFlag = Annotated[
    Device,
    typer.Option(
        "--device",
        callback=_usable_device,
        help="Device of the models: cpu, cuda (a GPU), or auto (a GPU if there is one).",
    ),
]
Critics = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Critic to run; repeatable. Default: those that fit the texts."),
]
FINISHED_RUN = typer.Option(metavar="FOLDER", help="Folder of a finished run, results/<run>.")
CorpusOfRun = Annotated[str | None, typer.Option(help="Corpus of the run, if it has several.")]
By = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Field of a label, such as a genre: texts are compared by label as well.",
    ),
]
Cores = Annotated[str, typer.Option(metavar="NUMBER", help="Number of cores, or 'all'.", callback=require_cores)]


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


def parse_json(text: str) -> Any:
    """Parse the value of `--options`."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"--options: not valid JSON ({error.msg} at column {error.colno})") from None


def parse_options(model: type[M], text: str) -> M:
    """Validate a JSON object against an options model."""
    raw = parse_json(text)
    try:
        return TypeAdapter(model).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        hint = nearest(str(first["loc"][-1]), model.model_fields) if first["type"] == "extra_forbidden" else ""
        raise UsageError(f"--options, {place}: {first['msg']}{hint}") from None


_LONGEST_PATH = 1000
"""Bytes of the longest argument that may be a path; longer ones are options."""
_OUTPUTS = {"--output": ("",), "--junit": ("",), "--record": ("",), "--log": ("",), "--figure": (".svg", ".pdf")}
"""Flags of what is written -> what the names of its files have behind their values."""
_TEXTS = ("--candidate", "--reference", "--real", "--training")
"""Flags of texts, of whose folders all files are read."""


def require_paths(arguments: Sequence[str]) -> None:
    """Check before work begins that outputs are neither texts, nor another argument, nor each other."""
    outputs: dict[str, str] = {}
    inputs: set[str] = set()
    texts: dict[str, str] = {}
    for flag, path in _paths(arguments):
        if flag not in _OUTPUTS:
            inputs.add(os.path.realpath(path))
            if flag in _TEXTS and "gate" not in arguments:  # whose candidate is a run
                texts[os.path.realpath(path)] = path
        for file in (path + suffix for suffix in _OUTPUTS.get(flag, ())):
            if os.path.realpath(file) in outputs:
                raise MacroscopeError(f"{file}: two outputs have this path; give another one")
            outputs[os.path.realpath(file)] = file
    for place, output in outputs.items():
        if place in inputs and not os.path.isdir(place):
            raise MacroscopeError(f"{output}: an output, and another argument names this file, too; give another path")
        for text, given in texts.items():
            if text.startswith(place + os.sep):
                raise MacroscopeError(
                    f"{given}: is in the output {output}, which may hold nothing else; give another output"
                )
            if place.startswith(text + os.sep):
                raise MacroscopeError(f"{output}: is in {given}, whose files are texts; give a path outside of it")


def _paths(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what may be a path, with the flag before it; "" if it has none."""
    for before, argument in zip(["", *arguments], arguments, strict=False):
        name, sign, value = argument.partition("=")
        if sign and name in (*_OUTPUTS, *_TEXTS):
            before, argument, value = name, value, ""
        for path in (argument, value if before not in _OUTPUTS else ""):
            if path and not path.startswith("--") and len(os.fsencode(path)) <= _LONGEST_PATH:
                yield before if before.startswith("--") else "", path
