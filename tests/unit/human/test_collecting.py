"""Answers to tables: known truth, and everything that people can hand in wrongly."""

import json
import logging
import os

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from macroscope import cli
from macroscope.errors import MacroscopeError
from macroscope.human.answers import read_exports, read_key
from macroscope.human.collecting import collect
from macroscope.human.means import mean_interval
from macroscope.human.section_types import read_projections, type_agreement
from macroscope.statistics.judgements import read_judgements
from macroscope.statistics.latent import Resampling
from macroscope.statistics.proportions import wilson_interval
from macroscope.statistics.ratings import correlate_ratings, read_ratings
from macroscope.tables import read_csv
from tests.unit.human.conftest import export_of

FEW = Resampling(resamples=100)
GOLD = ["introduction", "method", "result"]


def all_well(showing):
    return GOLD, "coherent" if showing["system"] == "control" else "incoherent"


def hand_in(folder, name, export):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(export if isinstance(export, str) else json.dumps(export))


def reasons(handed):
    return {reason: count for (_, reason), count in handed.excluded.items()}


@pytest.fixture
def answers(study, tmp_path):
    _, key = study
    for annotator in key["annotators"]:
        hand_in(tmp_path / "answers", f"{annotator}.json", export_of(key, annotator, all_well))
    return tmp_path / "answers"


def test_tables_of_known_answers(study, answers, tmp_path):
    folder, key = study
    handed = read_exports(read_key(folder), [answers])
    assert not handed.excluded
    tables = collect(key, handed, tmp_path / "out", FEW)
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
        (lambda text: text[: len(text) // 2], "file: half an export, or none (not valid JSON); ask for it again", 1),
        (lambda text: text.replace('"whole": true', '"whole": false'), "file: half an export; ask for it again", 1),
        (
            lambda text: text.replace('"annotator-1"', '"annotator-9"'),
            "file: an annotator whom the sheet does not know",
            1,
        ),
        (lambda text: text.replace("human answers", "human lies"), "file: no export of an annotation page", 1),
        (
            lambda text: text.replace('"incoherent"', '"so-so"'),
            "an answer to 'coherent' that was not to choose from",
            5,
        ),
        (lambda text: text.replace('"result"', '"epilogue"'), "a section type that was not to choose from", 11),
        (lambda text: text.replace('"2": "result"', '"2": ""'), "not finished: a section without a type", 11),
        (lambda text: text.replace('"coherent": "', '"other": "'), "not finished: no answer to 'coherent'", 11),
        (lambda text: text.replace('"marks": []', '"marks": [[0, 99]]'), "a mark on a sentence that is not there", 11),
        (lambda text: text.replace('"marks": []', '"marks": 3'), "an answer of another form than the page writes", 11),
        (
            lambda text: text.replace('"marks": []', '"marks": [[1e999, 0]]'),
            "an answer of another form than the page writes",
            11,
        ),
        (
            lambda text: text.replace('"seconds": 30', '"seconds": 1e999'),
            "an answer of another form than the page writes",
            11,
        ),
        (lambda text: text.replace('"digest": "', '"digest": "0'), "the text is not that of the sheet", 11),
        (lambda text: text.replace('"code": "', '"code": "0'), "a text that this annotator was not shown", 11),
    ],
)
def test_what_does_not_count_is_counted(study, answers, spoil, reason, count):
    _, key = study
    path = answers / "annotator-1.json"
    path.write_text(spoil(path.read_text()))
    handed = read_exports(key, [answers])
    found = reasons(handed)
    assert abs(found[reason] - count) <= (reason.startswith("an answer to"))  # the repeated text may be either's
    lost = sum(n for name, n in found.items() if not name.startswith(("file:", "a text that", "the text is")))
    assert len(handed.answers) + lost == 22
    assert {one.annotator for one in handed.answers} <= {"annotator-1", "annotator-2"}
    assert path.exists()


def test_an_export_of_another_sheet(study, answers):
    _, key = study
    for path in answers.iterdir():
        path.write_text(path.read_text().replace(key["study"], "0123456789"))
    with pytest.raises(MacroscopeError, match=r"no finished answer .* an export of another sheet .study 0123456789"):
        read_exports(key, [answers])


