"""The style of all figures: legible at report size, safe for colour-blind readers, the same bytes every time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from macroscope.files import atomic

PLAIN_DECADES = 4
"""Number of powers of ten from which a logarithmic axis is labelled with powers, not plain numbers."""

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
    "axes.formatter.use_mathtext": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Ids inside an SVG come from this salt, not from a random number: the same figure has the same bytes.
    "svg.hashsalt": "macroscope",
}


@contextmanager
def style() -> Iterator[None]:
    """Plot in the style of all figures, inside a `with` block."""
    with mpl.rc_context(STYLE):
        yield


def label_logarithmic(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers, as many as fit: 200, 300, 500, not overlapping 2 x 10^2."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    steps = (
        [1, 1.5, 2, 3, 4, 5, 7] if decades < 0.5 else [1, 2, 3, 5] if decades < 1 else [1, 3] if decades < 2 else [1]
    )
    axis.set_major_locator(LogLocator(subs=steps, numticks=8))
    axis.set_minor_formatter(NullFormatter())
    if decades < PLAIN_DECADES:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))


def save(figure: Figure, stem: Path) -> None:
    """Write `<stem>.svg` and `<stem>.pdf`, without a date in them, and close the figure."""
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_scale() == "log":
                label_logarithmic(axis)
    for suffix, metadata in ((".svg", {"Date": None}), (".pdf", {"CreationDate": None})):
        with style(), atomic(stem.with_name(stem.name + suffix)) as temporary:
            figure.savefig(temporary, format=suffix[1:], metadata=metadata)
        figure.set_layout_engine("none")  # the second file reuses the layout of the first, which takes half the time
    plt.close(figure)
