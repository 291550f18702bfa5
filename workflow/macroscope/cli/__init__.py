"""`macroscope <room> <verb>`: a thin layer over the rooms.

Verbs import what they run inside their bodies, so that `macroscope --help` starts at once.
"""

import gc
import io
import logging
import os
import sys
from collections import deque
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NoReturn

import typer

from macroscope.cli import config, corpora, critics, human, reference, reporting, statistics, systems
from macroscope.cli.copies import copies
from macroscope.cli.criticize import criticize
from macroscope.cli.flags import require_paths
from macroscope.cli.gate import WithoutVerdict, gate
from macroscope.cli.rank import rank
from macroscope.cli.reporting import export
from macroscope.cli.run import PASSED_ON, cluster, demo, experiments, run
from macroscope.cli.sameness import sameness
from macroscope.cli.sensitivity import sensitivity
from macroscope.cli.sentences import sentences
from macroscope.cli.timeline import timeline
from macroscope.cli.verbs import DEVELOPERS, HELP_OPTIONS, Verbs, show_versions
from macroscope.errors import (
    FAILED,
    UNEXPECTED,
    MacroscopeError,
    PluginError,
    UsageError,
    blame_plugins,
    describe_system_error,
    escape_controls,
)
from macroscope.execution.job_client import NAMES_FAILURES
from macroscope.execution.job_environment import keep_package_clean, quiet
from macroscope.execution.limits import say_usage, usage_said
from macroscope.execution.orphans import end_with_snakemake
from macroscope.extras import describe_clash, extra_with, name_command
from macroscope.fields import as_key, as_option, word_fields
from macroscope.files import errors_about, require_replaceable


def _finish(result: Any, log_file: Path | None, **others: Any) -> None:
    """Record the usage; called only after a verb has succeeded."""
    if log_file is not None:
        say_usage(log_file)


app = typer.Typer(
    cls=Verbs,
    result_callback=_finish,
    help="Tell whether a language model's long texts have the structure of real ones.",
    epilog="Begin with: macroscope criticize --reference real.jsonl --candidate mine.jsonl --output judged",
    no_args_is_help=True,
    invoke_without_command=True,  # for --version
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP_OPTIONS,
)
app.command()(criticize)
app.command()(sensitivity)
app.command()(rank)
app.command()(sameness)
app.command()(sentences)
app.command()(copies)
app.command()(timeline)
app.command()(gate)
app.command()(export)
app.command(context_settings=PASSED_ON)(run)
app.command(context_settings=PASSED_ON)(demo)
app.command()(experiments)
app.add_typer(reference.app, name="reference")
app.add_typer(human.app, name="human")
app.add_typer(config.app, name="config")
app.add_typer(statistics.app, name="statistics")
app.add_typer(critics.app, name="critics")
app.add_typer(cluster, name="cluster")
app.add_typer(corpora.app, name="corpora", rich_help_panel=DEVELOPERS)
app.add_typer(systems.app, name="systems", rich_help_panel=DEVELOPERS)
app.add_typer(reporting.app, name="reporting", rich_help_panel=DEVELOPERS)

log = logging.getLogger("macroscope")

_OBJECTS_UNTIL_COLLECTION = 20_000
"""Threshold of the garbage collector: Python's 700 makes imports, most of a short job, a tenth slower."""
_LINES = "\n\t"
"""Control characters that texts for a terminal may have."""


