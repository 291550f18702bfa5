"""The style of figures: names as labels, scripts that no font has, dollar signs."""

from functools import partial
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

from macroscope import plotting
from macroscope.colours import COLOURS
from macroscope.options import CONTROL
from macroscope.plotting import (
    add_legend,
    fit,
    interval_bars,
    label_rows,
    save,
    shorten,
    style,
    take_missing_glyphs,
    wrap_name,
)
from macroscope.reporting.figures import run_tasks


def figure_of(*names):
    with style():
        figure, axes = plt.subplots(figsize=(4, 2))
        for y, name in enumerate(names):
            axes.plot([0, 1], [y, y], label=name)
        label_rows(axes, names)
        add_legend(figure)
    return figure


@pytest.fixture
def only_dejavu(monkeypatch):
    monkeypatch.setattr(plotting, "fonts_for", lambda characters: ["DejaVu Sans"])


def test_long_labels_lose_their_middle_unless_they_become_equal():
    assert shorten([CONTROL, "abcdefghijkl"], 9) == ["real text", "abcd…ijkl"]
    assert shorten(["abcdefghijkl", "abcdefXghijkl"], 7) == ["abcdefghijkl", "abcdefXghijkl"]
    assert shorten(["一二三四五六"], 7) == ["一…六"]  # characters of double width


def test_bars_of_an_interval_that_rounding_moved_have_no_negative_length():
    values, low, high = [0.5, 1.0, 3.0], [np.sqrt(0.5) ** 2, 0.5, np.nan], [0.5, 1.25, np.nan]
    assert low[0] > values[0]
    bars = interval_bars(values, low, high)
    assert bars[:, :2].tolist() == [[0, 0.5], [0, 0.25]]
    assert np.isnan(bars[:, 2]).all()
    plt.subplots()[1].errorbar(values, range(3), xerr=bars)


def test_titles_are_broken_into_lines():
    assert wrap_name("one two-three", 8) == "one two-\nthree"
    assert wrap_name("一二三四五六", 8) == "一二三四\n五六"


def test_a_dollar_sign_is_no_formula(tmp_path):
    save(figure_of("$5_a$ and $6^b$"), tmp_path / "figure")
    assert (tmp_path / "figure.svg").read_text(encoding="utf-8").count("$5_a$ and $6^b$") == 2  # row and legend


def test_small_numbers_have_one_power_of_ten(tmp_path):
    with style():
        figure, axes = plt.subplots()
        axes.plot([0, 0.0004], [1, 2])
    save(figure, tmp_path / "figure")
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert "× 10⁻⁴" in svg
    assert "1e" not in svg.partition("<text")[2]


@pytest.mark.slow
def test_labels_of_a_narrow_axis_do_not_touch():
    with style():
        figure, axes = plt.subplots(figsize=(3, 2))
        axes.plot([0, 0.0125], [0, 1])
        axes.set_yticks([])
        fit(figure)
    boxes = plotting._label_boxes(axes.xaxis)
    assert len(boxes) >= 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_characters_without_a_glyph_are_counted_once(only_dejavu, tmp_path):
    tasks = [partial(lambda stem: save(figure_of("中文", "文"), stem), tmp_path / name) for name in "ab"]
    assert run_tasks(tasks, 1) == ({"中", "文"}, [])
    assert take_missing_glyphs() == set()
    assert run_tasks(tasks, 2) == ({"中", "文"}, [])


@pytest.mark.slow
def test_characters_that_the_default_font_lacks_are_in_another_one(tmp_path):
    assert plotting.fonts_for("a") == ["DejaVu Sans"]
    assert len(plotting.fonts_for("aⒶ")) == 2  # Matplotlib brings STIX fonts, which have it
    save(figure_of("Ⓐ"), tmp_path / "figure")
    assert take_missing_glyphs() == set()
    assert plotting.fonts_for("\U000e0042") == ["DejaVu Sans"]  # no font has it


def test_other_warnings_are_not_lost():
    with pytest.warns(UserWarning, match="other"), style():
        plotting.warnings.warn("other", UserWarning, stacklevel=1)


@pytest.mark.parametrize("colour", COLOURS)
def test_lines_are_visible_on_paper(colour):
    """The contrast ratio of WCAG to white is at least 2; that of Okabe and Ito's yellow is 1.3."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    luminance = np.dot([0.2126, 0.7152, 0.0722], linear)
    assert 1.05 / (luminance + 0.05) >= 2
