"""The run of a critic's stage: signature, shards, and the stages that all critics share."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.critics.declaration import AttributionScore, Critic, signature
from macroscope.critics.latents import latents_schema
from macroscope.critics.run_stage import check_output, check_statistics, run_critic
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import Options
from macroscope.registry import Plugin
from macroscope.stages import Stage
from macroscope.statistics.tidy import COLUMNS

from ...plugins import WORK, install

RESAMPLING = 'resampling={"resamples": 100, "permutations": 100, "seed": 1}'


class Toy(Options):
    """Options for a test."""

    size: int = 2
    depth: int = 1
    unused: int = 0


CRITIC = Critic(
    "options:Toy",
    {
        "train": Stage("work:train", inputs="documents", options="depth"),
        "project": Stage("work:work", inputs="texts inference signature", options="size"),
        "score": Stage("work:work", inputs="latents"),
        "attribute": Stage("work:work", inputs="texts"),
        "compare": Stage("work:compare", inputs="latents control_latents", options="unused"),
        "seeded": Stage("work:work", inputs="texts? signature seed", output="seeded.json"),
    },
    statistics=("macroscope.statistics.categorical:STATISTICS",),
    attribution=AttributionScore("number", "of 1"),
    plan="plan:ToyPlan",
)
TOY = Plugin("toy", "toys", CRITIC)


@pytest.fixture
def calls(monkeypatch):
    """Return the arguments of every call of a stage's function."""
    called = []

    def work(output, **arguments):
        called.append(arguments | {"output": output})
        output.touch()

    def compare(**arguments):
        called.append(arguments)
        row = {"statistic": "forward_kl", "value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "p_value": 0.2, "seed": 1}
        return pd.DataFrame([row | {"n_reference": 5, "n_candidate": 5, "reason": ""}])

    monkeypatch.setattr("macroscope.critics.run_stage.check_output", lambda *_: None)  # see test_outputs.py
    module = ModuleType("toys.work")
    module.work, module.compare, module.train = work, compare, work
    monkeypatch.setitem(sys.modules, "toys.work", module)
    return called


def test_a_stage_is_given_the_signature_of_its_options_and_the_seed(calls, tmp_path):
    inputs = ["texts=t.parquet", "inference=i"]
    run_critic(TOY, "project", Toy(size=5, depth=4), inputs, ["seed=3"], tmp_path / "out")
    [given] = calls
    assert given["signature"] == "critic:toy|size:5|depth:4|run_seed:3|versions:seeded=1,train=1,project=1"
    assert "seed" not in given  # the stage does not read it
    assert given["options"] == Toy(size=5)  # nor the options of stages upstream


def test_a_stage_that_reads_the_seed_itself_is_given_it(calls, tmp_path):
    run_critic(TOY, "seeded", Toy(), [], ["seed=3"], tmp_path / "out")
    assert calls[0] == {
        "texts": None,
        "signature": "critic:toy|run_seed:3|versions:seeded=1",
        "seed": 3,
        "output": tmp_path / "out",
    }


def test_a_given_signature_is_kept(calls, tmp_path):
    """Jobs whose options are only a part of the critic's, as those of probing, have signatures of their own."""
    run_critic(TOY, "project", Toy(), ["texts=t", "inference=i"], ["signature=mine"], tmp_path / "out")
    assert calls[0]["signature"] == "mine"


@pytest.mark.parametrize(
    ("stage", "inputs", "values", "message"),
    [
        ("project", ["texts=t", "inference=i"], [], "--value: the stage reads 'seed'; give --value seed=..."),
        ("train", ["documents=d"], ["signature=x"], "the stage reads no 'signature'"),
        ("train", ["documents=d"], ["texts_shard=1", "texts_per_shard=2"], "the stage reads no 'texts_shard'"),
        ("compare", ["latents=a", "control_latents=b"], ["seed=1"], "the stage reads 'corpus'"),
        ("explain", [], [], "toy has no stage 'explain'"),
    ],
)
def test_invalid_calls_are_one_sentence(calls, tmp_path, stage, inputs, values, message):
    with pytest.raises(MacroscopeError, match=message):
        run_critic(TOY, stage, Toy(), inputs, values, tmp_path / "out")
    assert not calls


def test_texts_are_projected_in_shards(calls, tmp_path):
    inputs = ["texts=t.parquet", "inference=i"]
    run_critic(TOY, "project", Toy(), inputs, ["seed=1", "texts_shard=2", "texts_per_shard=10"], tmp_path / "out")
    run_critic(TOY, "project", Toy(), inputs, ["seed=1"], tmp_path / "out")
    shard, whole = (call["texts"] for call in calls)
    assert isinstance(whole, Collection)
    assert vars(shard) == vars(Collection(whole.path, 2, 10))
    assert vars(whole) == vars(Collection(whole.path, 0, None))


def test_every_stage_is_given_texts_as_a_collection(calls, tmp_path):
    run_critic(TOY, "attribute", Toy(), ["texts=t.parquet"], [], tmp_path / "out")
    assert calls[0]["texts"] == Collection(Path("t.parquet"))


def test_comparisons_become_tidy_statistics_with_their_signature(calls, tmp_path):
    path = latents_of(["a", "b"], tmp_path / "a.parquet")
    files = [f"latents={path}", f"control_latents={path}"]
    values = ["corpus=wiki", "system=control", RESAMPLING, "seed=7"]
    run_critic(TOY, "compare", Toy(unused=9, size=3), files, values, tmp_path / "out.csv")
    assert set(calls[0]) == {"latents", "control_latents", "options"}
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns) == list(COLUMNS)
    [row] = table.to_dict("records")
    assert (row["critic"], row["corpus"], row["system"]) == ("toy", "wiki", "control")
    assert f"|{signature(TOY, Toy(unused=9, size=3), 'compare', 7)}|" in row["signature"]
    assert "|unused:9|run_seed:7|" in row["signature"]


