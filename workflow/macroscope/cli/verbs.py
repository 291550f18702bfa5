"""Help of the command line: verbs for users before those for developers, types that people read, and versions."""

import inspect
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperGroup

from macroscope import __version__
from macroscope.errors import UsageError
from macroscope.extras import DISTRIBUTION, describe_clash
from macroscope.files import REPOSITORY
from macroscope.printing import print_json

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
"""Settings of the context: names of the option that shows the help."""
USERS, DEVELOPERS = "Commands", "Commands for developers"
"""Headings of the help's lists of commands; the workflow's jobs call those of the second."""
_LONGEST_SENTENCE = 1000
_PACKAGES = ("snakemake", "numpy", "pandas", "pyarrow", "scipy", "pydantic", "torch", "transformers")
"""Packages whose versions may change a number or an error."""
_TYPES: dict[Any, str] = {int: "NUMBER", float: "NUMBER", str: "TEXT", Path: "FILE"}


class Verbs(TyperGroup):
    """A group of verbs, whose options have types that people read."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the group itself."""
        parameters = super().get_params(ctx)
        name_types(self, parameters)
        return parameters

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb by its name; None if there is none."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            name_types(command, command.params)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the verb that arguments name, and its arguments; refuse files without an option before them."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, TyperGroup) or command is None or command.allow_extra_args:
            return name, command, rest
        files = [
            each for each in command.params if each.metavar in ("FILE", "FOLDER") and each.param_type_name == "option"
        ]
        with command.context_class(command, info_name=name, parent=ctx, resilient_parsing=True) as empty:
            unnamed = command.make_parser(empty).parse_args([*rest])[1]
        is_argument = any(each.param_type_name == "argument" for each in command.params)
        if unnamed and files and not is_argument and not ctx.resilient_parsing:
            options = " or ".join(each.opts[0] for each in files if each.multiple) or files[0].opts[0]
            raise UsageError(
                f"{unnamed[0]}: each file needs an option before it, {options}; repeat it for several files"
            )
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; take off the prefix of Pydantic that some versions of typer leave in sentences."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs, one list per heading, with the whole first sentence of each."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        rows: dict[str, list[tuple[str, str]]] = {USERS: []}  # first, whatever the order of the verbs
        for name, command in commands.items():
            heading = getattr(command, "rich_help_panel", None)
            rows.setdefault(heading or USERS, []).append((name, command.get_short_help_str(_LONGEST_SENTENCE)))
        for heading, listed in ((heading, listed) for heading, listed in rows.items() if listed):
            with formatter.section(heading):
                formatter.write_dl(listed)


def name_types(command: Any, parameters: Iterable[Any]) -> None:
    """Give options without a name for their values one that people read: FILE, NUMBER, TEXT.

    The types are those of the verb's function: typer's own names for them differ from version to version.
    """
    types = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: ""  # else "RUN <list[str]>", where typer shows types
        elif parameter.metavar is None and not parameter.is_flag:
            parameter.metavar = next(
                (_TYPES[part] for part in _parts(types.get(parameter.name)) if part in _TYPES), None
            )


def _parts(annotation: Any) -> Iterator[Any]:
    """Yield a type, or those that it consists of, but not those of tuples, which typer names well."""
    if get_origin(annotation) is tuple:
        return
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


def show_versions(as_json: bool) -> None:
    """Print the versions of macroscope, of Python, and of the packages that matter."""
    packages = {name: _version_of(name) for name in (*_PACKAGES, *_plugin_distributions())}
    machine = {"python": platform.python_version(), "platform": platform.platform()}
    installation = {"distribution": DISTRIBUTION, "clash": describe_clash(), "workflow": str(REPOSITORY)}
    if as_json:
        print_json({"macroscope": __version__, **installation, **machine, "packages": packages})
        return
    typer.echo(f"macroscope {__version__}, workflow in {REPOSITORY}")
    if installation["clash"]:
        typer.echo(f"warning: {installation['clash']}")
    typer.echo(f"Python {machine['python']} on {machine['platform']}")
    for name, installed in packages.items():
        typer.echo(f"{name} {installed or 'is not installed'}")


def _plugin_distributions() -> list[str]:
    """Return the names of the installed packages that add critics, sources or kinds of systems."""
    from macroscope.errors import plugin_points

    return sorted({point.dist.name for point in plugin_points() if point.dist})


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