def test_the_newer_of_two_exports_counts_and_nothing_of_the_older_is_lost(study, answers):
    _, key = study
    newer = export_of(key, "annotator-1", lambda showing: (GOLD, "coherent"), changed="2026-01-02T10:00:00.000Z")
    del newer["answers"][3]
    hand_in(answers, "a-newer.json", newer)  # read before the older one: what is newer is in the answers
    handed = read_exports(key, [answers])
    mine = [one for one in handed.answers if one.annotator == "annotator-1"]
    assert len(mine) == 11
    assert sum(one.answers["coherent"] == "coherent" for one in mine) >= 10
    assert handed.excluded == {("annotator-1.json", "an older answer to the same text"): 10}


def test_whatever_is_typed_can_be_written_and_read(study, answers, tmp_path):
    _, key = study
    path = answers / "annotator-1.json"
    typed = '=1+1, \\ud800 <b> \\u0000 \\u202e "quoted"'.replace('"', '\\"')
    path.write_text(path.read_text().replace('"comment": ""', f'"comment": "{typed}"').replace('"training": []',
                    '"training": [{"code": "training-1", "first": 3}, null]'))  # fmt: skip
    tables = collect(key, read_exports(key, [answers]), tmp_path / "out", FEW)
    assert len(tables["remarks"]) == 11
    assert tables["training"].empty
    read = read_csv(tmp_path / "out" / "remarks.csv")
    assert read["text"].str.startswith("=1+1, ? <b>").all()


def test_the_same_export_twice_is_one(study, answers):
    _, key = study
    hand_in(answers, "copy.json", (answers / "annotator-1.json").read_text())
    handed = read_exports(key, [answers])
    assert len(handed.answers) == 22
    assert not handed.excluded


def test_the_names_of_the_files_change_nothing(study, tmp_path):
    """A browser calls the second export "answers (1).json", which stands before the first."""
    _, key = study
    gold = key["training"][0]["gold"]
    older, newer = (export_of(key, "annotator-1", all_well) for _ in range(2))
    other = export_of(key, "annotator-2", lambda showing: (["method", *GOLD[1:]], "coherent"))
    for export, day, first in ((older, 1, gold[::-1]), (newer, 2, gold)):
        export["exported"] = f"2026-02-0{day}T10:00:00.000Z"
        tried = {str(n): kind for n, kind in enumerate(first)}
        export["training"] = [{"code": "training-1", "first": tried, "changed": export["exported"]}]
    for answer in newer["answers"]:
        answer["seconds"] = 90  # the text was looked at again, and nothing changed
    found = []
    for names in (("1", "2", "3"), ("3", "2", "1")):
        folder = tmp_path / "".join(names)
        for name, export in zip(names, (older, newer, other), strict=True):
            hand_in(folder, f"{name}.json", export)
        handed = read_exports(key, [folder])
        assert {one.seconds for one in handed.answers if one.annotator == "annotator-1"} == {90}
        assert handed.training == [("annotator-1", key["training"][0]["document"], 3, 1)]
        found.append(handed.answers)
    assert found[0] == found[1]


def test_names_that_no_file_of_text_can_hold(study, answers, tmp_path):
    """Unpacked on another system, a name may be no UTF-8; half a character may stand anywhere."""
    _, key = study
    (answers / os.fsdecode(b"r\xe9ponses.json")).write_text('{"half')
    hand_in(answers, "other.json", export_of(key | {"study": "\ud800"}, "annotator-1", all_well))
    handed = read_exports(key, [answers])
    collect(key, handed, tmp_path / "out", FEW)
    assert read_csv(tmp_path / "out" / "exclusions.csv")["of"].tolist() == ["other.json", "r?ponses.json"]


def test_two_codes_of_one_text_are_one_document(study, answers, tmp_path):
    """Annotators see a text under codes of their own: it is one document all the same."""
    _, key = study
    codes = {}
    for one in key["showings"]:
        codes.setdefault((one["system"], one["document"]), set()).add(one["code"])
    assert all(len(found) >= 2 for found in codes.values())
    tables = collect(key, read_exports(key, [answers]), tmp_path / "out", FEW)
    assert len(tables["document_scores"]) == 10
    assert (tables["document_scores"]["annotators"] == 2).all()


