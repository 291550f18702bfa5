"""A study in the report: the tables of `collect` on a page; hostile texts are shown as text."""

import numpy as np
import pandas as pd
import pytest

from macroscope.config.human_judgements import HumanJudgements
from macroscope.criticize.inputs import GivenFields
from macroscope.critics import critics
from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.critics.two_sample_test import CriticFiles
from macroscope.errors import MacroscopeError
from macroscope.files import write_json
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.answers import read_answers
from macroscope.human.assignment import Design
from macroscope.human.collecting import collect
from macroscope.human.pool import pool_of_files
from macroscope.human.questionnaire import read_questionnaire
from macroscope.options import CONTROL, Resampling
from macroscope.reporting.chapters import human_chapters
from macroscope.reporting.figures import _plot_correlations
from macroscope.reporting.html_blocks import Captions
from macroscope.reporting.human_documents import (
    ATTRIBUTION_SCORE,
    FILE,
    correlate_run,
    display_documents,
    document_values,
    documents_table,
)
from macroscope.reporting.human_study import display_confusion, display_organisations, display_systems
from macroscope.reporting.human_systems import correlations_table, read_correlations
from macroscope.statistics.tidy import COLUMNS as TIDY
from macroscope.tables import read_csv, write_csv
from tests.tiny import write_texts_of_lengths
from tests.unit.human.conftest import make_answers, write_texts

from ...runs import describe_run

pytestmark = pytest.mark.slow

HOSTILE = "<script>window.hacked = 1</script>"
RIGHT, WRONG = ("introduction", "method", "result"), ("result", "result", "method")


def judge(showing):
    """Answer that real texts are well organised, and every second text of the model is not."""
    if showing["system"] == "lm" and int(showing["document"].split("-")[1]) % 2:
        return WRONG, "incoherent"
    return RIGHT, "coherent"


@pytest.fixture
def judged(tmp_path):
    """Write a study with `collect`, and return its folder."""
    real = write_texts(tmp_path / "real.jsonl", "real", 14)
    model = write_texts(tmp_path / "lm.jsonl", "lm", 10, titled=False)
    pool = pool_of_files([real], {"lm": [model]}, GivenFields(), "en", 2)
    key = write_annotation_form(pool, Design(10, 2, 2, 0.1, 2, 1), read_questionnaire(), tmp_path / "study")
    (tmp_path / "answers").mkdir()
    for annotator in key["annotators"]:
        write_json(tmp_path / "answers" / f"{annotator}.json", make_answers(key, annotator, judge))
    shown = {(s["system"], s["document"]) for s in key["showings"]}
    projected = {key_of_document: [*RIGHT] for key_of_document in shown}
    collect(key, read_answers(key, [tmp_path / "answers"]), tmp_path / "judged", Resampling(resamples=100), projected)
    return tmp_path / "judged"


@pytest.fixture
def results(judged, tmp_path):
    """Return a run of one critic with scores of the study's documents."""
    config = {
        "run": "r",
        "statistics": {"resamples": 100, "permutations": 100},
        "corpora": {"web": {"source": "files", "files": ["x.jsonl"]}},
        "systems": {"lm": {"kind": "files", "files": ["y.jsonl"]}},
        "comparisons": [{"corpus": "web", "critics": ["coherence"]}],
        "human_judgements": [{"corpus": "web", "table": str(judged)}],
    }
    results = describe_run(config, tmp_path / "results" / "r")
    rng = np.random.default_rng(1)
    for system, name, number in (("control", "real", 14), ("lm", "lm", 10)):
        ids = [f"{name}-{n}" for n in range(number)]
        bad = np.array([3.0 * (system == "lm" and n % 2) for n in range(number)])
        scores = pd.DataFrame({"id": ids, "opening": ids, "nll": 3 * (1 + bad + rng.random(number)), "units": 3})
        for kind, table in (("latents", scores[["id", "opening"]].assign(block=np.arange(number))), ("scores", scores)):
            path = results.outputs(kind)["coherence", "web", system]
            path.parent.mkdir(parents=True, exist_ok=True)
            table.to_parquet(path)
        samples = tmp_path / "results" / "r" / "systems" / "web" / system / "samples.parquet"
        write_texts_of_lengths(
            samples, {name: int(length) for name, length in zip(ids, rng.integers(50, 90, number), strict=True)}
        )
    return results


