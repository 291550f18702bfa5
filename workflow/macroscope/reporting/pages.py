"""The kit of all pages: their templates' environment, tables, and figures."""

import base64
import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from macroscope import __version__
from macroscope.files import CAPTIONS
from macroscope.phrases import number, significant
from macroscope.reporting.formats import format_percent, format_percent_inline

LONG_TEXT = 48
"""Number of characters above which the text of a cell may wrap."""


def make_environment() -> Environment:
    """Return the environment of all pages: values are escaped, and an unknown one is an error."""
    environment = Environment(
        loader=FileSystemLoader(CAPTIONS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {}  # keys stay in their order
    environment.globals["version"] = __version__
    environment.tests["missing"] = pd.isna
    environment.filters |= {
        "percent": format_percent,
        "in_percent": format_percent_inline,
        "number": number,
        "sha256": _hash,
    }
    return environment


def render_page(name: str, **values: object) -> str:
    """Render the template `name` of `workflow/report` with values."""
    return _environment().get_template(f"{name}.html.jinja").render(**values)


_environment = cache(make_environment)


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def inline_svg(path: Path) -> str:
    """Return the <svg> element of a file, without what no reader sees, with ids that are unique on a page.

    Half of what matplotlib writes are names and groups that nothing refers to, long ids, indentation, and decimals
    beyond a hundredth of a point; a report of many systems has dozens of figures.
    """
    for prefix, uri in (("", _SVG), ("xlink", _XLINK)):
        ElementTree.register_namespace(prefix, uri)
    root = ElementTree.parse(path).getroot()
    for metadata in root.findall(f"{{{_SVG}}}metadata"):
        root.remove(metadata)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', ElementTree.tostring(root, encoding="unicode"))
    place = hashlib.sha256("/".join(path.parts[-2:]).encode()).hexdigest()[:6]
    ids = {name: f"f{place}-{number}" for number, name in enumerate(dict.fromkeys(used))}
    _simplify(root, ids)
    return re.sub(r">\s+<", ">\n<", ElementTree.tostring(root, encoding="unicode"))


_SVG, _XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def _simplify(element: ElementTree.Element, ids: Mapping[str, str]) -> None:
    """Give an element and what is in it the new ids, round coordinates, and dissolve groups of no effect."""
    children: list[ElementTree.Element] = []
    for child in element:
        _simplify(child, ids)
        children += list(child) if child.tag == f"{{{_SVG}}}g" and not child.attrib else [child]
    element[:] = children
    if (name := element.attrib.pop("id", "")) in ids:
        element.attrib["id"] = ids[name]
    for key, value in element.attrib.items():
        if key in ("d", "x", "y", "points"):
            element.attrib[key] = re.sub(r"\d+\.\d{3,}", lambda match: f"{round(float(match[0]), 2):g}", value)
        else:
            element.attrib[key] = re.sub(
                r"((?:^|\()#)([^)]+)", lambda match: match[1] + ids.get(match[2], match[2]), value
            )


def html_table(table: pd.DataFrame) -> str:
    """Render a table as HTML: numbers right-aligned with four significant digits, long texts wrapped."""

    def cell(value: object) -> str:
        if isinstance(value, float):
            if pd.isna(value):
                return "–"
            return f"{value:,.0f}" if value.is_integer() and abs(value) > 99 else significant(f"{value:.4g}")
        return str(value)

    shown = table.copy()
    for column in shown:
        shown[column] = [cell(value) for value in table[column].tolist()]
    classes = [_cell_class(table[column], shown[column]) for column in table]
    shown.columns = [str(name).replace("_", " ") for name in shown.columns]
    html = shown.to_html(index=False, border=0, classes="data", escape=True, na_rep="")
    rows = re.sub("\n +<", "\n<", html).split("<tr")  # without indentation
    return "<tr".join([rows[0], *(_with_classes(row, classes) for row in rows[1:])])


def _cell_class(values: pd.Series, shown: pd.Series) -> str:
    """Return the CSS class of a column."""
    if pd.api.types.is_numeric_dtype(values):
        return "num"
    return "long" if shown.map(len).max() > LONG_TEXT else ""


def _with_classes(row: str, classes: list[str]) -> str:
    """Give the cells of a table row the classes of their columns, and those of texts the direction of their script."""
    cells = iter(classes)

    def with_class(cell: re.Match[str]) -> str:
        name = next(cells)
        direction = " dir=auto" if name == "long" else ""
        return f"<t{cell[1]} class={name}{direction}>" if name else cell[0]

    return re.sub(r"<t([dh])>", with_class, row)
