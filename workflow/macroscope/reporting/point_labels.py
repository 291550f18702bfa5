"""Labels of points in a figure, placed so that they cover neither each other nor the points."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox

from macroscope.colours import GREY

_SHIFT = 6
"""Distance of a label from its point, in typographic points."""
_CLEAR = 3
"""Smallest distance between two labels, in pixels."""
_PLACES = tuple(
    (direction, rise)
    for rise in (_SHIFT, -_SHIFT, 3 * _SHIFT, -3 * _SHIFT, 5 * _SHIFT, -5 * _SHIFT)
    for direction in ("left", "right")
)
"""Places of a label, the preferred first: its end at the point ("left": it stands to the right), and how high it is, in
typographic points. A line joins a distant label to its point."""


def label_points(axes: Axes, labels: Sequence[str], places: Sequence[tuple[float, float]]) -> list[Annotation]:
    """Write a label beside each point, and return the labels.

    A label has the first place within the axes that is clear of the labels before it and of all points. If none is, it
    has the one that covers least. The limits and scales of the axes must be final.
    """
    renderer = axes.figure.canvas.get_renderer()  # type: ignore[attr-defined]  # of Agg
    taken = [Bbox.from_bounds(x - 4, y - 4, 8, 8) for x, y in axes.transData.transform(list(places))]
    written = []
    from_above = sorted(zip(places, labels, strict=True), key=lambda point: -point[0][1])
    for place, label in from_above:  # so that labels of close points stand in the order of the points
        tried = [_write(axes, label, place, *alignment) for alignment in _PLACES]
        boxes = [_extent(annotation, renderer) for annotation in tried]
        costs = [_covered(box, taken) + _outside(box, axes.bbox) for box in boxes]
        best = costs.index(min(costs))
        for number, annotation in enumerate(tried):
            if number != best:
                annotation.remove()
        taken.append(boxes[best])
        written.append(tried[best])
    return written


def _write(axes: Axes, label: str, place: tuple[float, float], direction: str, rise: int) -> Annotation:
    return axes.annotate(
        label,
        place,
        xytext=(_SHIFT if direction == "left" else -_SHIFT, rise),
        textcoords="offset points",
        ha=direction,
        va="bottom" if rise > 0 else "top",
        arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6} if abs(rise) > _SHIFT else None,
    )


def _extent(annotation: Annotation, renderer: RendererBase) -> Bbox:
    """Return the box of a label with its margin, without the line to its point."""
    annotation.update_positions(renderer)
    return Text.get_window_extent(annotation, renderer).padded(_CLEAR)


def _covered(box: Bbox, taken: Sequence[Bbox]) -> float:
    """Return the area of a box that others cover, in square pixels."""
    shared = (Bbox.intersection(box, neighbour) for neighbour in taken)
    return sum(part.width * part.height for part in shared if part is not None)


def _outside(box: Bbox, frame: Bbox) -> float:
    """Return the area of a box outside a frame, in square pixels."""
    inside = Bbox.intersection(box, frame)
    return box.width * box.height - (inside.width * inside.height if inside is not None else 0)