def latents_of(ids, path):
    """Write latents of documents without anything but ids, in two row groups; return the path."""
    pd.DataFrame({"id": ids}).to_parquet(path, row_group_size=2)
    return path


def test_comparisons_are_given_the_first_text_of_each_prompt(calls, tmp_path, monkeypatch):
    monkeypatch.setattr("macroscope.statistics.document_groups.FEWEST_PROMPTS", 1)
    seen = {}

    def compare(**arguments):
        paths = {name: path for name, path in arguments.items() if "latents" in name}
        seen.update({name: pd.read_parquet(path)["id"].tolist() for name, path in paths.items()})
        row = {"statistic": "forward_kl", "value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "p_value": 0.2, "seed": 1}
        return pd.DataFrame([row | {"n_reference": 5, "n_candidate": 5, "reason": ""}])

    monkeypatch.setattr(sys.modules["toys.work"], "compare", compare)
    real = latents_of(["a", "b", "c"], tmp_path / "real.parquet")
    system = latents_of(["a", "a (sample 2)", "x", "x (sample 2)", "x (sample 3)"], tmp_path / "system.parquet")
    values = ["corpus=wiki", "system=mine", RESAMPLING, "seed=7"]
    files = [f"latents={system}", f"control_latents={real}"]
    run_critic(TOY, "compare", Toy(), files, values, tmp_path / "out.csv")
    assert seen == {"latents": ["a", "x"], "control_latents": ["a", "b", "c"]}
    [row] = pd.read_csv(tmp_path / "out.csv").to_dict("records")
    assert row["n_paired"] == 1


# ---- stages that all critics share -----------------------------------------------------------------------------------


def scores(path, shift, rows=40):
    """Write scores of documents that are alike but for a shift of their nll."""
    nll = [1 + shift + 0.01 * (n * 7 % 11) for n in range(rows)]
    ids = [f"{path.stem}-{n}" for n in range(rows)]
    table = pd.DataFrame({"id": ids, "opening": ids, "nll": nll, "units": 3, "entropy": 1.0})
    table.to_parquet(path, index=False)
    return path


@pytest.fixture
def coherence():
    """Return a critic with a prior."""
    from macroscope.critics import get_critic

    return get_critic("coherence")


def run_shared(critic, stage, inputs, values, output):
    """Run a shared stage with default options, and return its table."""
    run_critic(critic, stage, critic.options(), inputs, [*values, "critic=coherence", "corpus=wiki", "seed=1"], output)
    return pd.read_csv(output)


def test_scores_are_compared(coherence, tmp_path):
    control, mine = scores(tmp_path / "control.parquet", 0), scores(tmp_path / "mine.parquet", 1)
    files = [f"control_scores={control}", f"scores={mine}"]
    table = run_shared(coherence, "compare_scores", files, ["system=mine", RESAMPLING], tmp_path / "out.csv")
    assert set(table["system"]) == {"mine"}
    signed = signature(coherence, coherence.options(), "compare_scores", 1)
    assert table["signature"].str.contains(f"|{signed}|", regex=False).all()
    assert table.set_index("statistic").at["latent_ppl", "p_value"] < 0.05


@pytest.mark.slow
def test_systems_are_tested_against_the_control_and_against_each_other(coherence, tmp_path):
    systems = ["control", "one", "two"]
    paths = [scores(tmp_path / f"{name}.parquet", shift) for name, shift in zip(systems, (0, 0, 1), strict=True)]
    files = [f"{name}={path}" for name in ("all_latents", "all_scores") for path in paths]
    named = f"systems={json.dumps(systems)}"
    tests = run_shared(coherence, "two_sample_test", files, [named, "confidence=0.95"], tmp_path / "tests.csv")
    auc = tests[tests["statistic"] == "c2st_auc"].set_index("system")["value"]
    assert list(auc.index) == ["split_half", "one", "two"]
    assert auc["two"] > 0.9 > auc["one"]
    pairs = [named, 'pairs=[["one", "two"]]', RESAMPLING]
    files += [f"all_statistics={tmp_path / 'tests.csv'}"]
    table = run_shared(coherence, "compare_pairs", files, pairs, tmp_path / "pairs.csv")
    assert set(zip(table["system"], table["other"], strict=True)) == {("one", "two")}
    assert table.set_index("statistic").at["c2st_auc_between_systems", "value"] > 0.9
    for stage, version, made in (("two_sample_test", 2, tests), ("compare_pairs", 1, table)):
        signed = signature(coherence, coherence.options(), stage, 1)
        assert signed.endswith(f"versions:train=1,fit_prior=1,project=2,score=1,{stage}={version}")
        assert made["signature"].str.contains(signed, regex=False).all()


def test_shards_of_latents_are_joined_in_their_order(coherence, tmp_path):
    shards = [scores(tmp_path / f"{name}.parquet", 0, rows=3) for name in ("b", "a")]
    files = [f"shards_of_latents={path}" for path in shards]
    run_critic(coherence, "gather", coherence.options(), files, [], tmp_path / "out.parquet")
    ids = pq.read_table(tmp_path / "out.parquet").column("id").to_pylist()
    assert ids == ["b-0", "b-1", "b-2", "a-0", "a-1", "a-2"]


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
