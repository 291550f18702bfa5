"""The reference of the command line, docs/generated/commands.md; run this file to write it from the commands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from macroscope.cli import app
from macroscope.cli.gate import WithoutVerdict
from macroscope.cli.verbs import DEVELOPERS
from macroscope.errors import IN_PART, MacroscopeError, UsageError
from macroscope.gate.decision import EXIT_CODES, INCONCLUSIVE

PAGE = Path(__file__).parent / "commands.md"
_INTRODUCTION = """\
# Commands

<!-- Written by `make docs` from the commands in workflow/macroscope/cli; do not edit. -->

`macroscope COMMAND --help` prints the same. Options with *repeatable* in their text may be given several times.
"""
_HELP = "--help"
_RANGE = re.compile(r"  \[.*\]$")
"""Notes that the help adds to a text: default, range, whether an option is required."""


def commands_page() -> str:
    """Return the reference as Markdown: the exit statuses, and a section per command."""
    group = typer.main.get_command(app)
    context = group.make_context("macroscope", [], resilient_parsing=True)
    lines = [_INTRODUCTION, *_statuses(), *_command("macroscope", group, context), *_developers(group, context)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _statuses() -> Iterator[str]:
    failed = "an input, a config or a job is wrong; a message says what to do"
    statuses = {
        0: ("done", "PASS: every change is within its tolerance"),
        MacroscopeError.status: (failed, "FAIL: at least one change is beyond its tolerance"),
        UsageError.status: ("an option or a command is wrong", "the same"),
        WithoutVerdict.status: ("", "no verdict: the runs do not compare, or an input is wrong"),
        IN_PART: ("a report without what failed; the last line says what to do", ""),
        EXIT_CODES[INCONCLUSIVE]: ("", "INCONCLUSIVE: neither, with the number of documents that would decide"),
    }
    yield "## Exit statuses\n"
    yield "| status | any other command | `macroscope gate` |"
    yield "|---|---|---|"
    for status, (meaning, of_gate) in sorted(statuses.items()):
        yield f"| {status} | {meaning} | {of_gate} |"
    yield ""


def _command(path: str, command: Any, context: Any) -> Iterator[str]:
    """Yield the lines of a command, and of those below it that users call."""
    yield f"{'###' if path.count(' ') > 1 else '##'} {path}\n"
    yield f"    {' '.join([path, *command.collect_usage_pieces(context)])}\n"
    if command.help:
        yield command.help.strip() + "\n"
    rows = [row for row in (_row(parameter, context) for parameter in command.params) if row]
    if rows:
        yield "| option | meaning | default |"
        yield "|---|---|---|"
        yield from rows
        yield ""
    for name in _names(command, context, developers=False):
        below = command.get_command(context, name)
        yield from _command(f"{path} {name}", below, type(context)(below, parent=context, info_name=name))


def _names(command: Any, context: Any, developers: bool) -> list[str]:
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    panels = {name: command.get_command(context, name).rich_help_panel for name in names}
    return [name for name, panel in panels.items() if (panel == DEVELOPERS) is developers]


def _row(parameter: Any, context: Any) -> str:
    """Return the row of an option or an argument; "" if the help does not show it."""
    record = parameter.get_help_record(context)
    if record is None or _HELP in parameter.opts:
        return ""
    name, text = record
    name = name if parameter.opts[0].startswith("-") else parameter.metavar or parameter.name.upper()
    name = name.replace("|", ", ")  # GitHub and the site differ in how a bar in code is escaped in a table
    return f"| `{name}` | {_escape(_RANGE.sub('', text))} | {_default(parameter)} |"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    is_shown = parameter.default not in (None, (), []) and not getattr(parameter, "is_flag", False)
    return f"`{parameter.default}`" if is_shown else ""


def _developers(group: Any, context: Any) -> Iterator[str]:
    yield "## Commands for developers\n"
    yield "The jobs of the workflow call these. `--help` shows their options.\n"
    yield "| command | meaning |"
    yield "|---|---|"
    for path, command in _developer_commands("macroscope", group, context):
        yield f"| `{path}` | {_escape(command.get_short_help_str(200))} |"


def _developer_commands(path: str, group: Any, context: Any) -> Iterator[tuple[str, Any]]:
    for name in _names(group, context, developers=True):
        yield f"{path} {name}", group.get_command(context, name)
    for name in _names(group, context, developers=False):
        yield from _developer_commands(f"{path} {name}", group.get_command(context, name), context)


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
