"""Results: saved, loaded, shown in a notebook."""

import copy
import pickle

import pandas as pd
import pytest

import macroscope
from macroscope import MacroscopeError
from macroscope.api.result import Comparison
from macroscope.gaps import FAILED, SKIPPED, Gap, write_missing
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.scorecard import COLUMNS, INCONCLUSIVE, UNLIKE, build_scorecards
from macroscope.reporting.scorecard_text import render_html
from macroscope.runs.results import read_run
from macroscope.statistics.tidy import COLUMNS as OF_STATISTICS
from macroscope.tables import write_csv

from ...reader_runs import HOSTILE, write_run
from ...runs import describe_run

CONFIG = {
    "run": "judged",
    "corpora": {name: {"source": "files", "files": ["real.jsonl"]} for name in ("wiki", "web")},
    "systems": {"lm": {"kind": "files", "files": ["mine.jsonl"]}},
    "comparisons": [{"corpus": name, "systems": ["lm"], "critics": ["tendencies"]} for name in ("wiki", "web")],
}

LEFT_OUT = {"corpus": "wiki", "critic": "coherence", "reason": "needs titles", "explanation": "it needs 20 titles"}
EMPTY_CELLS = [
    ("wiki", system, *cell)
    for system in ("lm<b>", SPLIT_HALF)
    for cell in (
        ("coherence", SKIPPED, "needs titles", "it needs 20 titles"),
        ("topics", FAILED, "", "too few words; see a.log"),
    )
]


def scorecard_table(corpora):
    rows = [
        (corpus, system, "tendencies", verdict, 0.8, 0.7, 0.9, 40, 30)
        for corpus in corpora
        for system, verdict in (("lm<b>", UNLIKE), (SPLIT_HALF, INCONCLUSIVE))
    ]
    named = ["corpus", "system", "critic", "verdict", "c2st_auc", "ci_low", "ci_high", "n_reference", "n_candidate"]
    return (
        pd.DataFrame(rows, columns=named)
        .reindex(columns=list(COLUMNS))
        .assign(check=False, warned=False, reason="", explanation="")
    )


@pytest.fixture
def finished(tmp_path, monkeypatch):
    """A finished run of two corpora, with a part that failed and a critic that was left out."""
    monkeypatch.setattr("macroscope.api.result.summarise_run", lambda *_: "They differ.")
    folder = tmp_path / "results" / "judged"
    for name in ("tables", "pages", "reader", "figures"):
        (folder / name).mkdir(parents=True)
    describe_run(CONFIG | {"gaps": [LEFT_OUT]}, folder)
    (folder / "report.html").write_text("the report")
    empty = pd.DataFrame(EMPTY_CELLS, columns=["corpus", "system", "critic", "verdict", "reason", "explanation"])
    cells = pd.concat([scorecard_table(["wiki", "web"]), empty.assign(check=False, warned=False)])
    write_csv(cells, folder / "tables" / "scorecard.csv")
    write_csv(pd.DataFrame(columns=list(OF_STATISTICS)), folder / "tables" / "statistics.csv")
    warnings = pd.DataFrame([("tendencies", "wiki", "T", "Beware.")], columns=["critic", "corpus", "title", "warning"])
    write_csv(warnings, folder / "tables" / "warnings.csv")
    write_missing([Gap(kind=FAILED, corpus="wiki", critic="topics", explanation="too few words")], folder / "tables")
    return tmp_path


def test_a_saved_result_is_loaded_as_it_was(finished, tmp_path):
    made = []
    result = Comparison(read_run(finished / "results" / "judged"), lambda: made.append(True))
    assert result.save(tmp_path / "saved") == tmp_path / "saved" / "results" / "judged"
    assert made == [True]
    loaded = macroscope.load(tmp_path / "saved")
    assert repr(loaded) == repr(result)
    assert loaded.left_out == ["The critic 'coherence' is left out: it needs 20 titles."]
    assert repr(loaded).endswith("\n\nThey differ.")
    for text in ("Beware.", "(1) skipped: it needs 20 titles", "(2) failed: too few words; see a.log"):
        assert text in repr(loaded)
        assert text.replace("'", "&#x27;") in loaded._repr_html_()
    assert loaded.report(tmp_path / "report").read_text() == "the report"


