"""Figures: systems are plotted as their kind declares, and the control is the system of that name."""

import pandas as pd

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
