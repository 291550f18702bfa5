"""The style of all figures: legible at report size, safe for colour-blind readers, the same bytes every time.

Figure functions leave to this module what depends on the number and the length of names: `label_rows`, `title_panel`
and `add_legend`. `save` lays the figure out by `fit`, so that no text is cut.
"""

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontEntry, findfont, fontManager, get_font
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator, ScalarFormatter
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike, NDArray

from macroscope.colours import GREEN
from macroscope.files import atomic, require_replaceable
from macroscope.options import READABLE_NAMES
from macroscope.phrases import RAISED

REAL_TEXT_BAND: dict[str, Any] = {"color": GREEN, "alpha": 0.3, "lw": 0}
"""Look of the band of real text's interval; paler ones vanish on a dark page."""
PLAIN_DECADES = 4
"""Number of powers of ten from which a logarithmic axis is labelled with powers, not plain numbers."""
LONGEST_LABEL, LONGEST_ENTRY = 40, 80
"""Width of a row's label and of a legend's entry, in columns of text, beyond which the middle is left out."""
COLUMNS_PER_INCH = 10
"""Columns of text per inch of a panel's title, a little fewer than fit."""
MOST_COLUMNS = 4
"""Largest number of columns of a legend."""
SMALLEST_PANEL = (1.0, 0.3)
"""Width and height of the smallest panel, in inches."""
EDGE, TOLERANCE = 0.03, 0.01
"""Distance of texts from the edge of a figure, and the part of it that does not matter, in inches."""
LABEL_GAP = 0.05
"""Least distance between the labels of a horizontal axis, in inches."""
AUTOMATIC_STEPS = [1, 2, 2.5, 5, 10]
"""Multiples at which Matplotlib's automatic ticks are."""
MOST_LAYOUTS = 5
"""Largest number of times that a figure grows."""
FONT = "DejaVu Sans"
"""Font of all figures, which Matplotlib brings; characters that it lacks are in an installed font that has them."""
SUFFIXES = {".svg": "Date", ".pdf": "CreationDate"}
"""Suffixes of a figure's files -> the entry of their metadata with the date."""
_suffixes: ContextVar[Sequence[str]] = ContextVar("suffixes", default=tuple(SUFFIXES))
_BOXES = "Last Resort"
"""Font that has a box for every character."""

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "axes.axisbelow": True,
    # Numbers such as 0.00025 fill a narrow axis: below 0.001, the power of ten is written once, at the axis' end.
    "axes.formatter.limits": (-3, 5),
    "axes.formatter.useoffset": False,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Ids inside an SVG come from this salt, not from a random number: the same figure has the same bytes.
    "svg.hashsalt": "macroscope",
    # A dollar sign in a title of a section or a question is not the beginning of a formula.
    "text.parse_math": False,
}

Array = NDArray[np.float64]

_MISSING_GLYPH = re.compile(r"Glyph (\d+) .*missing from font")
_missing_glyphs: set[str] = set()


_fonts_of_characters: dict[str, str] = {}
"""Character -> installed font that has it; "" if none has."""


def fonts_for(characters: Iterable[str]) -> list[str]:
    """Return `FONT`, and installed fonts for the characters that it lacks, as far as any has them."""
    _find_fonts({character for character in characters if character not in _fonts_of_characters})
    fonts = (_fonts_of_characters[character] for character in sorted(set(characters)))
    return list(dict.fromkeys([FONT, *filter(None, fonts)]))


def _find_fonts(characters: set[str]) -> None:
    """Find a font for each character: `FONT`, or the first installed one."""
    default = findfont(FONT)
    missing = {character for character in characters if not _has_glyph(default, character)}
    _fonts_of_characters.update(dict.fromkeys(characters, FONT) | dict.fromkeys(missing, ""))
    for entry in sorted(fontManager.ttflist, key=_preference) if missing else ():
        if not entry.name.startswith(_BOXES):
            present = {character for character in missing if _has_glyph(entry.fname, character)}
            _fonts_of_characters.update(dict.fromkeys(present, entry.name))
            missing -= present


def _preference(entry: FontEntry) -> tuple[bool, bool, str, str]:
    is_plain = entry.style == "normal" and entry.weight in (400, "normal", "regular")
    return "Sans" not in entry.name, not is_plain, entry.name, entry.fname


def _has_glyph(path: str, character: str) -> bool:
    try:
        return bool(get_font(path).get_char_index(ord(character)))
    except (RuntimeError, OSError):  # a font that FreeType cannot read
        return False


@contextmanager
def style() -> Iterator[None]:
    """Plot in the style of all figures, inside a `with` block."""
    with mpl.rc_context({**STYLE, "font.family": [FONT]}), _gather_missing_glyphs():
        yield


