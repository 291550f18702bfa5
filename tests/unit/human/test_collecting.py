"""Tables from answers: known truth, and all kinds of invalid submissions."""

import json
import logging
import os

import numpy as np
import pandas as pd
import pytest

from macroscope import cli
from macroscope.errors import MacroscopeError
from macroscope.human.answers import read_answers, read_key
from macroscope.human.collecting import collect
from macroscope.human.section_types import read_projections, type_agreement
from macroscope.options import Resampling
from macroscope.statistics.document_ratings import correlate_ratings, read_ratings
from macroscope.statistics.judgements import read_judgements
from macroscope.statistics.proportions import wilson_interval
from macroscope.tables import read_csv
from tests.unit.human.conftest import make_answers

FEW = Resampling(resamples=100)
GOLD = ["introduction", "method", "result"]


def all_well(showing):
    return GOLD, "coherent" if showing["system"] == "control" else "incoherent"


def submit(folder, name, answers):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(answers if isinstance(answers, str) else json.dumps(answers))


def reasons(collected):
    return {reason: count for (_, reason), count in collected.excluded.items()}


@pytest.fixture
def answers(study, tmp_path):
    _, key = study
    for annotator in key["annotators"]:
        submit(tmp_path / "answers", f"{annotator}.json", make_answers(key, annotator, all_well))
    return tmp_path / "answers"


def test_a_pipe_among_the_answers_is_no_file_to_wait_for(study, answers):
    folder, _ = study
    os.mkfifo(answers / "ann.json")
    with pytest.raises(MacroscopeError, match=r"ann\.json: a pipe, not a file"):
        read_answers(read_key(folder), [answers])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("showings", 3, "showings: "),
        ("showings", [{"code": 1}], r"showings\.0\.code: "),
        ("annotators", {"a": 1}, "annotators: "),
        ("texts", {"x": "text"}, r"texts\.x: "),
        ("texts", {}, "it lacks the text"),
        ("questionnaire", {"questions": []}, "questionnaire"),
        ("study", None, "study: "),
    ],
)
def test_a_key_of_other_types_is_one_sentence(study, tmp_path, field, value, message):
    _, key = study
    (tmp_path / "key.json").write_text(json.dumps(key | {field: value}))
    with pytest.raises(MacroscopeError, match=rf"key\.json: not as macroscope writes it \(.*{message}"):
        read_key(tmp_path / "key.json")


def test_tables_of_known_answers(study, answers, tmp_path):
    folder, key = study
    collected = read_answers(read_key(folder), [answers])
    assert not collected.excluded
    tables = collect(key, collected, tmp_path / "out", FEW)
    assert read_judgements(str(tmp_path / "out" / "scores.csv")).scores == {"coherent": {"control": 1.0, "lm": 0.0}}
    systems = tables["systems"].set_index("system")
    assert systems.loc["control", "ci_high"] == 1
    assert 0.4 < systems.loc["control", "ci_low"] < 1  # five texts do not show that all are
    alpha = tables["agreement"].set_index("question")["alpha"]
    assert alpha["coherent"] == 1
    assert alpha["section types"] == 1
    assert tables["repeated"].loc[0, ["pairs", "same"]].tolist() == [2, 1]
    assert (tables["times"]["median_seconds"] == 30).all()
    assert len(tables["annotations"]) == 22
    assert tables["organisations"]["judged"].tolist() == [20]


