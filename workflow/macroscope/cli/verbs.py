"""Help of the command line: verbs for users before those for developers, types that people read, and versions."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from macroscope import __version__
from macroscope.files import REPOSITORY
from macroscope.printing import print_json

HELP_OPTIONS = {"help_option_names": ["-h", "--help"]}
"""Settings of the context: names of the option that shows the help."""
USERS, DEVELOPERS = "Commands", "Commands for developers"
"""Headings of the help's lists of commands; the workflow's jobs call those of the second."""
_PACKAGES = ("snakemake", "numpy", "pandas", "pyarrow", "scipy", "pydantic", "torch", "transformers")
"""Packages whose versions may change a number or an error."""
_TYPES: dict[type, str] = {int: "NUMBER", float: "NUMBER", str: "TEXT"}


class Verbs(TyperGroup):
    """A group of verbs, whose options have types that people read."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the group itself."""
        parameters = super().get_params(ctx)
        for parameter in parameters:
            name_type(parameter)
        return parameters

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a verb by its name; None if there is none."""
        command = super().get_command(ctx, cmd_name)
        for parameter in command.params if command is not None else ():
            name_type(parameter)
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs, one list per heading."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        width = formatter.width - 6 - max(map(len, commands), default=0)
        rows: dict[str, list[tuple[str, str]]] = {}
        for name, command in commands.items():
            heading = getattr(command, "rich_help_panel", None)
            rows.setdefault(heading or USERS, []).append((name, command.get_short_help_str(width)))
        for heading, listed in rows.items():
            with formatter.section(heading):
                formatter.write_dl(listed)


def name_type(parameter: Any) -> None:
    """Give an option without a name for its values one that people read: FILE, NUMBER, TEXT."""
    if isinstance(parameter, TyperArgument):
        setattr(parameter, "display_type_rich", lambda ctx: "")  # noqa: B010  # else "RUN <list[str]>"
        return
    if parameter.metavar is not None or not isinstance(parameter, TyperOption) or parameter.is_flag:
        return
    described = parameter.type_descriptor
    if described.is_choice or described.is_tuple:
        return
    if described.is_path or "Path" in parameter.bare_type():
        parameter.metavar = "FILE"
    else:
        words = parameter.bare_type().removeprefix("list[").removesuffix("]")
        parameter.metavar = next((name for kind, name in _TYPES.items() if kind.__name__ == words), None)


def show_versions(as_json: bool) -> None:
    """Print the versions of macroscope, of Python, and of the packages that matter."""
    packages = {name: _version_of(name) for name in (*_PACKAGES, *_plugin_distributions())}
    machine = {"python": platform.python_version(), "platform": platform.platform()}
    if as_json:
        print_json({"macroscope": __version__, "workflow": str(REPOSITORY), **machine, "packages": packages})
        return
    typer.echo(f"macroscope {__version__}, workflow in {REPOSITORY}")
    typer.echo(f"Python {machine['python']} on {machine['platform']}")
    for name, installed in packages.items():
        typer.echo(f"{name} {installed or 'is not installed'}")


def _plugin_distributions() -> list[str]:
    """Return the names of the installed packages that add critics, sources or kinds of systems."""
    from macroscope.containment import plugin_points

    return sorted({point.dist.name for point in plugin_points() if point.dist})


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
