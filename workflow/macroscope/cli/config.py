"""`macroscope config <verb>`: check a config, and write its schema and its reference."""

import json
from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.verbs import DEVELOPERS, Verbs
from macroscope.printing import Json, print_json

app = typer.Typer(help="Check a config, and describe its keys.", no_args_is_help=True, cls=Verbs)

Output = Annotated[Path, typer.Option(help="File to write.")]


@app.command()
def check(config: Annotated[Path, typer.Argument(metavar="CONFIG", help="YAML file.")], as_json: Json = False) -> None:
    """Check a config without running anything."""
    from macroscope.config.schema import load_config
    from macroscope.errors import MacroscopeError
    from macroscope.plan import Plan

    plan = Plan(load_config(config))
    try:
        plan.require_sources()
    except MacroscopeError as error:
        raise MacroscopeError(f"{config}: {error}") from None
    number, note = len(plan.critics.comparisons), plan.planning_note()
    if as_json:
        print_json({"config": str(config), "comparisons": number, "note": note})
        return
    print(f"{config}: valid; {number} comparisons of a system with a corpus by a critic")
    if note:
        print(note)


@app.command(rich_help_panel=DEVELOPERS)
def schema(output: Output) -> None:
    """Write the JSON schema of the config."""
    from macroscope.config.schema import json_schema
    from macroscope.files import require_replaceable, write_text

    require_replaceable(output, '{\n  "$schema"')
    write_text(output, json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")


@app.command(rich_help_panel=DEVELOPERS)
def languages(output: Output) -> None:
    """Write the table of critics and languages, as Markdown."""
    from macroscope.config.reference import language_table
    from macroscope.files import require_replaceable, write_text

    require_replaceable(output, "# Languages\n")
    write_text(output, language_table())


@app.command(rich_help_panel=DEVELOPERS)
def reference(output: Output) -> None:
    """Write the reference of all keys, as Markdown: a page, and further ones in a folder `config` beside it."""
    from macroscope.config.reference import config_reference
    from macroscope.files import require_replaceable, write_text

    (_, top), *further = config_reference().items()
    pages = {output: top, **{output.parent / path: text for path, text in further}}
    for path in pages:
        require_replaceable(path, "# The config")
    for path, text in pages.items():
        write_text(path, text)
