"""Figures: systems are plotted as their kind declares, and the control is the system of that name."""

import pandas as pd
import pytest
from matplotlib.text import Text

from macroscope.reporting.figures import plot_latent, plot_perplexity
from macroscope.systems import kinds


def headline(*systems):
    """Return rows of the headline table from (system, kind, latent PPL)."""
    rows = [
        {
            "system": s,
            "kind": kind,
            "setting": "W/ Title",
            "coherence_latent_ppl": x,
            "coherence_latent_ppl_low": x,
            "coherence_latent_ppl_high": x,
        }
        for s, kind, x in systems
    ]
    return pd.DataFrame(rows)


def plot_axes(*systems):
    return plot_latent(headline(*systems), "coherence", "corpus", pd.DataFrame(), 95).axes[0]


def test_every_kind_has_its_label_and_language_models_their_setting():
    axes = plot_axes(
        ("control", "control", 2), ("lm", "language_model", 3), ("lm-2", "language_model", 4), ("x", "files", 5)
    )
    labels = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert sorted(labels) == sorted(kinds()[kind].data.label for kind in ("control", "language_model", "files"))
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["real text", "lm (W/ Title)", "lm-2 (W/ Title)", "x"]


def test_the_band_is_the_controls_whatever_else_is_of_its_kind():
    axes = plot_axes(("control", "control", 2.5), ("held-out", "control", 9.0))
    assert axes.lines[0].get_xdata()[0] == 2.5


def test_every_model_with_a_perplexity_is_plotted():
    rows = headline(("control", "control", 2.0), ("lm", "language_model", 3.0), ("hsmm", "hsmm", 4.0))
    words = {
        f"word_ppl{end}": [float("nan"), 2.0 + shift, 5.0 + shift]
        for end, shift in (("", 0.0), ("_low", -0.1), ("_high", 0.1))
    }
    figure = plot_perplexity(rows.assign(setting=["control", "W/O Title", "EM"], **words), "coherence", "corpus")
    (axes,) = figure.axes
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {
        "real text",
        "W/O Title",
        "hidden semi-Markov model",
    }
    assert {2.0, 5.0} <= {float(x) for line in axes.lines for x in line.get_xdata()}


def perplexities(points):
    """Return rows of the headline table from (system, word PPL, latent PPL), and real text."""
    rows = headline(("control", "control", 1.0), *((system, "language_model", y) for system, _, y in points))
    rows["coherence_latent_ppl_low"] *= 0.97
    rows["coherence_latent_ppl_high"] *= 1.03
    words = pd.Series([float("nan"), *(x for _, x, _ in points)])
    return rows.assign(word_ppl=words, word_ppl_low=0.97 * words, word_ppl_high=1.03 * words)


@pytest.mark.parametrize(
    "points",
    [
        [("smollm2", 28.0, 6.30), ("smollm2-nucleus", 28.0, 6.31)],
        [("smollm2", 28.0, 6.0), ("smollm2-nucleus", 28.0, 6.2), ("smollm2-top-k", 28.0, 6.4), ("bigram", 300.0, 9.0)],
        [(f"model-with-a-long-name-{n}", 20.0 + 15 * (n % 6), 5.0 + n // 6) for n in range(30)],
    ],
)
def test_labels_of_perplexities_are_apart(points):
    figure = plot_perplexity(perplexities(points), "coherence", "corpus")
    (axes,) = figure.axes
    figure.canvas.draw()
    boxes = [Text.get_window_extent(label) for label in axes.texts]  # without lines to points
    assert len(boxes) == len(points)
    covered = sum(a.overlaps(b) for number, a in enumerate(boxes) for b in boxes[:number])
    assert covered == 0 if len(points) < 10 else covered < len(points)
    assert all(
        box.x0 >= axes.bbox.x0 and box.x1 <= axes.bbox.x1 for box in boxes[: len(boxes) if len(points) < 10 else 0]
    )
