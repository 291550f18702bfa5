"""Tidy statistics against human scores: schema, reasons for undefined rows, seeds, real text, adjustment."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from macroscope.errors import MacroscopeError
from macroscope.options import Resampling
from macroscope.statistics.judgements import Judgements
from macroscope.statistics.p_values import benjamini_hochberg
from macroscope.statistics.system_ratings import COLUMNS, correlate_file, correlate_statistics

SYSTEMS = ["a", "b", "c", "d", "e"]
SCORES = dict(zip(SYSTEMS, [5.0, 4.0, 3.0, 2.0, 1.0], strict=True))
JUDGEMENTS = Judgements("mine", {"fluent": SCORES | {"human": 9.0}, "coherent": {"a": 1, "b": 3, "c": 2, "d": 0}})
SAME = {system: system for system in SYSTEMS}
RESAMPLING = Resampling(permutations=999, seed=3)


def tidy(**values):
    """Statistics of one critic: name -> values of the systems."""
    rows = [
        {"critic": "clusters", "statistic": name, "system": system, "value": value}
        for name, values_of_systems in values.items()
        for system, value in (
            values_of_systems
            if isinstance(values_of_systems, dict)
            else dict(zip(SYSTEMS, values_of_systems, strict=True))
        ).items()
    ]
    return pd.DataFrame(rows)


def correlated(statistics, mapping=SAME, question="fluent", **options):
    table = correlate_statistics(statistics, JUDGEMENTS, mapping, RESAMPLING, corpus="web", **options)
    return table[table["question"] == question].set_index("statistic")


def test_table_is_tidy():
    table = correlate_statistics(
        tidy(kl=[1, 2, 3, 4, 5], ppl=[2, 1, 4, 3, 5]), JUDGEMENTS, SAME, RESAMPLING, corpus="web"
    )
    assert tuple(table.columns) == COLUMNS
    assert list(table["question"]) == ["fluent", "fluent", "coherent", "coherent"]
    assert list(table["systems"]) == [5, 5, 4, 4]  # no score of e for coherence
    assert set(table["corpus"]) == {"web"}
    assert set(table["table"]) == {"mine"}
    assert set(table["seed"]) == {3}
    assert (table["reason"] == "").all()
    assert table["signature"].str.contains("permutations:999").all()
    assert table["spearman"].iloc[0] == -1
    assert table["spearman_abs"].iloc[0] == 1
    assert table["pearson"].iloc[1] == pytest.approx(stats.pearsonr([2, 1, 4, 3, 5], [5, 4, 3, 2, 1]).statistic)
    for coefficient in ("spearman", "pearson"):
        inside = table[f"{coefficient}_low"] <= table[coefficient] + 1e-12
        assert (inside & (table[coefficient] <= table[f"{coefficient}_high"] + 1e-12)).all()


def test_adjustment_is_over_the_statistics_of_a_question():
    rng = np.random.default_rng(0)
    table = correlate_statistics(tidy(**{f"s{k}": rng.normal(size=5) for k in range(20)}), JUDGEMENTS, SAME, RESAMPLING)
    for _, rows in table.groupby("question"):
        for coefficient in ("spearman", "pearson"):
            adjusted = benjamini_hochberg(rows[f"{coefficient}_p_value"])
            assert rows[f"{coefficient}_p_adjusted"].to_numpy() == pytest.approx(adjusted)


def test_nothing_is_left_out_without_a_reason():
    statistics = tidy(
        kl=[1, 2, 3, 4, 5],
        ppl={"a": 1.0, "b": 2.0},
        gap=[1, np.nan, 3, 4, 5],
        same=[1, 1, 1, 1, 1],
        infinite=[1, 2, 3, 4, np.inf],
        of_real_text={"control": 1.0},
    )
    table = correlated(statistics)
    assert list(table.index) == ["kl", "ppl", "gap", "same", "infinite", "of_real_text"]
    assert dict(table["reason"]) == {
        "kl": "",
        "ppl": "no value for c, d, e",
        "gap": "no value for b",
        "same": "all systems have the same value",
        "infinite": "pearson: infinite for a system",
        "of_real_text": "no value for a, b, c and 2 more",
    }
    undefined = table.drop(index=["kl", "infinite"])
    assert undefined[[c for c in table if c.startswith(("spearman", "pearson"))]].isna().all(axis=None)
    assert table.at["infinite", "spearman"] == -1
    assert np.isnan(table.at["infinite", "pearson"])
    assert (correlated(statistics, question="coherent")["reason"]["ppl"]) == "no value for c, d"


@pytest.mark.slow
def test_real_text_counts_if_the_control_has_a_value():
    values = dict(zip(SYSTEMS, [2.0, 1, 4, 3, 5], strict=True))
    statistics = tidy(ppl=values | {"control": 0.5}, kl=values, gap=values | {"control": np.nan})
    assert list(correlated(statistics)["systems"]) == [5, 5, 5]
    table = correlated(statistics, real_text="human")
    assert list(table["systems"]) == [6, 5, 5]
    expected = stats.spearmanr([2, 1, 4, 3, 5, 0.5], [5, 4, 3, 2, 1, 9]).statistic
    assert table.at["ppl", "spearman"] == pytest.approx(expected)
    assert table.at["kl", "spearman"] == correlated(statistics).at["kl", "spearman"]
    # Real text has no score for coherence.
    assert list(correlated(statistics, real_text="human", question="coherent")["systems"]) == [4, 4, 4]


def test_exponentials_of_sums_over_strings_do_not_overflow():
    """exp(KL) of 800 to 1,190 nats is infinite in double precision; its correlations are those of any multiple."""
    logarithms = np.array([800.0, 801.0, 803.0, 802.0, 1190.0])
    table = correlated(tidy(forward_kl=logarithms, exponentiated_kl=[np.inf] * 5))
    assert table.at["exponentiated_kl", "spearman"] == table.at["forward_kl", "spearman"]
    close = tidy(forward_kl=[*logarithms[:4].tolist(), 802.5], exponentiated_kl=[np.inf] * 5)
    expected = np.corrcoef(np.exp(np.array([0, 1, 3, 2, 2.5])), [5, 4, 3, 2, 1])[0, 1]
    assert correlated(close).at["exponentiated_kl", "pearson"] == pytest.approx(expected)


@pytest.mark.slow
def test_seeds_of_a_system_form_groups():
    first, second = [1, 2, 3, 4, 5], [1, 3, 2, 4, 5]
    names = [f"{system}-{seed}" for seed in (1, 2) for system in SYSTEMS]
    mapping = {name: name[0] for name in names}
    statistics = tidy(kl=dict(zip(names, [*first, *second], strict=True)))
    row = correlated(statistics, mapping).loc["kl"]
    each = [correlated(tidy(kl=values)).at["kl", "spearman"] for values in (first, second)]
    assert (row["systems"], row["seeds"]) == (5, 2)
    assert row["spearman"] == pytest.approx(np.mean(each))
    assert row["spearman_seed_sd"] == pytest.approx(np.std(each, ddof=1))
    assert np.isnan(correlated(tidy(kl=first)).at["kl", "spearman_seed_sd"])
    missing = statistics[statistics["system"] != "c-2"]
    assert correlated(missing, mapping).at["kl", "reason"] == "no value for c-2"


def test_two_values_of_one_system_are_an_error():
    statistics = tidy(kl=[1, 2, 3, 4, 5])
    with pytest.raises(MacroscopeError, match="two values of clusters kl for 'a'"):
        correlated(pd.concat([statistics, statistics]))


def test_critics_are_correlated_separately():
    both = pd.concat([tidy(ppl=[1, 2, 3, 4, 5]), tidy(ppl=[5, 4, 3, 2, 1]).assign(critic="strings")])
    table = correlated(both).reset_index().set_index("critic")
    assert table.at["clusters", "spearman"] == -1
    assert table.at["strings", "spearman"] == 1


SCORED = "system,score\n" + "".join(f"{system},{score}\n" for system, score in SCORES.items())


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_statistics_outside_a_run(tmp_path, caplog):
    statistics = tidy(kl=[1, 2, 3, 5, 4]).assign(corpus="web")
    extra = pd.DataFrame({"critic": "clusters", "statistic": "kl", "system": ["new", "control"], "value": 7.0})
    path = tmp_path / "statistics.csv"
    pd.concat([statistics, extra.assign(corpus="web")]).to_csv(path, index=False)
    with caplog.at_level("INFO"):
        table = correlate_file(path, str(write(tmp_path / "mine.csv", SCORED)), RESAMPLING)
    assert "systems without a human score, which are left out: new" in caplog.text
    assert list(table["corpus"]) == ["web"]
    assert table["spearman"].iloc[0] == pytest.approx(-0.9)
    assert table["systems"].iloc[0] == 5


def test_minimal_statistics_suffice(tmp_path):
    path = write(tmp_path / "s.csv", "system,statistic,value\na,kl,1\nb,kl,2\nc,kl,\nd,kl,inf\n")
    table = correlate_file(path, str(write(tmp_path / "mine.csv", SCORED)), RESAMPLING)
    assert table["reason"].iloc[0] == "no value for c"
    mapping = {"a": "a", "b": "b", "d": "d"}
    table = correlate_file(path, str(tmp_path / "mine.csv"), RESAMPLING, mapping=mapping)
    assert table["spearman"].iloc[0] == -1
    assert table["critic"].iloc[0] == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("system,value\na,1\n", "no column 'statistic'"),
        ("system,statistic,value\na,kl,1\nb,kl,much\n", "line 3: the value 'much' is not a number"),
        ("system,statistic,value\n", "no statistics"),
        ("", "not a CSV file"),
        ("system,statistic,value\na,kl,1\nb,kl,1\n", "2 of the systems are in the table"),
        ("corpus,system,statistic,value\nx,a,kl,1\ny,a,kl,1\n", "several corpora (x, y); choose one with --corpus"),
    ],
)
def test_wrong_statistics_are_an_error_of_one_sentence(tmp_path, text, message):
    table = str(write(tmp_path / "mine.csv", SCORED))
    with pytest.raises(MacroscopeError) as error:
        correlate_file(write(tmp_path / "s.csv", text), table, RESAMPLING)
    assert message in str(error.value)
    assert "s.csv" in str(error.value)
    assert "\n" not in str(error.value)


def test_wrong_names_outside_a_run(tmp_path):
    table = str(write(tmp_path / "mine.csv", SCORED))
    path = tmp_path / "s.csv"
    tidy(kl=[1, 2, 3, 5, 4]).assign(corpus="web").to_csv(path, index=False)
    with pytest.raises(MacroscopeError, match="there is no system 'aa'"):
        correlate_file(path, table, RESAMPLING, mapping={"aa": "a"})
    with pytest.raises(MacroscopeError, match="there is no corpus 'wep'; did you mean 'web'"):
        correlate_file(path, table, RESAMPLING, corpus="wep")
    with pytest.raises(MacroscopeError, match="no such file of statistics"):
        correlate_file(tmp_path / "none.csv", table, RESAMPLING)


@pytest.mark.slow
def test_the_command_writes_the_same_table(tmp_path, monkeypatch, capsys):
    import sys

    from macroscope import cli

    path, output = tmp_path / "s.csv", tmp_path / "out.csv"
    tidy(kl=[1, 2, 3, 5, 4]).assign(corpus="web").to_csv(path, index=False)
    mine = write(tmp_path / "mine.csv", SCORED)
    arguments = ["statistics", "correlate", "--statistics", path, "--judgements", mine, "--output", output]

    def run(*more):
        monkeypatch.setattr(sys, "argv", ["macroscope", *map(str, arguments), *more])
        with pytest.raises(SystemExit) as done:
            cli.main()
        return done.value.code, capsys.readouterr()

    assert run("--seed", "3", "--permutations", "999")[0] == 0
    expected = correlate_file(path, str(mine), RESAMPLING)
    written = pd.read_csv(output)
    assert tuple(written.columns) == COLUMNS
    for column in ("spearman", "pearson", "spearman_low", "spearman_p_value", "systems", "statistic"):
        assert list(written[column]) == list(expected[column])
    code, output_of_run = run("--system", "a=a", "--system", "b=b", "--system", "c=e")
    assert code == 0
    assert "kl" in output_of_run.out
    assert "'a' is not NAME=NAME" in run("--system", "a")[1].err
    assert "'a' is given twice" in run("--system", "a=a", "--system", "a=b")[1].err


@pytest.mark.slow
def test_ratings_and_metrics_of_real_stories(tmp_path, real_text):
    """HANNA (Chhun et al. 2022): eleven systems, six questions, some 250 metrics, against scipy."""
    table = pd.read_csv(real_text("hanna/hanna_metric_scores_llm.csv.gz")).set_index("Model")
    means = table.map(lambda cell: np.mean(json.loads(cell))).rename(index={"Human": "control"})
    questions = list(means.columns[:6])
    scores = means[questions].rename(index={"control": "people"}).rename_axis("system")
    scores.melt(ignore_index=False, var_name="question", value_name="score").to_csv(tmp_path / "scores.csv")
    statistics = means.drop(columns=questions).rename_axis("system")
    statistics.melt(ignore_index=False, var_name="statistic").to_csv(tmp_path / "statistics.csv")
    files = (tmp_path / "statistics.csv", str(tmp_path / "scores.csv"), Resampling(permutations=2000))
    correlations = correlate_file(*files, real_text="people").set_index(["question", "statistic"])
    assert len(correlations) == 6 * statistics.shape[1]
    assert set(correlations["systems"]) == {11}
    for question in questions:
        for statistic in statistics.columns[::25]:
            row, x, y = correlations.loc[(question, statistic)], statistics[statistic], means[question]
            theory = stats.spearmanr(x, y)
            assert row["spearman"] == pytest.approx(theory.statistic)
            assert row["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic)
            assert row["spearman_p_value"] == pytest.approx(theory.pvalue, abs=0.05)
    without_real_text = correlate_file(*files).set_index(["question", "statistic"])
    assert set(without_real_text["systems"]) == {10}
    # Similarity to the human story is perfect for that story itself, which flatters such a metric if real text counts.
    bert = ("Coherence", "BERTScore F1 Ξε")
    assert correlations.at[bert, "spearman"] > without_real_text.at[bert, "spearman"]
