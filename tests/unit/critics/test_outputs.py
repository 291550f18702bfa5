"""Outputs of critics' stages: what is wrong with columns, ids or numbers is one sentence, and the file is removed."""

import pandas as pd
import pyarrow as pa
import pytest

from macroscope.critics.latents import latents_schema
from macroscope.critics.outputs import check_output, check_statistics
from macroscope.critics.run_stage import run_critic
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError

from ...plugins import WORK, install

IDS = [f"d{n}" for n in range(5)]
WRITE = "write_latents(output, LATENTS, [pa.table([*key_columns(documents), lengths], schema=LATENTS)], signature)"


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.parquet"
    documents = [Document(name, "test", None, (Section(None, f"text of {name}"),)) for name in IDS]
    write_documents(path, documents, Provenance("c"))
    return path


def project(tmp_path, monkeypatch, texts, code):
    """Run the stage `project` of a plug-in whose last line is replaced."""
    from macroscope import critics as room

    assert WRITE in WORK
    install(tmp_path / "site", monkeypatch, work=WORK.replace(WRITE, code))
    plugin = room.critics()["theirs"]
    output = tmp_path / "out.parquet"
    run_critic(plugin, "project", plugin.options(), [f"texts={texts}"], ["seed=1"], output)
    return output


def test_right_latents_stay(tmp_path, monkeypatch, texts):
    assert project(tmp_path, monkeypatch, texts, WRITE).exists()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("pass", "work:project of theirs ended without writing the file"),
        (f"documents = documents[:3]; lengths = lengths[:3]; {WRITE}", "ids of 3 documents, and the texts those of 5"),
        (f"documents = documents[:0]; lengths = lengths[:0]; {WRITE}", "document 1 is none, not 'd0'"),
        (f"documents = [documents[0]] * 5; {WRITE}", "ids of 1 documents, .* document 2 is none, not 'd1'"),
        (f"documents = documents[::-1]; {WRITE}", "document 1 is 'd4', not 'd0'"),
        (f"lengths = pa.array([1e308] * 5); {WRITE}", r"the column 'length' has the number 1e\+308"),
        (f"lengths = pa.array([float('-inf')] * 5); {WRITE}", "the column 'length' has the number -inf"),
        ("pa.parquet.write_table(pa.table({'id': ['d0']}), output)", "no column 'opening'"),
        ("output.write_text('x')", "not a readable Parquet file"),
    ],
)
def test_wrong_latents_are_one_sentence_and_are_removed(tmp_path, monkeypatch, texts, code, message):
    with pytest.raises(MacroscopeError, match=message):
        project(tmp_path, monkeypatch, texts, code)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("stage", "columns", "message"),
    [
        ("score", {"nll": [1.0] * 5}, "no column 'units'"),
        ("score", {"nll": [float("inf")] * 5, "units": [1] * 5}, ""),  # excluded by the prior
        ("score", {"nll": [float("-inf")] * 5, "units": [1] * 5}, "'nll' has the number -inf"),
        ("score", {"nll": [1.0] * 5, "units": [float("inf")] * 5}, "'units' has the number inf"),
        ("score", {"nll": [float("nan")] * 5, "units": [0] * 5, "entropy": [float("nan")] * 5}, ""),
        ("attribute", {"score": [1.0] * 5}, "no column 'marks'"),
    ],
)
def test_scores_and_attributions(tmp_path, monkeypatch, texts, stage, columns, message):
    critic = _plugin(tmp_path, monkeypatch)
    output = tmp_path / "out.parquet"
    pa.parquet.write_table(pa.table({"id": IDS, "opening": IDS, **columns}), output)
    given = {"latents": texts, "texts": Collection(texts)}
    if not message:
        check_output(critic, stage, given, output)
        return
    with pytest.raises(MacroscopeError, match=f"'{stage}' of the critic 'theirs' .package theirs. wrote .*{message}"):
        check_output(critic, stage, given, output)
    assert not output.exists()


def test_known_truth_is_an_object(tmp_path, monkeypatch):
    output = tmp_path / "truth.json"
    output.write_text("[]")
    with pytest.raises(MacroscopeError, match="not an object with 'latent_ppl' and 'basis'"):
        check_output(_plugin(tmp_path, monkeypatch), "known_truth", {}, output)


def _plugin(tmp_path, monkeypatch):
    from macroscope import critics as room

    install(tmp_path / "site", monkeypatch)
    return room.critics()["theirs"]


ROW = {
    "statistic": "s",
    "value": 1.0,
    "ci_low": 0.0,
    "ci_high": 2.0,
    "p_value": 0.5,
    "n_reference": 3,
    "n_candidate": 3,
}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (None, "it is a NoneType"),
        (pd.DataFrame([ROW]).drop(columns="ci_low"), "no column 'ci_low'"),
        (pd.DataFrame([ROW | {"value": "high"}]), "'value' has values that are not numbers"),
        (pd.DataFrame([ROW | {"p_value": 1.5}]), "p-value of 's' is 1.5"),
        (pd.DataFrame([ROW | {"ci_low": 3.0}]), "ends before it begins"),
    ],
)
def test_wrong_statistics_are_one_sentence(tmp_path, monkeypatch, table, message):
    with pytest.raises(MacroscopeError, match=message):
        check_statistics(_plugin(tmp_path, monkeypatch), table)


def test_right_statistics_pass(tmp_path, monkeypatch):
    critic = _plugin(tmp_path, monkeypatch)
    check_statistics(critic, pd.DataFrame([ROW, ROW | {"value": float("nan"), "p_value": float("nan")}]))
    check_statistics(critic, pd.DataFrame([], columns=[*ROW]))


def test_keys_alone_are_the_latents_of_a_critic_that_declares_none():
    assert latents_schema().names == ["id", "opening"]