def interval_bars(values: ArrayLike, low: ArrayLike, high: ArrayLike) -> Array:
    """Return the lengths of bars below and above values, for `errorbar`; NaN, which has no bar, without an interval.

    Matplotlib takes no negative length, which errors of rounding give if an interval ends at its value.
    """
    value = np.asarray(values, dtype=float)
    bars = np.stack([value - np.asarray(low, dtype=float), np.asarray(high, dtype=float) - value])
    return np.asarray(np.where(bars < 0, 0.0, bars))


def label_rows(axes: Axes, names: Sequence[str]) -> None:
    """Label the rows of a panel, the first at the top, at heights 0, 1, 2, ...; no row is on the frame."""
    axes.set_yticks(range(len(names)), shorten(names, LONGEST_LABEL))
    axes.set_ylim(len(names) - 0.4, -0.6)


def title_panel(axes: Axes, name: str, note: str = "") -> None:
    """Give a panel the name of a system as its title, in lines as wide as the panel, and a line below it."""
    title = wrap_name(READABLE_NAMES.get(name, name), _columns(axes))
    axes.set_title("\n".join(filter(None, (title, note))), fontsize=10)


def _columns(axes: Axes) -> int:
    """Return the columns of text that fit above a panel, before the layout of the figure is known."""
    grid, figure = axes.get_gridspec(), axes.get_figure(root=True)
    assert grid is not None
    assert figure is not None
    return int(COLUMNS_PER_INCH * figure.get_size_inches()[0] * 0.85 / grid.ncols)


def wrap_name(name: str, columns: int) -> str:
    """Break a name into lines of at most this many columns, after a space or a hyphen if possible."""
    wide = _width(name) > len(name)
    return "\n".join(wrap(name, max(columns // (1 + wide), 4)))


def _width(text: str) -> int:
    """Return the width of a text in columns; Chinese characters, for example, have two."""
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in text)


def shorten(names: Sequence[str], columns: int) -> list[str]:
    """Return readable labels of systems or other names; the middle of long ones is left out if they stay distinct."""
    labels = [READABLE_NAMES.get(name, name) for name in names]
    shortened = [_leave_out_middle(label, columns) for label in labels]
    return shortened if len(set(shortened)) == len(set(labels)) else labels


def _leave_out_middle(text: str, columns: int) -> str:
    if _width(text) <= columns:
        return text
    return f"{_cut(text, columns // 2)}…{_cut(text[::-1], (columns - 1) // 2)[::-1]}"


def _cut(text: str, columns: int) -> str:
    return text[: int((np.cumsum([_width(character) for character in text]) <= columns).sum())]


def add_legend(figure: Figure, entries: Mapping[str, Artist] | None = None, left_out: int = 0) -> None:
    """Add a legend below the panels, in as many columns as fit; the figure grows by its height.

    Parameters
    ----------
    entries
        Label -> example of the line or marker; None: the labelled artists of all panels.
    left_out
        Number of systems that the figure leaves out, which the legend says.
    """
    entries = dict(_labelled(figure) if entries is None else entries)
    handles, labels = list(entries.values()), shorten(list(entries), LONGEST_ENTRY)
    if left_out:
        handles.append(plt.Line2D([], [], ls=""))
        labels.append(f"{left_out} more {'systems are' if left_out > 1 else 'system is'} in the tables only")
    if not labels:
        return
    for columns in range(min(len(labels), MOST_COLUMNS), 0, -1):
        legend = figure.legend(handles, labels, loc="outside lower left", ncols=columns, fontsize=9)
        extent = legend.get_window_extent()
        if columns == 1 or extent.width < figure.bbox.width:
            break
        legend.remove()
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + extent.height / figure.dpi)


def _labelled(figure: Figure) -> dict[str, Artist]:
    """Return the labelled artists of all panels by label, each label once."""
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries


def label_logarithmic(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers, as many as fit: 200, 300, 500, not overlapping 2 × 10²."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    steps = (
        [1, 1.5, 2, 3, 4, 5, 7] if decades < 0.5 else [1, 2, 3, 5] if decades < 1 else [1, 3] if decades < 2 else [1]
    )
    axis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axis.set_minor_locator(NullLocator())  # with many panels, most of the time would go into ticks without labels
    is_plain = decades < PLAIN_DECADES
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if is_plain else _power_of_ten(value)))


def _power_of_ten(value: float) -> str:
    return "10" + str(round(np.log10(value))).translate(RAISED)


class _NumberFormatter(ScalarFormatter):
    """Formatter that writes a common factor as × 10⁻³, without a formula."""

    def get_offset(self) -> str:
        _, _, exponent = super().get_offset().replace("−", "-").partition("e")
        return f"× {_power_of_ten(10.0 ** int(exponent))}" if exponent else ""