def test_people_against_a_classifier(study, answers, tmp_path):
    _, key = study
    latents = tmp_path / "latents"
    latents.mkdir()
    seen = [*["introduction"], "method", "method"]
    documents = [f"lm-{n}" for n in range(4)]
    pd.DataFrame({"id": documents, "section_types": [seen] * 4}).to_parquet(latents / "lm.parquet")
    projected = read_projections(latents, ["control", "lm"])
    tables = collect(key, read_exports(key, [answers]), tmp_path / "out", FEW, projected)
    found = tables["section_types"].set_index("system")
    assert found.loc["lm", "same_type"] == pytest.approx(2 / 3)
    assert found.loc["lm", ["labels", "documents", "unmatched"]].tolist() == [24, 4, 1]
    assert found.loc["control", "unmatched"] == 5
    pd.DataFrame({"id": documents, "section_types": [GOLD] * 4}).to_parquet(latents / "lm.parquet")
    always = type_agreement(read_exports(key, [answers]).answers, read_projections(latents, ["lm"]), FEW)
    _, agreed, low, high, *_ = always[always["system"] == "lm"].iloc[0]
    assert (agreed, high) == (1, 1)
    assert low == pytest.approx(wilson_interval(4, 4)[0]), "four documents say no more than that"
    confusion = tables["confusion"].set_index(["people", "classifier"])["count"]
    assert confusion.to_dict() == {
        ("introduction", "introduction"): 8,
        ("method", "method"): 8,
        ("result", "method"): 8,
    }
    partly = [GOLD, None, [None, *GOLD[1:]], GOLD]
    pd.DataFrame({"id": documents, "section_types": partly}).to_parquet(latents / "lm.parquet")
    assert set(read_projections(latents, ["lm"])) == {("lm", "lm-0"), ("lm", "lm-3")}
    for wrong in ("abc", 3, [0, 1, 2]):  # letters are no types, and numbers of types are not their names
        pd.DataFrame({"id": documents, "section_types": [wrong] * 4}).to_parquet(latents / "lm.parquet")
        with pytest.raises(MacroscopeError, match="'section_types' holds no lists of texts"):
            read_projections(latents, ["lm"])
    with pytest.raises(MacroscopeError, match="no column 'states' beside 'id'"):
        read_projections(latents, ["lm"], "states")
    with pytest.raises(MacroscopeError, match=r"no <system>.parquet"):
        read_projections(latents, ["other"])


def test_critics_numbers_against_people(study, answers, tmp_path):
    _, key = study
    collect(key, read_exports(key, [answers]), tmp_path / "out", FEW)
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


def test_intervals_of_yes_and_no_hold_the_share():
    rng = np.random.default_rng(1)
    annotators = np.concatenate([(np.arange(2) + number) % 3 for number in range(40)])
    documents, share, hits = np.repeat(np.arange(40), 2), norm.cdf(0.8), 0
    for run in range(1000):
        liking = rng.normal(0, 0.3, 3)[annotators] + rng.normal(0, 1, 40)[documents] + rng.normal(0, 1, 80)
        scores = (liking < 0.8 * np.sqrt(0.3**2 + 2)).astype(float)
        group = pd.DataFrame({"score": scores, "annotator": annotators, "document": documents})
        found = mean_interval(group, [0.0, 1.0], Resampling(resamples=100, seed=run))
        hits += found.low <= share <= found.high
    assert 0.93 <= hits / 1000 <= 0.985


def test_equal_ratings_on_a_longer_scale_have_no_interval():
    group = pd.DataFrame({"score": [3.0, 3.0], "annotator": ["a", "b"], "document": ["x", "y"]})
    found = mean_interval(group, [1.0, 2.0, 3.0], FEW)
    assert (found.value, found.over) == (3.0, "")


def test_the_command_line(study, answers, tmp_path, capsys, monkeypatch):
    folder, _ = study

    def run(*words):
        monkeypatch.setattr("sys.argv", ["macroscope", "human", *map(str, words)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        return done.value.code, capsys.readouterr()

    flags = ("--sheet", folder, "--answers", answers, "--output", tmp_path / "out", "--resamples", 100)
    code, said = run("collect", *flags)
    assert code == 0
    assert "22 annotations count, 0 do not" in said.out
    code, said = run("collect", *flags)
    assert (code, "there is something already" in said.err) == (1, True)
    code, said = run("sheet", "--output", tmp_path / "new")
    assert (code, "give either --run, or files" in said.err) == (1, True)
    code, said = run("sheet", "--output", tmp_path / "new", "--system", "control=x.jsonl")
    assert (code, "'control' is the name of held-out real text" in said.err) == (1, True)
    code, said = run("sheet", "--output", tmp_path / "new", "--run", tmp_path)
    assert (code, "config.json: no such file" in said.err) == (1, True)
    code, said = run("correlate", "--ratings", tmp_path / "out", "--run", tmp_path, "--output", tmp_path / "c.csv")
    assert (code, "config.json: no such file" in said.err) == (1, True)
    logging.getLogger("macroscope").handlers = []
