"""A study of a finished run, through to its report: sheets, answers, and the folder of both in the config."""

import pytest
import yaml

from macroscope.files import write_json
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.answers import read_answers
from macroscope.human.assignment import Design
from macroscope.human.collecting import collect
from macroscope.human.pool import pool_of_run
from macroscope.human.questionnaire import read_questionnaire
from macroscope.options import Resampling
from macroscope.tables import read_csv

from ..unit.human.conftest import make_answers

QUESTIONS = {
    "instructions": "Is the text in order?",
    "questions": [
        {
            "name": "coherent",
            "text": "Coherent?",
            "choices": [{"label": "coherent", "score": 1}, {"label": "incoherent", "score": 0}],
        }
    ],
}
SYSTEMS = ["control", "mine", "lm"]


@pytest.fixture
def judged(run, tmp_path):
    """Return a copy of the run with a study of `collect` in its config: people dislike the longer texts of `mine`."""
    run = run.copied(tmp_path / "work")
    (tmp_path / "questions.yaml").write_text(yaml.safe_dump(QUESTIONS))
    pool = pool_of_run(run.work / "results" / "test", None, SYSTEMS)
    key = write_annotation_form(
        pool, Design(6, 2, 2, 0, 0, 1), read_questionnaire(tmp_path / "questions.yaml"), tmp_path / "sheet"
    )
    (tmp_path / "answers").mkdir()
    for annotator in key["annotators"]:
        answers = make_answers(
            key, annotator, lambda showing: ((), "incoherent" if showing["system"] == "mine" else "coherent")
        )
        write_json(tmp_path / "answers" / f"{annotator}.json", answers)
    exports = read_answers(key, [tmp_path / "answers"])
    folder = run.work / "judged"
    collect(key, exports, folder, Resampling(resamples=100))
    run.config["human_judgements"] = [{"corpus": "real", "table": "judged", "real_text": "control"}]
    run.save()
    return run


def test_a_study_of_the_run_runs_nothing_but_its_report(judged):
    rules = ("write_config", "make_tables", "plot_figures", "write_report", "write_reader")
    assert judged.jobs() == dict.fromkeys(rules, 1)
    results = judged.work / "results" / "test"
    documents = read_csv(results / "tables" / "human_documents.csv")
    assert set(documents["critic"]) == {"coherence", "tendencies", "clusters", "strings"}
    assert documents["documents"].max() == 6 * len(SYSTEMS)
    systems = read_csv(results / "tables" / "human_correlations.csv")
    assert (systems["systems"].dropna() <= len(SYSTEMS)).all()
    page = next(path for path in (results / "pages").glob("*.html") if "Krippendorff" in path.read_text())
    assert "mine" in page.read_text()
    assert not judged.pending()
