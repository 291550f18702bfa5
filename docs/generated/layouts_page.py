"""The list of layouts of people's files, docs/generated/layouts.md; run this file to write it from the tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from macroscope.readers.containers import KINDS
from macroscope.readers.formats import FORMATS
from macroscope.readers.wrappers import MARKS, WRAPPERS

PAGE = Path(__file__).parent / "layouts.md"
_INTRODUCTION = """\
# Layouts of files

<!-- Written by `make docs` from formats.csv, unreadable.yaml and wrapping.yaml in resources; do not edit. -->

`macroscope criticize` recognizes [your own texts](../own-texts.md) by their content, and prints what it takes as what.
`--text-field`, `--prompt-field`, `--id-field` and `--model-field` overrule this table.
"""
_FORMATS = """\
## Formats

A cell has the paths of fields: `choices[].text` is each text of a list, `messages[-1]` the last message,
`segments[label=true].text` the texts of some segments, `sentence*` the fields `sentence1`, `sentence2` and so on. A
chat is its last answer, and what is before it is the prompt.
"""
_WRAPPERS = """\
## Wrapping

It is taken off each text and each of `sections`, in this order, and counted in the profile; chat templates and control
tokens off prompts, too. `--keep-wrappers` keeps all of it.
"""
_CONVERSIONS = """\
## Files to convert

These are not read. The message names the command.
"""


def layouts_page() -> str:
    """Return the page as Markdown: formats, kinds of wrapping, files to convert."""
    formats = [
        (fmt.name, *map(_paths, (fmt.text, fmt.prompt, fmt.id, fmt.model)), *map(_condition, (fmt.human, fmt.only)))
        for fmt in FORMATS
    ]
    columns = ("files of", "text", "prompt", "id", "model", "people's texts", "records read")
    kinds = [(wrapper.name, wrapper.example) for wrapper in (*WRAPPERS, *MARKS)]
    files = [
        (
            kind["name"],
            _paths(" ".join(kind["suffixes"])),
            ((f"`{kind['command']}`" if kind["command"] else "") + kind["advice"]).format(file="FILE", stem="NAME"),
        )
        for kind in KINDS
    ]
    parts = [
        _INTRODUCTION,
        _FORMATS,
        *_table(columns, formats),
        _WRAPPERS,
        *_table(("kind", "example"), kinds),
        _CONVERSIONS,
        *_table(("file", "suffixes", "what to do"), files),
    ]
    return "\n".join(parts).rstrip("\n") + "\n"


def _paths(paths: str) -> str:
    return ", ".join(" or ".join(f"`{path}`" for path in each.split("|")) for each in paths.split())


def _condition(condition: str) -> str:
    path, _, values = condition.partition("=")
    kinds = " or ".join(f"`{value}`" if value else "nothing" for value in values.split("|"))
    return f"`{path}` is {kinds}" if "=" in condition else _paths(path)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in rows:
        yield f"| {' | '.join(_escape(cell) for cell in row)} |"
    yield ""


def _escape(cell: str) -> str:
    """Return a cell with angles outside of code as HTML's characters."""
    parts = cell.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts)).replace(
        "|", "\\|"
    )


if __name__ == "__main__":
    PAGE.write_text(layouts_page(), encoding="utf-8")
