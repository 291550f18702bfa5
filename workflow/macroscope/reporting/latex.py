"""Tables as LaTeX (booktabs)."""

import re

import pandas as pd

from macroscope.phrases import RAISED

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
