"""The reference of the command line, docs/generated/commands.md; run this file to write it from the commands."""

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

`macroscope COMMAND --help` prints what a command does, and its options with their defaults.
"""


def commands_page() -> str:
    """Return the reference as Markdown: the exit statuses, and a table of the commands of each kind."""
    group = typer.main.get_command(app)
    context = group.make_context("macroscope", [], resilient_parsing=True)
    users = ["## Commands of users\n", *_table("macroscope", group, context, developers=False), ""]
    developers = ["## Commands for developers\n", "The jobs of the workflow call these.\n"]
    lines = [_INTRODUCTION, *_statuses(), *users, *developers, *_table("macroscope", group, context, developers=True)]
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


def _table(path: str, group: Any, context: Any, developers: bool) -> Iterator[str]:
    yield "| command | meaning |"
    yield "|---|---|"
    for name, command in _commands(path, group, context, developers):
        yield f"| `{name}` | {_escape(command.get_short_help_str(200))} |"


def _names(command: Any, context: Any, developers: bool) -> list[str]:
    names = command.list_commands(context) if hasattr(command, "list_commands") else []
    panels = {name: command.get_command(context, name).rich_help_panel for name in names}
    return [name for name, panel in panels.items() if (panel == DEVELOPERS) is developers]


def _commands(path: str, group: Any, context: Any, developers: bool) -> Iterator[tuple[str, Any]]:
    """Yield the commands below a group that do something themselves: name, command."""
    if developers:
        for name in _names(group, context, developers=True):
            yield f"{path} {name}", group.get_command(context, name)
    for name in _names(group, context, developers=False):
        command = group.get_command(context, name)
        if not developers and not hasattr(command, "list_commands"):
            yield f"{path} {name}", command
        yield from _commands(f"{path} {name}", command, context, developers)


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