def test_a_folder_with_other_things_is_not_saved_to(finished, tmp_path):
    result = macroscope.load(finished)
    with pytest.raises(MacroscopeError, match="a folder with other things in it"):
        result.save(finished)


def test_an_unfinished_run_is_not_loaded(tmp_path):
    with pytest.raises(MacroscopeError, match="no finished run"):
        macroscope.load(tmp_path)


def test_a_run_without_a_report_says_so(finished, tmp_path):
    (finished / "results" / "judged" / "report.html").unlink()
    with pytest.raises(MacroscopeError, match=r"report\.html is missing; finish the run"):
        macroscope.load(finished).report(tmp_path / "report")


def test_several_corpora_are_rows_of_their_own(finished):
    scorecard = macroscope.load(finished).scorecard
    assert scorecard.index.names == ["corpus", "system"]
    assert scorecard.loc[("web", "lm<b>"), "tendencies"] == "≠ 80 % [70, 90]"
    assert scorecard.loc[("wiki", "lm<b>"), "coherence"] == "skipped: needs titles"
    assert scorecard.loc[("wiki", "lm<b>"), "topics"] == "failed"
    assert scorecard.loc[("web", "lm<b>"), "topics"] == ""


def test_a_notebook_shows_verdicts_in_colour_and_escapes_names():
    html = render_html(list(build_scorecards(scorecard_table(["wiki"]))), 0.1, ["1 < 2", "a:\n  b < c"])
    assert "lm&lt;b&gt;" in html
    assert '<td title="30 texts against 40" style="color: #D55E00">≠ 80 % [70, 90]</td>' in html
    assert "<p>1 &lt; 2</p>" in html
    assert "<pre>a:\n  b &lt; c</pre>" in html
    assert "<caption>" not in html


def test_documents_have_further_numbers_beside_the_score(tmp_path):
    config = write_run(tmp_path, {CONTROL: 4, "shuffled": 6})
    documents = Comparison(read_run(config.parent), lambda: None).documents
    named = ["system", "critic", "id", "text", "score", "percentile", "flagged", "marks", "wit"]
    assert list(documents.columns) == named
    of_topics = documents.query("critic == 'topics' and system == 'shuffled'")
    assert of_topics["wit"].tolist()[:5] == [0, 0.5, 1, pytest.approx(float("nan"), nan_ok=True), 2]
    assert documents.query("critic != 'topics'")["wit"].isna().all()
    assert len(documents) == 3 * (4 + 6 + 2 * len(HOSTILE))
    shown = documents.query("critic == 'coherence' and system == 'shuffled' and id == 'text-3'").iloc[0]
    assert [shown["text"][mark["start"] : mark["end"]][:11] for mark in shown["marks"]] == ["Text", "Second part"]
    real = documents.query("critic == 'coherence' and system == 'control'").set_index("id")
    assert real.loc[["text-0", "text-2"], "percentile"].tolist() == [0, pytest.approx(100 * 2 / 7)]
    assert not real["flagged"].any()


def test_tables_are_escaped_and_the_figure_has_a_panel_per_critic(finished):
    result = macroscope.load(finished)
    assert r"$\neq$ 80 \% [70, 90]" in result.to_latex()
    assert "lm$<$b$>$" in result.to_latex()
    assert "| wiki | lm<b> | ≠ 80 % [70, 90] | skipped: needs titles | failed |" in result.to_markdown()
    assert [axes.get_title(loc="left") for axes in result.plot().axes] == ["tendencies on wiki", "tendencies on web"]


def test_a_pickled_result_has_files_of_its_own(finished):
    result = macroscope.load(finished)
    again = pickle.loads(pickle.dumps(result))
    folder = again.folder
    assert folder != result.folder
    assert repr(again) == repr(result)
    assert again.scorecard.equals(result.scorecard)
    assert copy.copy(result) is copy.deepcopy(result) is result
    del again
    assert not folder.exists()


def test_a_report_replaces_nothing(finished, tmp_path):
    (tmp_path / "paper" / "figures").mkdir(parents=True)
    (tmp_path / "paper" / "figures" / "mine.png").write_text("mine")
    with pytest.raises(MacroscopeError, match="a folder with other things in it"):
        macroscope.load(finished).report(tmp_path / "paper")
    assert (tmp_path / "paper" / "figures" / "mine.png").read_text() == "mine"
