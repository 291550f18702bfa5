"""Every figure function, with 1, 2, 3 and 30 systems of awkward names: no text is cut, no row is on the frame."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.container import BarContainer
from matplotlib.text import Text

import macroscope
from macroscope.api.timeline import Timeline
from macroscope.critics import critics
from macroscope.critics.clusters import figures as clusters
from macroscope.critics.clusters.figures import plot_probing
from macroscope.critics.coherence.figures import plot_reliability_diagram, plot_transition_graph
from macroscope.critics.coreference.figures import SHARES, plot_mentions
from macroscope.critics.divergence_figure import plot_divergences
from macroscope.critics.languages import figures as languages
from macroscope.critics.languages.latents import TopicProportions
from macroscope.critics.narrative import figures as narrative
from macroscope.critics.narrative.options import JUDGE
from macroscope.critics.report_tables import PLOTTED
from macroscope.critics.synthetic import figures as synthetic
from macroscope.critics.tendencies import figures as tendencies
from macroscope.critics.topics import figures as topics
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.plotting import fit, style
from macroscope.reporting import course_figure
from macroscope.reporting import figures as reporting
from macroscope.reporting.correlation_figures import plot_correlations, plot_probabilities, plot_system_scores
from macroscope.reporting.scorecard import INCONCLUSIVE, LIKE, UNLIKE, Scorecard
from macroscope.reporting.scorecard_figure import plot_scorecards
from macroscope.reporting.tables import COLUMNS, add_spread
from macroscope.sameness import page as sameness
from macroscope.statistics.courses import TENTHS
from macroscope.timelines import figure as timeline_figure

AWKWARD = [
    "finetuned-on-all-of-the-encyclopaedia-with-titles-nucleus-0-95-temperature-1-second-seed-of-three",
    "价格是 $5 和 $6，模型生成的文本",
    "a$\\frac{1}{2}$b_{c}^2",
    "نموذج اللغة العربية",
    "gpt2",
]
NUMBERS = (1, 2, 3, 30)
RNG = np.random.default_rng(0)


def names(number):
    return [*AWKWARD, *(f"system-{index}" for index in range(30))][:number]


def statistics(systems, quantities):
    """Return rows of statistics with an interval for every system and quantity."""
    rows = [
        {"system": s, "statistic": q, "value": 0.5, "ci_low": 0.4, "ci_high": 0.7, "p_adjusted": 0.01 + 0.9 * (n % 2)}
        for n, s in enumerate(systems)
        for q in quantities
    ]
    return pd.DataFrame(rows)


def scorecard(systems, corpus):
    verdicts = [UNLIKE, LIKE, INCONCLUSIVE]
    rows = {
        system: {
            critic: pd.Series({"c2st_auc": 0.7, "ci_low": 0.6, "ci_high": 0.8, "verdict": verdicts[n % 3]})
            for critic in ("coherence", "tendencies")
        }
        for n, system in enumerate((*systems, SPLIT_HALF))
    }
    return Scorecard(corpus, ["coherence", "tendencies"], rows, frozenset(), frozenset())


def headline(systems):
    numbers = {
        f"{name}{end}": 5.0 + np.arange(len(systems) + 1) + shift
        for name in ("coherence_latent_ppl", "word_ppl")
        for end, shift in (("", 0), ("_low", -1), ("_high", 1))
    }
    kinds = ["control", *(["language_model", "files", "ngram", "hsmm"] * 8)[: len(systems)]]
    setting = ["W/ Title"] * (len(systems) + 1)
    return pd.DataFrame({"system": [CONTROL, *systems], "kind": kinds, "setting": setting, **numbers})


def curves(systems):
    rows = [
        {"system": s, "divergence": d, "clusters": k, "value": 0.1 * k, "ci_low": 0.05 * k, "ci_high": 0.2 * k}
        for s in (clusters.HALVES, *systems)
        for d in PLOTTED
        for k in (10, 50, 250)
    ]
    return pd.DataFrame(rows).assign(p_adjusted=0.01)


def probing(encoders):
    rows = [
        {"encoder": e, "learned_on": on, "clusters": k, "probe": p, "value": 0.5, "ci_low": 0.4, "ci_high": 0.6}
        for e in encoders
        for on in ("own", "reference")
        for p in ("label", "stop_word_share", "symbol_share")
        for k in (10, 100)
    ]
    return pd.DataFrame(rows).assign(baseline=0.2)


def reliability():
    numbers = {"low": [0.1, 0.8], "high": [0.2, 0.9], "confidence": [0.15, 0.85], "accuracy": [0.2, 0.8]}
    counts = {"sections": 10, "correct": [2, 8], "squares": 4.0, "squared_sections": 20.0, "documents": 8}
    return pd.DataFrame(numbers).assign(**counts, affected=[2, 8])


def transitions(types):
    table = pd.DataFrame({"previous": types, "next": types[1:] + types[:1]})
    interval = {f"probability{end}": value for end, value in (("", 0.5), ("_low", 0.4), ("_high", 0.6))}
    real = {f"reference_{name}": value - 0.3 for name, value in interval.items()}
    return table.assign(
        **interval, **real, frequency=0.1, reference_frequency=0.05, prior_probability=0.2, p_adjusted=0.01
    )


def human(systems):
    rows = [
        {"critic": c, "statistic": s, "question": q, "systems": 8, "spearman": r, "spearman_abs": abs(r)}
        for c in ("clusters", "tendencies")
        for s, r in zip(systems, [0.5, -0.7] * 15, strict=False)
        for q in AWKWARD[:3]
    ]
    return pd.DataFrame(rows).assign(
        spearman_low=-0.8, spearman_high=0.9, spearman_seed_sd=0.1, spearman_p_adjusted=0.01
    )


def scores(systems):
    rows = [
        {"question": q, "system": s, "mean": 2.0, "ci_low": 1.0, "ci_high": 3.0} for q in AWKWARD[:3] for s in systems
    ]
    return pd.DataFrame(rows)


def proportions(systems):
    shares = RNG.dirichlet([1, 1, 1], 20)
    keys = pd.DataFrame({"id": range(20)})
    logs = np.log(shares)
    return {s: TopicProportions(keys, np.ones(20), shares, logs, logs) for s in (CONTROL, *systems[:12])}


def detectors(systems, tmp_path):
    folder = tmp_path / "detector"
    folder.mkdir()
    curve = pd.DataFrame({"false_positive_rate": [0, 0.5, 1], "true_positive_rate": [0, 0.7, 1]})
    curve.to_csv(folder / narrative.ROC, index=False)
    area = pd.DataFrame({"of": ["detector"], "metric": "auc", "value": 0.6, "ci_low": 0.5, "ci_high": 0.7})
    area.to_csv(folder / narrative.METRICS, index=False)
    return {task: dict.fromkeys([JUDGE, *systems[1:]], folder) for task in ("missing", "discordant")}


def points(systems):
    columns = {
        f"{name}{end}": np.linspace(0.1, 0.9, len(systems)) + shift
        for name in ("word_ppl", *synthetic.PANELS)
        for end, shift in (("", 0), ("_low", -0.05), ("_high", 0.05))
    }
    return pd.DataFrame(columns, index=systems)


def panels(systems, table, plot_panel):
    return tendencies.plot_panels({name: table for name in (CONTROL, *systems[:24])}, plot_panel, "tokens", "share", 2)


def texts(systems):
    quantiles = np.linspace(0, 1, 101)
    table = pd.DataFrame({name: 100 * quantiles**2 for name in tendencies.BOXES} | {"quantile": quantiles})
    return {name: table for name in (CONTROL, *systems)}


RANKS = pd.DataFrame(
    {
        "rank": [1, 10, 900],
        "candidate_share": [0.1, 0.01, 1e-6],
        "reference_share": [0.2, 0.01, float("nan")],
        "zipf": [0.1, 0.01, 1e-6],
    }
)
GROWTH = pd.concat(
    pd.DataFrame({"mean_tokens": [50, 100], "mean_types": [30, 50], "standard_error": 1.0, "prefix": prefix})
    for prefix in ("heaps", "heaps_bigram")
)
DISTANCES = GROWTH.assign(d_own=0.1, d_reference=0.2, d_empirical=0.3, p_adjusted=0.01)
NULL = pd.DataFrame({"statistic": list(tendencies.NULLS) * 20, "draw": RNG.normal(size=20 * len(tendencies.NULLS))})


def timeline(points):
    rows = [
        {"corpus": c, "critic": critic, "statistic": s, "point": p, "position": at, "value": 0.6 + 0.01 * at}
        for c in AWKWARD[:2]
        for s in ("c2st_auc", "latent_nll")
        for critic in ("tendencies", "strings")
        for at, p in enumerate(points)
    ]
    tests = {f"{what}_{since}": 0.01 for what in ("change_from", "p_adjusted") for since in ("previous", "first")}
    return pd.DataFrame(rows).assign(ci_low=0.4, ci_high=1.2, **tests)


def similarities(systems):
    return pd.concat([statistics(systems, ["x"]).assign(view=view) for view in ("structure", "wording")])


def distances(number):
    places = RNG.random(number)
    return (places[:, None] - places[None, :]) ** 2


def growth(systems):
    """Return numbers of different texts among k, in three scopes."""
    scopes = sameness._SCOPES
    rows = [{"scope": scope, "system": system, "k": k} for scope in scopes for system in systems for k in range(2, 11)]
    return pd.DataFrame(rows).assign(value=lambda rows: 0.8 * rows["k"], ci_low=1.5, ci_high=lambda rows: rows["k"])


def courses():
    """Return curves of all measures that critics declare."""
    values = np.linspace(0.1, 0.9, TENTHS)
    curves = {"value": values, "ci_low": values - 0.1, "ci_high": values + 0.1, "real": 0.5, "real_low": 0.4}
    numbers = {"tenth": range(1, TENTHS + 1), **curves, "real_high": 0.6, "p_adjusted": [1.0] * 8 + [0.01] * 2}
    declared = {name: critic.data.course.measures for name, critic in critics().items() if critic.data.course}
    return pd.concat(
        [
            pd.DataFrame(numbers).assign(critic=name, measure=each)
            for name, measures in declared.items()
            for each in measures
        ]
    )


FIGURES = {
    (reporting, "plot_latent"): lambda s, _: reporting.plot_latent(
        headline(s), "coherence", "wiki", pd.DataFrame({"system": s[:1], "truth": [4.0]}), 95
    ),
    (reporting, "plot_perplexity"): lambda s, _: reporting.plot_perplexity(headline(s), "coherence", "wiki"),
    (reporting, "plot_losses"): lambda s, _: reporting.plot_losses(
        pd.DataFrame({"epoch": [1, 2], "train_loss": [3.0, 2.0], "valid_loss": [3.1, 2.5]}), f"Training of {s[-1]}"
    ),
    (None, "plot_probabilities"): lambda s, _: plot_probabilities(
        add_spread(
            pd.DataFrame({name: 0.0 for name in COLUMNS} | {"system": s, "setting": s, "corpus": "wiki"}).assign(
                estimate="clusters", spearman=0.3, ci_low=0.1, ci_high=0.4
            )
        ),
        "wiki",
    ),
    (None, "plot_correlations"): lambda s, _: plot_correlations(human(s), 60, "on web", 95),
    (None, "plot_system_scores"): lambda s, _: plot_system_scores(scores(s)),
    (None, "plot_scorecards"): lambda s, _: plot_scorecards([scorecard(s, corpus) for corpus in ("web", "wiki")]),
    (clusters, "plot_curves"): lambda s, _: clusters.plot_curves(curves(s[: clusters.MOST_LINES - 1])),
    (None, "plot_probing"): lambda s, _: plot_probing(probing(s), "wiki"),
    (None, "plot_divergences"): lambda s, _: plot_divergences(statistics([SPLIT_HALF, *s], PLOTTED), [CONTROL, *s]),
    (None, "plot_reliability_diagram"): lambda s, _: plot_reliability_diagram(reliability(), s[-1], 0.95),
    (None, "plot_transition_graph"): lambda s, _: plot_transition_graph(transitions(s), "Transitions of x", 0.95),
    (None, "plot_mentions"): lambda s, _: plot_mentions(statistics([CONTROL, *s], SHARES), [CONTROL, *s], 95),
    (languages, "plot_simplex"): lambda s, _: languages.plot_simplex(proportions(s), AWKWARD[1:4], len(s)),
    (languages, "plot_largest_shares"): lambda s, _: languages.plot_largest_shares(proportions(s), AWKWARD, 1),
    (narrative, "plot_roc"): lambda s, folder: narrative.plot_roc(detectors(s, folder)),
    (narrative, "plot_rates"): lambda s, _: narrative.plot_rates(
        statistics([CONTROL, *s], ["missing_share", "discordant_share"]), [CONTROL, *s], ["missing", "discordant"]
    ),
    (synthetic, "plot_curves"): lambda s, _: synthetic.plot_curves(
        points(s), {"a line": s[:2]}, {"word_ppl": 2.0, "latent_ppl": 8.0}
    ),
    (tendencies, "ranks"): lambda s, _: panels(s, RANKS, tendencies._plot_ranks),
    (tendencies, "types"): lambda s, _: panels(s[:3], GROWTH, tendencies._plot_type_token),
    (tendencies, "lengths"): lambda s, _: tendencies.plot_panels(
        texts(s[:3]), tendencies._plot_lengths, "tokens", "share"
    ),
    (tendencies, "plot_panels"): lambda s, _: panels(s[:3], DISTANCES, tendencies._plot_distances),
    (tendencies, "plot_vocabulary"): lambda s, _: tendencies.plot_vocabulary(
        statistics(s, ["vocabulary_size", "vocabulary_size_compared", "vocabulary_size_difference"]), s
    ),
    (tendencies, "plot_boxes"): lambda s, _: tendencies.plot_boxes(texts(s)),
    (tendencies, "plot_null"): lambda s, _: tendencies.plot_null(
        {name: NULL for name in (CONTROL, *s)}, statistics([SPLIT_HALF, *s], tendencies.NULLS), 3
    ),
    (tendencies, "plot_training_null"): lambda s, _: tendencies.plot_training_null(
        0.01, np.linspace(0.001, 0.1, 50), statistics(s, ["tvd_sup"])
    ),
    (sameness, "plot_estimates"): lambda s, _: sameness.plot_estimates(
        similarities(s), s, ["structure", "wording"], similarities(["reference"]), "as similar"
    ),
    (sameness, "plot_matrix"): lambda s, _: sameness.plot_matrix(
        RNG.random((len(s) + 1, len(s) + 1)), distances(len(s) + 1), [*s, "reference"], "similarity"
    ),
    (sameness, "plot_growth"): lambda s, _: sameness.plot_growth(growth(s[: sameness._MOST_NUMBERS]), sameness._SCOPES),
    (timeline_figure, "plot_timeline"): lambda s, _: timeline_figure.plot_timeline(timeline(s), None, 95),
    (course_figure, "plot_courses"): lambda s, _: course_figure.plot_courses(courses(), s[0], 95),
    (Timeline, "plot"): lambda s, _: Timeline(timeline(s), 0.95).plot(),
    (topics, "plot_covariances"): lambda s, _: topics.plot_covariances(
        [topics.Panel(name, np.eye(6), "latent NLL 12.34 nats") for name in (CONTROL, *s[:12])], 1.0, "covariance", 2
    ),
}


def visible_texts(figure):
    """Return the texts of a drawn figure, without tick labels outside of the limits, which are not drawn."""
    ticks = {
        tick
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
        if not axes.axison or not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    hidden = {label for tick in ticks for label in (tick.label1, tick.label2)}
    hidden |= {axis.label for axes in figure.axes if not axes.axison for axis in (axes.xaxis, axes.yaxis)}
    return [text for text in figure.findobj(Text) if text.get_text() and text.get_visible() and text not in hidden]


def test_every_figure_function_is_drawn_here():
    sources = [path.read_text(encoding="utf-8") for path in Path(macroscope.__file__).parent.rglob("*.py")]
    declared = {name for source in sources for name in re.findall(r"def (\w+)\([^)]*\) -> Figure:", source)}
    assert declared
    assert declared <= {name for _, name in FIGURES}


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("figure", FIGURES, ids=[name for _, name in FIGURES])
def test_no_text_is_cut_no_row_is_on_the_frame_and_bars_begin_at_zero(figure, number, tmp_path):
    with style():
        drawn = FIGURES[figure](names(number), tmp_path)
        fit(drawn)
        drawn.draw_without_rendering()
    width, height = drawn.bbox.max
    for text in visible_texts(drawn):
        box = text.get_window_extent()
        assert -1 <= box.x0 < box.x1 <= width + 1, text
        assert -1 <= box.y0 < box.y1 <= height + 1, text
    for axes in drawn.axes:
        titles = [label.get_text() for label in axes.get_yticklabels()]
        low, high = sorted(axes.get_ylim())
        if any(name in titles for name in ("real text", "gpt2")):
            assert low <= -0.5
            assert high >= len(titles) - 0.5
        for bars in (bars for bars in axes.containers if isinstance(bars, BarContainer)):
            lengths = axes.yaxis if bars.orientation == "vertical" else axes.xaxis
            assert lengths.get_scale() == "linear"
            assert min(lengths.get_view_interval()) <= 0 <= max(lengths.get_view_interval())
    plt.close(drawn)
