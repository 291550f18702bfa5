"""Output of commands: as text for people, or as JSON for programs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from macroscope.files import to_json

if TYPE_CHECKING:
    import pandas as pd

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def print_json(value: Any) -> None:
    """Print a value as JSON, as `files.write_json` writes it."""
    print(to_json(value))


def print_records(records: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Print records with the same keys: as JSON, or as a line per record in columns of the same width."""
    if as_json:
        print_json(records)
        return
    rows = [[str(value) for value in record.values()] for record in records]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip())


def print_table(
    table: "pd.DataFrame", as_json: bool, left_out: Sequence[str] = (), float_format: str = "{:.3g}"
) -> None:
    """Print a table: as JSON with all its columns, or as text with some left out."""
    if as_json:
        print_json(records_of(table))
        return
    shown = table.drop(columns=list(left_out)).dropna(axis=1, how="all")
    print(shown.to_string(index=False, float_format=float_format.format, na_rep="–"))


def records_of(table: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a table for JSON: a missing value is None."""
    return table.astype(object).where(table.notna(), None).to_dict("records")