@pytest.mark.parametrize(
    ("spoil", "reason", "count"),
    [
        (lambda text: text[: len(text) // 2], "file: incomplete or not answers (invalid JSON); request it again", 1),
        (lambda text: text.replace('"whole": true', '"whole": false'), "file: incomplete; request it again", 1),
        (
            lambda text: text.replace('"annotator-1"', '"annotator-9"'),
            "file: an annotator who is not in this study",
            1,
        ),
        (lambda text: text.replace("human answers", "human lies"), "file: not the answers of an annotation page", 1),
        (
            lambda text: text.replace('"incoherent"', '"so-so"'),
            "an answer to 'coherent' that is not a choice",
            5,
        ),
        (lambda text: text.replace('"result"', '"epilogue"'), "a section type that is not a choice", 11),
        (lambda text: text.replace('"2": "result"', '"2": ""'), "not finished: a section without a type", 11),
        (lambda text: text.replace('"coherent": "', '"other": "'), "not finished: no answer to 'coherent'", 11),
        (
            lambda text: text.replace('"marks": []', '"marks": [[0, 99]]'),
            "a mark on a sentence that does not exist",
            11,
        ),
        (lambda text: text.replace('"marks": []', '"marks": 3'), "not in the format that the page writes", 11),
        (
            lambda text: text.replace('"marks": []', '"marks": [[1e999, 0]]'),
            "not in the format that the page writes",
            11,
        ),
        (
            lambda text: text.replace('"seconds": 30', '"seconds": 1e999'),
            "not in the format that the page writes",
            11,
        ),
        (lambda text: text.replace('"digest": "', '"digest": "0'), "the text differs from that of the study", 11),
        (lambda text: text.replace('"code": "', '"code": "0'), "a text that was not shown to this annotator", 11),
    ],
)
def test_excluded_answers_are_counted_by_reason(study, answers, spoil, reason, count):
    _, key = study
    path = answers / "annotator-1.json"
    path.write_text(spoil(path.read_text()))
    collected = read_answers(key, [answers])
    counts = reasons(collected)
    assert abs(counts[reason] - count) <= (reason.startswith("an answer to"))  # the repeated text may be either's
    lost = sum(n for name, n in counts.items() if not name.startswith(("file:", "a text that", "the text differs")))
    assert len(collected.answers) + lost == 22
    assert {answer.annotator for answer in collected.answers} <= {"annotator-1", "annotator-2"}
    assert path.exists()


def test_answers_to_another_study(study, answers):
    _, key = study
    for path in answers.iterdir():
        path.write_text(path.read_text().replace(key["study"], "0123456789"))
    with pytest.raises(MacroscopeError, match=r"no valid answers .* answers to another study .0123456789"):
        read_answers(key, [answers])


def test_newer_answers_replace_older_ones_and_nothing_else_is_lost(study, answers):
    _, key = study
    newer = make_answers(key, "annotator-1", lambda showing: (GOLD, "coherent"), changed="2026-01-02T10:00:00.000Z")
    del newer["answers"][3]
    submit(answers, "a-newer.json", newer)  # read before the older one: the times of change decide
    collected = read_answers(key, [answers])
    mine = [answer for answer in collected.answers if answer.annotator == "annotator-1"]
    assert len(mine) == 11
    assert sum(answer.answers["coherent"] == "coherent" for answer in mine) >= 10
    assert collected.excluded == {("annotator-1.json", "an older answer to the same text"): 10}


def test_whatever_is_typed_can_be_written_and_read(study, answers, tmp_path):
    _, key = study
    path = answers / "annotator-1.json"
    typed = '=1+1, \\ud800 <b> \\u0000 \\u202e "quoted"'.replace('"', '\\"')
    path.write_text(path.read_text().replace('"comment": ""', f'"comment": "{typed}"').replace('"training": []',
                    '"training": [{"code": "training-1", "first": 3}, null]'))  # fmt: skip
    tables = collect(key, read_answers(key, [answers]), tmp_path / "out", FEW)
    assert len(tables["remarks"]) == 11
    assert tables["training"].empty
    read = read_csv(tmp_path / "out" / "remarks.csv")
    assert read["text"].str.startswith("=1+1, ? <b>").all()


def test_duplicate_files_count_once(study, answers):
    _, key = study
    submit(answers, "copy.json", (answers / "annotator-1.json").read_text())
    collected = read_answers(key, [answers])
    assert len(collected.answers) == 22
    assert not collected.excluded


def test_the_names_of_the_files_do_not_matter(study, tmp_path):
    """Browsers name the second download "answers (1).json", which sorts before the first."""
    _, key = study
    gold = key["training"][0]["gold"]
    older, newer = (make_answers(key, "annotator-1", all_well) for _ in range(2))
    second_annotator = make_answers(key, "annotator-2", lambda showing: (["method", *GOLD[1:]], "coherent"))
    for submission, day, first in ((older, 1, gold[::-1]), (newer, 2, gold)):
        submission["exported"] = f"2026-02-0{day}T10:00:00.000Z"
        attempt = {str(n): kind for n, kind in enumerate(first)}
        submission["training"] = [{"code": "training-1", "first": attempt, "changed": submission["exported"]}]
    for answer in newer["answers"]:
        answer["seconds"] = 90  # the text was read again without changes
    results = []
    for names in (("1", "2", "3"), ("3", "2", "1")):
        folder = tmp_path / "".join(names)
        for name, submission in zip(names, (older, newer, second_annotator), strict=True):
            submit(folder, f"{name}.json", submission)
        collected = read_answers(key, [folder])
        assert {answer.seconds for answer in collected.answers if answer.annotator == "annotator-1"} == {90}
        assert collected.training == [("annotator-1", key["training"][0]["document"], 3, 1)]
        results.append(collected.answers)
    assert results[0] == results[1]


def test_names_that_are_not_valid_unicode(study, answers, tmp_path):
    """File names from another system may not be UTF-8, and lone surrogates may occur anywhere."""
    _, key = study
    (answers / os.fsdecode(b"r\xe9ponses.json")).write_text('{"half')
    submit(answers, "other.json", make_answers(key | {"study": "\ud800"}, "annotator-1", all_well))
    collected = read_answers(key, [answers])
    collect(key, collected, tmp_path / "out", FEW)
    assert read_csv(tmp_path / "out" / "exclusions.csv")["of"].tolist() == ["other.json", "r?ponses.json"]


def test_two_codes_of_one_text_are_one_document(study, answers, tmp_path):
    """Every annotator sees a text under another code, but it is one document."""
    _, key = study
    codes = {}
    for showing in key["showings"]:
        codes.setdefault((showing["system"], showing["document"]), set()).add(showing["code"])
    assert all(len(values) >= 2 for values in codes.values())
    tables = collect(key, read_answers(key, [answers]), tmp_path / "out", FEW)
    assert len(tables["document_scores"]) == 10
    assert (tables["document_scores"]["annotators"] == 2).all()


def test_agreement_with_a_classifier(study, answers, tmp_path):
    _, key = study
    latents = tmp_path / "latents"
    latents.mkdir()
    seen = [*["introduction"], "method", "method"]
    documents = [f"lm-{n}" for n in range(4)]
    pd.DataFrame({"id": documents, "section_types": [seen] * 4}).to_parquet(latents / "lm.parquet")
    projected = read_projections(latents, ["control", "lm"])
    tables = collect(key, read_answers(key, [answers]), tmp_path / "out", FEW, projected)
    agreement = tables["section_types"].set_index("system")
    assert agreement.loc["lm", "same_type"] == pytest.approx(2 / 3)
    assert agreement.loc["lm", ["labels", "documents", "unmatched"]].tolist() == [24, 4, 1]
    assert agreement.loc["control", "unmatched"] == 5
    pd.DataFrame({"id": documents, "section_types": [GOLD] * 4}).to_parquet(latents / "lm.parquet")
    always = type_agreement(read_answers(key, [answers]).answers, read_projections(latents, ["lm"]), FEW)
    _, agreed, low, high, *_ = always[always["system"] == "lm"].iloc[0]
    assert (agreed, high) == (1, 1)
    assert low == pytest.approx(wilson_interval(4, 4)[0]), "four documents allow no narrower interval"
    confusion = tables["confusion"].set_index(["people", "classifier"])["count"]
    assert confusion.to_dict() == {
        ("introduction", "introduction"): 8,
        ("method", "method"): 8,
        ("result", "method"): 8,
    }
    partly = [GOLD, None, [None, *GOLD[1:]], GOLD]
    pd.DataFrame({"id": documents, "section_types": partly}).to_parquet(latents / "lm.parquet")
    assert set(read_projections(latents, ["lm"])) == {("lm", "lm-0"), ("lm", "lm-3")}
    for wrong in ("abc", 3, [0, 1, 2]):  # neither letters nor numbers are names of types
        pd.DataFrame({"id": documents, "section_types": [wrong] * 4}).to_parquet(latents / "lm.parquet")
        with pytest.raises(MacroscopeError, match="'section_types' does not hold lists of texts"):
            read_projections(latents, ["lm"])
    with pytest.raises(MacroscopeError, match="no column 'states' beside 'id'"):
        read_projections(latents, ["lm"], "states")
    with pytest.raises(MacroscopeError, match=r"no <system>.parquet"):
        read_projections(latents, ["other"])


def test_correlation_of_critics_scores_with_ratings(study, answers, tmp_path):
    _, key = study
    collect(key, read_answers(key, [answers]), tmp_path / "out", FEW)
    rng = np.random.default_rng(1)
    values = pd.DataFrame(
        [
            ("mine", "nll_per_unit", system, f"{name}-{n}", start + rng.normal(0, 0.1))
            for system, name, start, count in (("control", "real", 1.0, 9), ("lm", "lm", 3.0, 4))
            for n in range(count)
        ],
        columns=["critic", "statistic", "system", "document", "value"],
    )
    ratings = read_ratings(str(tmp_path / "out"))
    table = correlate_ratings(ratings, values, FEW).set_index("documents_of")
    over = table.loc["over systems"]
    assert over["pearson"] < -0.9
    assert over["pearson_p_adjusted"] < 0.05
    assert over["reliability"] == 1
    assert over[["documents", "unmatched", "annotators"]].tolist() == [9, 1, 2]
    assert table.loc["within systems", "reason"] == "all documents have the same score"
    (tmp_path / "empty").mkdir()
    with pytest.raises(MacroscopeError, match="no such file; give the folder that"):
        read_ratings(str(tmp_path / "empty"))


def test_the_command_line(study, answers, tmp_path, capsys, monkeypatch):
    folder, _ = study

    def run(*words):
        monkeypatch.setattr("sys.argv", ["macroscope", "human", *map(str, words)])
        with pytest.raises(SystemExit) as exit_info:
            cli.main()
        return exit_info.value.code, capsys.readouterr()

    flags = ("--sheet", folder, "--answers", answers, "--output", tmp_path / "out", "--resamples", 100)
    code, output = run("collect", *flags)
    assert code == 0
    assert "22 annotations count, 0 do not" in output.out
    code, output = run("collect", *flags)
    assert (code, "exists already" in output.err) == (1, True)
    code, output = run("sheet", "--output", tmp_path / "new")
    assert (code, "give either --run, or files" in output.err) == (2, True)
    code, output = run("sheet", "--output", tmp_path / "new", "--system", "control=x.jsonl")
    assert (code, "'control' is the name of held-out real text" in output.err) == (2, True)
    code, output = run("sheet", "--output", tmp_path / "new", "--run", tmp_path)
    assert (code, "config.json: no such file" in output.err) == (1, True)
    code, output = run("correlate", "--ratings", tmp_path / "out", "--run", tmp_path, "--output", tmp_path / "c.csv")
    assert (code, "config.json: no such file" in output.err) == (1, True)
    logging.getLogger("macroscope").handlers = []
