"""The look of all figures: legible at report size, safe for colour-blind readers, the same bytes every time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from macroscope.files import atomic

# Okabe and Ito (2008): distinguishable under all common forms of colour blindness.
BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#767676"

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E3E3E3",
    "axes.axisbelow": True,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    # Ids inside an SVG come from this salt and not from a random number: the same figure has the same bytes.
    "svg.hashsalt": "macroscope",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in the house style."""
    with mpl.rc_context(STYLE):
        yield


def save(figure: Figure, stem: Path) -> None:
    """Write `<stem>.svg` and `<stem>.pdf`, without a date in them, and close the figure."""
    for suffix, metadata in ((".svg", {"Date": None}), (".pdf", {"CreationDate": None})):
        with style(), atomic(stem.with_name(stem.name + suffix)) as temporary:
            figure.savefig(temporary, format=suffix[1:], metadata=metadata)
    plt.close(figure)
