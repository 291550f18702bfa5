"""Look-up of statistics in tables, formatting of numbers for readers, and tables as LaTeX (booktabs)."""

import re

import pandas as pd

from macroscope.phrases import RAISED, significant

SMALLEST_P = 0.001


def format_p_value(p: float) -> str:
    """Format a p-value with two significant digits; "–" for NaN, "< 0.001" for small ones."""
    return "–" if pd.isna(p) else f"{p:.2g}" if p >= SMALLEST_P else f"< {SMALLEST_P:g}"


def format_number(value: float) -> str:
    """Format a number with three significant digits and all digits before the decimal point; "–" for NaN."""
    if pd.isna(value):
        return "–"
    value += 0.0  # no -0
    return f"{value:,.0f}" if abs(value) >= 100 else significant(f"{value:#.3g}").rstrip(".")


def format_two_decimals(value: float, low: float, high: float) -> str:
    """Format a value with two decimals, and its interval if there is one; "–" for NaN."""
    if pd.isna(value):
        return "–"
    return f"{value:z.2f}" + ("" if pd.isna(low) else f" [{low:z.2f}, {high:z.2f}]")


def format_percent_inline(share: float) -> str:
    """Format a share that follows a sign: "over 99 %", because "≠ > 99 %" would read as one relation."""
    return f"{format_percent(share)} %".replace("> ", "over ")


def format_percent(share: float) -> str:
    """Format a share in whole per cent; "> 99" for a share below 1 that would round to 100."""
    rounded = round(100 * share)
    return "> 99" if rounded == 100 and share < 1 else str(rounded)


def look_up_estimate(indexed: pd.DataFrame, key: tuple[str, ...], name: str) -> dict[str, float]:
    """Return a statistic and its interval as <name>, <name>_low, <name>_high; NaN if absent."""
    return {
        name: look_up_value(indexed, key, "value"),
        f"{name}_low": look_up_value(indexed, key, "ci_low"),
        f"{name}_high": look_up_value(indexed, key, "ci_high"),
    }


def look_up_value(indexed: pd.DataFrame, key: tuple[str, ...], column: str) -> float:
    """Return one column of the row at `key` in the indexed table; NaN if there is no such row."""
    return float(indexed.at[key, column]) if key in indexed.index else float("nan")


def format_with_interval(table: pd.DataFrame, name: str) -> list[str]:
    """Format the column `name` with its interval: "5.18 [5.02, 5.33]"."""
    return [
        "–" if pd.isna(value) else f"{format_number(value)} [{format_number(low)}, {format_number(high)}]"
        for value, low, high in zip(table[name], table[f"{name}_low"], table[f"{name}_high"], strict=True)
    ]


ESCAPES = {
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
    "×": r"$\times$",
    "–": "--",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "δ": r"$\delta$",
    "−": "$-$",
    "÷": r"$\div$",
    "⊢": r"$\vdash$",
    "½": r"$\frac{1}{2}$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "⚠": r"$\triangle$",
    "<": r"$<$",
    ">": r"$>$",
    "\t": " ",
    "\n": " ",
    "\r": " ",
}
UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
"""Characters on which LaTeX fails: control characters and the replacement character."""
SPECIAL = re.compile("|".join(re.escape(character) for character in ESCAPES))
PLAIN = {raised: chr(plain) for plain, raised in RAISED.items()}
EXPONENT = re.compile(f"[{''.join(map(chr, PLAIN))}]+")


def to_latex(table: pd.DataFrame) -> str:
    """Return the table as a booktabs `tabular`; text is escaped, columns with a number are right-aligned."""
    columns = "".join("r" if _holds_numbers(table[name]) else "l" for name in table)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", _row(table.columns), r"\midrule"]
    lines += [_row(row) for row in table.itertuples(index=False)]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def escape(text: str) -> str:
    """Escape characters that have a meaning in LaTeX."""
    escaped = SPECIAL.sub(lambda match: ESCAPES[match.group()], text)
    escaped = UNREADABLE.sub(r"\\textbf{?}", escaped)
    return EXPONENT.sub(lambda match: f"$^{{{match.group().translate(PLAIN)}}}$", escaped)


def _holds_numbers(column: pd.Series) -> bool:
    return bool(column.astype(str).str.match(r"[-–<]? ?\d").any())


def _row(cells: object) -> str:
    row = " & ".join(escape(str(cell)) for cell in cells)  # type: ignore[attr-defined]
    # LaTeX reads a bracket or a star after the end of a row, or after a rule, as its option.
    guard = "{}" if row.startswith(("[", "*")) else ""
    return rf"{guard}{row} \\"
