"""Human judgements in tables, figures and report, and their absence without configured judgements."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from macroscope.options import CONTROL, Resampling
from macroscope.plotting import save
from macroscope.reporting.chapters import human_chapters
from macroscope.reporting.correlation_figures import MOST_ROWS, plot_correlations
from macroscope.reporting.figures import _plot_correlations
from macroscope.reporting.html_blocks import Captions
from macroscope.reporting.human_systems import (
    correlations_table,
    display_correlations,
    display_scores,
    display_undefined,
    quality_measures,
    read_correlations,
    read_human_scores,
    select_correlations,
    select_measures,
)
from macroscope.reporting.tables import _write_correlations
from macroscope.statistics.judgements import read_judgements
from macroscope.statistics.system_ratings import COLUMNS, correlate_statistics
from macroscope.statistics.tidy import COLUMNS as TIDY
from tests.tiny import write_texts_of_lengths

from ...runs import describe_run

pytestmark = pytest.mark.slow

NAMES = [name for name in read_judgements("mauve").systems if name != "human"]
SCORES = read_judgements("mauve").scores


def run_of(tmp_path, entries, systems=NAMES):
    """Return the results of a config whose systems are files."""
    config = {
        "statistics": {"permutations": 500},
        "corpora": {"web": {"source": "files", "files": ["x.jsonl"]}},
        "systems": {name: {"kind": "files", "files": ["y.jsonl"]} for name in systems},
        "comparisons": [{"corpus": "web", "critics": ["coherence", "clusters"]}],
        "human_judgements": entries,
    }
    for number, system in enumerate([CONTROL, *systems]):
        path = tmp_path / "systems" / "web" / system / "samples.parquet"
        write_texts_of_lengths(path, {f"{system}-{text}": 50 + 10 * number + text for text in range(3)})
    return describe_run(config, tmp_path)


def statistics_of(systems=NAMES, seed=0):
    """Return tidy statistics: one that agrees with people, one random, one signed difference, one of a single
    system."""
    rng = np.random.default_rng(seed)
    rows = []
    for system in systems:
        score = SCORES["sensible"].get(system, 0.0)
        for critic, statistic, value, p in (
            ("coherence", "latent_ppl", 100 - score, 0.01),
            ("coherence", "latent_ppl_ratio", 50 - score / 2, 0.01),
            ("clusters", "forward_kl", rng.uniform(), 0.2),
            ("clusters", "mauve", rng.uniform(), 0.2),
            ("clusters", "latent_nll_difference", rng.normal(), 0.3),
            ("clusters", "clusters", 8.0, np.nan),
        ):
            rows.append({"critic": critic, "statistic": statistic, "system": system, "value": value, "p_value": p})
    rows.append({"critic": "coherence", "statistic": "latent_ppl", "system": "control", "value": 30.0})
    rows.append({"critic": "perplexity", "statistic": "word_ppl", "system": systems[0], "value": 30.0})
    return pd.DataFrame(rows, columns=list(TIDY)).assign(corpus="web", n_reference=50, n_candidate=50)


@pytest.fixture
def made(tmp_path):
    """Return results with their tables and figures."""
    results, statistics = run_of(tmp_path, [{"corpus": "web", "table": "mauve"}]), statistics_of()
    for name in ("tables", "figures"):
        (tmp_path / name).mkdir()
    _write_correlations(results, statistics, tmp_path / "tables")
    _plot_correlations(results, statistics, read_correlations(tmp_path / "tables"), tmp_path / "figures")
    return results, statistics, tmp_path


def test_nothing_is_written_without_a_configured_table(tmp_path):
    results, statistics = run_of(tmp_path, []), statistics_of()
    assert list(correlations_table(results, statistics).columns) == list(COLUMNS)
    _write_correlations(results, statistics, tmp_path)
    _plot_correlations(results, statistics, read_correlations(tmp_path), tmp_path)
    assert [*human_chapters(results, statistics, tmp_path, tmp_path, Captions(results))] == []
    assert {path.name for path in tmp_path.iterdir()} == {"config.json", "config.contents.json", "systems"}


def test_tables_and_figures(made):
    _, _, folder = made
    assert {path.name for path in (folder / "tables").iterdir()} == {"human_correlations.csv", "human_web_mauve.tex"}
    assert {path.name for path in (folder / "figures").iterdir()} == {"human_web_mauve.svg", "human_web_mauve.pdf"}
    table = read_correlations(folder / "tables")
    assert tuple(table.columns) == COLUMNS
    assert len(table) == 3 * 7  # every statistic of every question has a row
    row = table[(table["question"] == "sensible") & (table["statistic"] == "latent_ppl")].iloc[0]
    assert row["spearman"] == -1
    assert row["spearman_p_value"] == pytest.approx(2 / 40320)
    assert row["systems"] == 8
    assert (table["reason"] != "").sum() == 3 * 2  # the number of clusters, and word PPL
    tex = (folder / "tables" / "human_web_mauve.tex").read_text()
    assert "latent\\_ppl" in tex


def test_same_bytes_again(made):
    results, statistics, folder = made
    for name in ("more", "figures2"):
        (folder / name).mkdir()
    _write_correlations(results, statistics, folder / "more")
    _plot_correlations(results, statistics, read_correlations(folder / "more"), folder / "figures2")
    for path in (*(folder / "tables").iterdir(), *(folder / "figures").iterdir()):
        again = "more" if path.parent.name == "tables" else "figures2"
        assert path.read_bytes() == (folder / again / path.name).read_bytes()


def test_chapter_of_the_report(made):
    results, statistics, folder = made
    [chapter] = human_chapters(results, statistics, folder / "tables", folder / "figures", Captions(results))
    assert chapter.title == "human judgement: mauve on web"
    blocks = chapter.blocks
    assert [block.title for block in blocks] == [
        "Which statistics agree with people",
        "Correlations, in numbers",
        "Scores by people",
        "Undefined correlations and reasons",
    ]
    figure, numbers, scored, undefined = blocks
    assert figure.figure.startswith("<svg")
    assert "0.74" in figure.caption
    assert "seeds" not in figure.caption
    assert "-1.00 [-1.00, -0.90] *" in numbers.table
    assert "Pillutla" in scored.caption
    assert "Text by people does not count" in scored.caption
    assert "no value for" in undefined.table
    assert len({block.anchor for block in blocks}) == 4
    assert not any(re.search(r"\{\{|\{%|system-message", block.caption) for block in blocks)


def test_chapter_without_defined_correlations(tmp_path):
    results, statistics = run_of(tmp_path, [{"corpus": "web", "table": "mauve"}]), statistics_of()
    statistics = statistics[statistics["system"] != NAMES[0]]
    _write_correlations(results, statistics, tmp_path)
    _plot_correlations(results, statistics, read_correlations(tmp_path), tmp_path)
    [chapter] = human_chapters(results, statistics, tmp_path, tmp_path, Captions(results))
    assert [block.title for block in chapter.blocks] == ["Scores by people", "Undefined correlations and reasons"]
    assert not list(tmp_path.glob("human_web*"))


def test_quality_measures_are_distances_and_perplexities():
    assert quality_measures(statistics_of()) == {
        ("coherence", "latent_ppl"),
        ("clusters", "forward_kl"),
        ("clusters", "mauve"),
        ("perplexity", "word_ppl"),
    }


def test_seeds_and_real_text_through_the_config(tmp_path):
    seeds = {f"{name}-{seed}": name for name in NAMES for seed in (1, 2)}
    entry = {"corpus": "web", "table": "mauve", "systems": seeds, "real_text": "human"}
    results = run_of(tmp_path, [entry], systems=[*seeds, "unscored"])
    statistics = statistics_of([*seeds, "unscored"])
    table = correlations_table(results, statistics)
    assert set(table["seeds"]) == {2}
    rows = table[table["question"] == "sensible"].set_index("statistic")
    assert rows.at["latent_ppl", "systems"] == 9
    assert rows.at["forward_kl", "systems"] == 8
    assert rows.at["forward_kl", "spearman_seed_sd"] > 0
    [judged] = read_human_scores(results)
    scores = display_scores(judged).set_index("in the table")["in this run"]
    assert scores["human"] == "control"
    assert scores["gpt2-xl-nucleus"] == "gpt2-xl-nucleus-1, gpt2-xl-nucleus-2"
    assert scores["–"] == "unscored"
    shown = display_correlations(select_measures(table, quality_measures(statistics))).set_index("statistic")
    assert ", sd 0." in shown.at["forward_kl", "sensible: Spearman"]
    caption = Captions(results).html("human_figure", judgements=judged.judgements, seeds=2, real_text="human")
    assert "2 groups of seeds" in caption


def test_a_users_table_and_a_built_in_one_side_by_side(tmp_path):
    mine = tmp_path / "asked in may.csv"
    mine.write_text("question,system,score\n" + "".join(f"1,{name},{k}\n" for k, name in enumerate(NAMES[:4])))
    entries = [{"corpus": "web", "table": "mauve"}, {"corpus": "web", "table": str(mine)}]
    results = run_of(tmp_path, entries)
    table = correlations_table(results, statistics_of())
    assert table.groupby("table")["systems"].first().to_dict() == {"mauve": 8, str(mine): 4}
    builtin, custom = read_human_scores(results)
    assert (custom.stem, custom.title) == ("human_web_asked-in-may", "asked in may.csv on web")
    assert set(select_correlations(table, custom)["question"]) == {"1"}
    table[table["reason"] == ""].to_csv(tmp_path / "human_correlations.csv", index=False)
    again = read_correlations(tmp_path)
    assert set(again["reason"]) == {""}
    assert set(select_correlations(again, custom)["question"]) == {"1"}
    assert custom.others == NAMES[4:]
    undefined = display_undefined(select_correlations(table, builtin))
    assert set(undefined["critic"]) == {"clusters", "perplexity"}


def test_figure_states_how_many_statistics_it_omits(tmp_path):
    rng = np.random.default_rng(1)
    rows = [
        {"critic": "clusters", "statistic": f"s{k}", "system": name, "value": rng.normal()}
        for k in range(MOST_ROWS + 5)
        for name in NAMES
    ]
    table = correlate_statistics(
        pd.DataFrame(rows), read_judgements("mauve"), {name: name for name in NAMES}, Resampling()
    )
    figure = plot_correlations(table, 60, "mauve on web", 95)
    assert f"{MOST_ROWS} of 60 statistics" in figure.get_suptitle()
    assert [axes.get_title(loc="left") for axes in figure.axes] == list(SCORES)
    for axes in figure.axes:
        assert "8 systems: chance below 0.74" in axes.get_xlabel()
        assert axes.get_xlim() == (0, 1.03)
    assert len(figure.axes[0].get_yticklabels()) == MOST_ROWS + 1
    save(figure, tmp_path / "f")
    assert (tmp_path / "f.svg").exists()


def test_effective_config_holds_the_judgements(tmp_path):
    results = run_of(tmp_path, [{"corpus": "web", "table": "mauve"}])
    config = json.loads((results.folder / "config.json").read_text())
    assert config["human_judgements"] == [{"corpus": "web", "table": "mauve", "systems": None, "real_text": None}]