class _SafeStream:
    """An output stream that escapes control characters: they may come from anybody's texts, names and files."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text; return the number of its characters."""
        self._stream.write(escape_controls(text, kept=_LINES))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _SafeFormatter(logging.Formatter):
    """A formatter that does the same for log files, which people print, and words the fields of messages."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        return escape_controls(_word(super().format(record)), kept=_LINES)


def _word(message: str) -> str:
    """Return a message that names options of the command, or keys of the config from which a job has its options."""
    return word_fields(message, as_key if "--options" in sys.argv else as_option)


@app.callback()
def _settings(
    context: typer.Context,
    log_file: Annotated[Path | None, typer.Option("--log", help="Write log lines to this file, too.")] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the versions of what matters, and stop."),
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="With --version: print JSON, for programs.")] = False,
) -> None:
    if version:
        show_versions(json)
        raise typer.Exit
    if json:
        raise UsageError("--json: give it after the command, or with --version")
    if context.invoked_subcommand is None:
        context.fail("Missing command.")
    os.environ.update(quiet())
    logging.raiseExceptions = False  # a log that cannot be written, as on a full disk, must not raise
    terminal = logging.StreamHandler(sys.stderr)
    terminal.setLevel(logging.INFO)
    log.handlers = [terminal]
    if log_file is not None:
        # A job's log may be that of a killed attempt, without any mark.
        if log_file.suffix != ".log" and log_file.is_file() and usage_said(log_file) is None:
            require_replaceable(log_file, FAILED, anywhere=True)
        with errors_about(log_file):
            log_file.parent.mkdir(parents=True, exist_ok=True)
            log.addHandler(logging.FileHandler(log_file, mode="w", encoding="utf-8", errors="backslashreplace"))
        if os.environ.get(NAMES_FAILURES):
            terminal.addFilter(lambda record: record.levelno < logging.ERROR)
    for handler in log.handlers:
        handler.setFormatter(_SafeFormatter("%(message)s"))
    log.setLevel(logging.DEBUG)
    keep_package_clean()
    end_with_snakemake()


@cache
def command() -> Any:
    """Return the command of `app`; to build it takes as long as a short job computes."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line: a bad input ends in one sentence and status 1."""
    gc.set_threshold(_OBJECTS_UNTIL_COLLECTION)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # any text, whatever the terminal's encoding
    for name in ("stdout", "stderr"):
        if (stream := getattr(sys, name)) is not None:  # a service may have closed it
            setattr(sys, name, _SafeStream(stream))
    try:
        require_paths(sys.argv[1:])
        with blame_plugins():
            command()()
    except WithoutVerdict as error:
        cause = error.__cause__ or error
        _explain(cause, cause.status if isinstance(cause, UsageError) else error.status)
    except Exception as error:
        status = error.status if isinstance(error, MacroscopeError) else 1
        # Also before the gate itself runs: its status 1 is a verdict.
        _explain(error, WithoutVerdict.status if status == 1 and "gate" in sys.argv[1:] else status)


class _Command(ModuleType):
    """A package that can be called: the script of the distribution `macroscope`, not ours, calls `macroscope.cli`."""

    def __call__(self) -> None:
        main()


sys.modules[__name__].__class__ = _Command


def _explain(error: BaseException, status: int) -> NoReturn:
    """Exit with one sentence for an error that a user can repair, or with the traceback of a defect."""
    if (clash := describe_clash()) is not None:
        sys.stderr.write(f"macroscope: warning: {clash}\n")
    cause = error.__cause__ if isinstance(error, PluginError) and error.__cause__ else error
    sentence = _repairable(cause)
    if sentence is None and isinstance(error, PluginError):
        if error.traceback:
            log.error("%s", error.traceback)
        sentence = str(error)
    if sentence is not None:
        _fail(sentence, status)
    # A defect of macroscope: the traceback goes to the log file, too.
    if not log.handlers:
        raise error
    log.error(UNEXPECTED, exc_info=error)
    sys.exit(status)


def _repairable(error: BaseException) -> str | None:
    """Return a sentence about an error that a user can repair; None for a defect."""
    if isinstance(error, MacroscopeError):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and (extra := extra_with((error.name or "").partition(".")[0])):
        return f"the package {error.name} is not installed; {name_command(extra)}"
    if (sentence := describe_system_error(error)) is not None:
        return sentence
    return _describe_damage() if type(error).__module__.startswith("pyarrow") or isinstance(error, OSError) else None


def _fail(sentence: str, status: int) -> NoReturn:
    if not log.handlers:
        log.addHandler(logging.StreamHandler(sys.stderr))
    log.error("%s%s", FAILED, _word(sentence))
    sys.exit(status)


def _describe_damage() -> str | None:
    """Return a sentence about the first damaged Parquet file among the arguments; Arrow's own errors do not name it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for path in (argument.rpartition("=")[2] for argument in sys.argv[1:]):
        if path.endswith(".parquet") and os.path.isfile(path):
            try:
                with pq.ParquetFile(path) as file:
                    deque(file.iter_batches(), maxlen=0)
            except (pa.ArrowException, OSError) as error:
                advice = "remove it, and run the command again to rebuild it"
                return str(MacroscopeError(f"{path}: not a readable Parquet file ({error}); {advice}"))
    return None