def test_the_page_of_a_study(results, judged, tmp_path):
    for name in ("tables", "figures"):
        (tmp_path / name).mkdir()
    organisations = judged / "organisations.csv"
    organisations.write_text(organisations.read_text().replace("result > result", HOSTILE))
    statistics = pd.DataFrame(columns=list(TIDY))
    assert correlations_table(results, statistics).empty  # one system is too few
    documents = documents_table(results)
    write_csv(documents, tmp_path / "tables" / FILE)
    _plot_correlations(results, statistics, read_correlations(tmp_path / "tables"), tmp_path / "figures")
    [chapter] = human_chapters(results, statistics, tmp_path / "tables", tmp_path / "figures", Captions(results))
    assert [block.title for block in chapter.blocks] == [
        "Scores of the systems by people",
        "Organisations with the lowest answer",
        "Do people agree with each other?",
        "Do people agree with themselves?",
        "Does the classifier agree with people?",
        "Confusion matrix of section types: people and classifier",
        "Time per text",
        "Scores by people",
        "Do people and critics fault the same documents?",
    ]
    whole = "".join(f"{block.title}{block.caption}{block.table}{block.figure}" for block in chapter.blocks)
    assert HOSTILE not in whole
    assert "&lt;script&gt;" in whole
    assert "too few for a correlation over systems" in whole
    assert chapter.blocks[0].figure.startswith("<svg")


def test_two_systems_of_one_name_are_refused_where_documents_are_rated(judged):
    entry = HumanJudgements(corpus="web", table=str(judged), systems={"lm-1": "lm", "lm-2": "lm"})
    with pytest.raises(MacroscopeError, match="several systems are mapped to 'lm'"):
        entry.matched(["lm-1", "lm-2"], "human_judgements.0")


def test_a_document_of_several_texts_has_their_mean(tmp_path):
    texts = pd.DataFrame({"id": ["a", "a", "b"], "opening": ["x"] * 3, "block": range(3), "length": [1.0, 3.0, np.nan]})
    texts.to_parquet(tmp_path / "latents.parquet")
    values = document_values(critics()["tendencies"], {CONTROL: CriticFiles(tmp_path / "latents.parquet", None)}, {}, 1)
    assert values[["statistic", "document", "value"]].to_numpy().tolist() == [["length", "a", 2.0]]


def test_a_critic_without_a_prior_has_attribution_scores(tmp_path):
    pd.DataFrame({"id": ["a", "b", "c"], "words": [5, 6, 7]}).to_parquet(tmp_path / "latents.parquet")
    attributed = [Attribution("a", 6.5, ()), Attribution("b", np.nan, ()), Attribution("c", 7.5, ())]
    write_attributions(attributed, tmp_path / "attributions.parquet")
    files = {CONTROL: CriticFiles(tmp_path / "latents.parquet", None)}
    values = document_values(critics()["strings"], files, {CONTROL: tmp_path / "attributions.parquet"}, 1)
    assert values.loc[values["statistic"] == ATTRIBUTION_SCORE, ["document", "value"]].to_numpy().tolist() == [
        ["a", 6.5],
        ["c", 7.5],
    ]
    without = document_values(critics()["strings"], files, {}, 1)
    assert set(without["statistic"]) == {"words"}


def test_ratings_of_systems_elsewhere_are_counted(results, judged, caplog):
    others = read_csv(judged / "annotations.csv").replace({"system": {"control": "another"}})
    write_csv(others, judged / "annotations.csv")
    correlate_run(results, "web", str(judged))
    assert (
        "ignore 20 of 40 ratings of systems that the run does not evaluate" in caplog.text
    )  # repeated texts never count


def test_scores_of_documents_correlate_with_ratings(results):
    table = documents_table(results).set_index(["statistic", "documents_of"])
    over = table.loc[("nll_per_unit", "over systems")]
    assert over["pearson"] < -0.9  # less likely documents are the incoherent ones
    assert over["documents"] == 20
    assert over["pearson_p_adjusted"] < 0.05
    assert table.loc[("nll_per_unit", "within systems"), "pearson"] < -0.9
    assert table.loc[("units", "over systems"), "reason"] == "all documents have the same value"
    shown = display_documents(table.reset_index())
    assert shown.loc[0, "Pearson"].endswith("*")
    assert set(shown["score"]) == {
        "latent NLL per state",
        "log odds of not being real",
    }  # neither constants nor offsets


def test_tables_of_the_page(judged):
    systems = display_systems(read_csv(judged / "systems.csv")).set_index("system")
    assert systems.loc["lm", "coherent"].startswith("0.50 [")
    assert systems.loc["control", "coherent"].startswith("1.00")
    assert systems.loc["lm", "annotations"] == "20"
    organisations = display_organisations(read_csv(judged / "organisations.csv"))
    assert organisations["lowest"].tolist() == ["10 of 10"]
    confusion = display_confusion(read_csv(judged / "confusion.csv")).set_index("people say")
    assert confusion.loc["introduction", "introduction"] == 30
    assert confusion.loc["result", ["introduction", "method"]].tolist() == [10, 10]
    assert confusion.to_numpy().sum() == 20 * 2 * 3