def fit(figure: Figure) -> None:
    """Lay a figure out, and enlarge it until all texts are inside and no panel is too small to read."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                label_logarithmic(axis)
            elif type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(_NumberFormatter())
    for growth in 2.0 ** np.arange(
        1, 1 + MOST_LAYOUTS
    ):  # a centred text of one panel moves by less than the figure grows
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "constrained_layout not applied")  # it is, when the figure has grown
            figure.draw_without_rendering()
        missing = _missing_inches(figure)
        if not missing.any():
            break
        figure.set_size_inches(*(figure.get_size_inches() + growth * missing))
    mpl.rcParams["figure.constrained_layout.use"] = False  # until the style ends, so that "no engine" is possible
    figure.set_layout_engine(None)  # with an engine, even "none", Matplotlib draws a figure twice for each file
    for axes in figure.axes:
        if isinstance(axes.xaxis.get_major_locator(), AutoLocator):
            _separate_labels(axes.xaxis)


def _separate_labels(axis: Axis) -> None:
    """Reduce the ticks of a linear horizontal axis until no label touches the next one.

    Matplotlib expects labels three times as wide as high; 0.0025 is wider.
    """
    for intervals in range(len(boxes := _label_boxes(axis)) - 2, 0, -1):
        if all(box.x1 + LABEL_GAP * axis.figure.dpi < following.x0 for box, following in pairwise(boxes)):
            break
        axis.set_major_locator(MaxNLocator(intervals, steps=AUTOMATIC_STEPS))
        boxes = _label_boxes(axis)


def _label_boxes(axis: Axis) -> list[Bbox]:
    """Return the boxes of a horizontal axis's labels in pixels, from left to right."""
    axis.get_majorticklabels()  # sets the positions and texts of the ticks
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high and tick.label1.get_text()]
    return sorted((tick.label1.get_window_extent() for tick in ticks), key=lambda box: box.x0)


def _missing_inches(figure: Figure) -> Array:
    """Return by how many inches a drawn figure is too narrow and too low."""
    box, size = figure.get_tightbbox(), figure.get_size_inches()
    overhang = np.maximum(0, EDGE - np.array(box.min)) + np.maximum(0, np.array(box.max) + EDGE - size)
    small = np.zeros(2)
    for axes in figure.axes:
        if (grid := axes.get_gridspec()) is not None:
            lacking = np.array(SMALLEST_PANEL) - np.array(axes.get_window_extent().size) / figure.dpi
            small = np.maximum(small, lacking * (grid.ncols, grid.nrows))
    return np.where(overhang > TOLERANCE, overhang, 0) + np.where(small > TOLERANCE, small, 0)


def require_replaceable_figure(stem: Path, title: str) -> None:
    """Check that `save` may write a figure that a user asked for: its files are absent, or of the same title.

    Raises
    ------
    MacroscopeError
        If they are others.
    """
    for suffix in SUFFIXES:
        require_replaceable(stem.with_name(stem.name + suffix), title, anywhere=True)


@contextmanager
def formats(with_pdf: bool) -> Iterator[None]:
    """Save figures as SVG, and as PDF only if wanted, inside a `with` block."""
    token = _suffixes.set([suffix for suffix in SUFFIXES if with_pdf or suffix != ".pdf"])
    try:
        yield
    finally:
        _suffixes.reset(token)


def save(figure: Figure, stem: Path, title: str | None = None) -> None:
    """Write `<stem>.svg` and `<stem>.pdf`, with a title but without a date in their metadata, and close the figure."""
    texts = figure.findobj(Text)
    fonts = fonts_for({character for text in texts for character in text.get_text() if not character.isspace()})
    if len(fonts) > 1:
        for text in texts:
            text.set_fontfamily(fonts)
    titled = {"Title": title} if title is not None else {}
    with style():
        fit(figure)
        for suffix in _suffixes.get():
            with atomic(stem.with_name(stem.name + suffix)) as temporary:
                figure.savefig(temporary, format=suffix[1:], metadata={SUFFIXES[suffix]: None, **titled})
    plt.close(figure)


@contextmanager
def _gather_missing_glyphs() -> Iterator[None]:
    """Remember characters without a glyph, in place of a warning per character and figure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if match := _MISSING_GLYPH.match(str(warning.message)):
            character = chr(int(match[1]))
            if fonts_for(character) == [FONT]:  # a figure that is saved has the fonts of its characters
                _missing_glyphs.add(character)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def take_missing_glyphs() -> set[str]:
    """Return the characters that no installed font has, of all figures saved since the last call."""
    taken = set(_missing_glyphs)
    _missing_glyphs.clear()
    return taken
