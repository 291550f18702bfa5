"""Cross-fitting: folds, the folds of texts, and the stages of a critic that run once for each fold."""

import json
import sys
from itertools import combinations
from types import ModuleType

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from macroscope.config.schema import parse_config
from macroscope.critics.cross_fitting import assign_folds, place_texts, teaching_folds
from macroscope.critics.declaration import Critic
from macroscope.critics.features import read_features
from macroscope.critics.options import CrossFittedOptions
from macroscope.critics.run_stage import run_critic
from macroscope.document_keys import number_sample
from macroscope.documents import Document, Provenance, Section, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan
from macroscope.registry import Plugin
from macroscope.stages import Stage


def keys(ids):
    return pd.DataFrame({"id": ids, "opening": [f"{name}-opening" for name in ids]})


def several(name, prompts, texts):
    return [number_sample(f"{name}{n}", k + 1) for n in range(prompts) for k in range(texts)]


@pytest.mark.parametrize("folds", [3, 5, 7])
def test_of_two_folds_one_teaches_the_critic_of_the_other(folds):
    for first, second in combinations(range(folds), 2):
        assert (second in teaching_folds(first, folds)) != (first in teaching_folds(second, folds))
    assert {len(teaching_folds(fold, folds)) for fold in range(folds)} == {folds // 2}


def test_texts_of_a_prompt_are_in_one_fold_and_folds_have_equally_many_prompts():
    ids = several("a", 31, 4)
    folds, numbers = assign_folds(keys(ids), 3)
    by_prompt = folds.reshape(31, 4)
    assert (by_prompt == by_prompt[:, :1]).all()
    assert sorted(np.bincount(by_prompt[:, 0])) == [10, 10, 11]
    assert len({*zip(folds, numbers, strict=True)}) == 31


def test_fewer_than_two_prompts_per_fold_are_one_sentence():
    with pytest.raises(MacroscopeError, match="have 5 prompts, and 3 folds need 6; give more texts or set"):
        assign_folds(keys(list("abcde")), 3)


def test_texts_are_in_the_fold_of_the_real_text_that_they_are_paired_with():
    real = keys([f"a{n}" for n in range(60)])
    folds, _ = assign_folds(real, 3)
    assert (place_texts(real, real, folds, 3) == folds).all()
    paired = pd.concat([keys(several("a", 20, 2)), keys(several("b", 30, 2))], ignore_index=True)
    placed = place_texts(paired, real, folds, 3)
    assert (placed[:40] == np.repeat(folds[:20], 2)).all()
    others = placed[40:].reshape(30, 2)
    assert (others[:, 0] == others[:, 1]).all()
    assert list(np.bincount(others[:, 0])) == [10, 10, 10]


def test_texts_with_the_opening_of_a_real_text_are_in_its_fold():
    real = keys([f"a{n}" for n in range(30)])
    folds, _ = assign_folds(real, 3)
    texts = pd.DataFrame({"id": [f"b{n}" for n in range(30)], "opening": real["opening"][::-1].tolist()})
    assert (place_texts(texts, real, folds, 3) == folds[::-1]).all()


# ---- stages ----------------------------------------------------------------------------------------------------------

FOLDED = Critic(
    "options:CrossFittedOptions",
    {
        "train": Stage("work:train", inputs="documents", options="folds", folder=True),
        "project": Stage("work:project", inputs="texts inference", options="folds"),
        "score": Stage("work:score", inputs="latents inference", options="folds"),
        "compare": Stage("work:compare", inputs="latents control_latents", options="folds"),
    },
    statistics=("macroscope.statistics.categorical:STATISTICS",),
)
TOY = Plugin("toy", "folded", FOLDED)
OPTIONS = CrossFittedOptions(folds=3)


@pytest.fixture
def compared(monkeypatch):
    """Return the ids of the latents that the stage `compare` of a toy critic is given, once it runs."""
    seen = {}

    def train(documents, options, output):
        output.mkdir()
        learned = {split: [d.id for d in read_documents(documents, split)] for split in ("train", "valid")}
        (output / "learned.json").write_text(json.dumps(learned))

    def project(texts, inference, options, output):
        learned = " ".join(json.loads((inference / "learned.json").read_text())["train"])
        rows = [{"id": d.id, "opening": d.opening, "learned": learned} for d in texts]
        pd.DataFrame(rows, columns=["id", "opening", "learned"]).to_parquet(output, index=False)

    def score(latents, inference, options, output):
        table = pd.read_parquet(latents, columns=["id", "opening", "learned"])
        expected = " ".join(json.loads((inference / "learned.json").read_text())["train"])
        assert set(table.pop("learned")) == {expected}
        table.assign(nll=1.0, units=2.0).to_parquet(output, index=False)

    def compare(latents, control_latents, options):
        for name, path in {"latents": latents, "control_latents": control_latents}.items():
            seen[name] = pd.read_parquet(path)["id"].tolist()
        row = {"statistic": "forward_kl", "value": 0.5, "ci_low": 0.1, "ci_high": 0.9, "p_value": 0.2, "seed": 1}
        return pd.DataFrame([row | {"n_reference": 5, "n_candidate": 5, "reason": ""}])

    module = ModuleType("folded.work")
    module.__dict__.update(train=train, project=project, score=score, compare=compare)
    for name, stand_in in (("folded", ModuleType("folded")), ("folded.work", module)):
        monkeypatch.setitem(sys.modules, name, stand_in)
    return seen


def write(path, ids):
    texts = [Document(name, "test", None, (Section(None, f"text of {name}"),)) for name in ids]
    write_documents(path, texts, Provenance("wiki"))
    return path


def run(stage, output, values=(), **inputs):
    files = [f"{name}={path}" for name, path in inputs.items()]
    run_critic(TOY, stage, OPTIONS, files, values, output)
    return output


@pytest.fixture
def projected(compared, tmp_path):
    """Return the paths of the latents of 48 real texts and of 60 others, of which 20 are paired, after training."""
    real = write(tmp_path / "real.parquet", [f"a{n}" for n in range(48)])
    texts = write(tmp_path / "texts.parquet", [f"b{n}" for n in range(40)] + [f"a{n} (sample 1)" for n in range(20)])
    inference = run("train", tmp_path / "inference", documents=real)
    return [
        run("project", tmp_path / f"latents-{path.name}", texts=path, documents=real, inference=inference)
        for path in (real, texts)
    ]


def test_every_text_is_judged_by_a_critic_that_did_not_learn_from_its_prompt(projected):
    for path, number in zip(projected, (48, 60), strict=True):
        table = pd.read_parquet(path)
        assert len(table) == number
        for row in table.itertuples():
            assert row.id.split(" ")[0] not in row.learned.split(" ")
        by_fold = table.groupby("fold")["learned"].unique()
        assert len(by_fold) == 3
        assert all(len(learned) == 1 and len(learned[0].split()) == 14 for learned in by_fold)  # and 2 validate


def test_rows_are_in_the_order_of_the_texts(projected, tmp_path):
    ids = [f"b{n}" for n in range(40)] + [f"a{n} (sample 1)" for n in range(20)]
    assert pq.read_table(projected[1])["id"].to_pylist() == ids
    scores = run("score", tmp_path / "scores.parquet", latents=projected[1], inference=tmp_path / "inference")
    assert pq.read_table(scores)["id"].to_pylist() == ids


def test_shards_are_of_the_same_folds(projected, tmp_path):
    inputs = {"texts": "texts.parquet", "documents": "real.parquet", "inference": "inference"}
    shard = run(
        "project",
        tmp_path / "shard.parquet",
        ["texts_shard=1", "texts_per_shard=25"],
        **{name: tmp_path / path for name, path in inputs.items()},
    )
    assert pd.read_parquet(shard).equals(pd.read_parquet(projected[1])[25:50].reset_index(drop=True))


def test_latents_are_compared_in_the_first_fold(projected, compared, tmp_path):
    resampling = 'resampling={"resamples": 100, "permutations": 100, "seed": 1}'
    values = ["corpus=wiki", "system=mine", resampling, "seed=7"]
    run("compare", tmp_path / "out.csv", values, latents=projected[1], control_latents=projected[0])
    for name, path in (("control_latents", projected[0]), ("latents", projected[1])):
        table = pd.read_parquet(path)
        assert compared[name] == table["id"][table["fold"] == 0].tolist()


def test_documents_are_classified_by_their_scores(projected, tmp_path):
    scores = run("score", tmp_path / "scores.parquet", latents=projected[0], inference=tmp_path / "inference")
    features = read_features(TOY, projected[0], scores, 1)
    assert features.numbers.tolist() == [[0.5, 2.0]] * 48


def test_without_the_real_texts_folds_are_unknown(projected, tmp_path):
    with pytest.raises(MacroscopeError, match=r"give the real texts as well \(--input documents=...\)"):
        run("project", tmp_path / "x.parquet", texts=tmp_path / "texts.parquet", inference=tmp_path / "inference")


@pytest.mark.parametrize("critic", ["topics", "coreference"])
def test_folds_need_a_control_that_is_the_whole_corpus(critic):
    config = {
        "run": "r",
        "corpora": {"c": {"source": "simulated", "kind": "topics"}},
        "systems": {"control": {"kind": "control"}},
        "critics": {critic: {"folds": 3}},
        "comparisons": [{"corpus": "c", "systems": [], "critics": [critic]}],
    }
    with pytest.raises(MacroscopeError, match=f"critics.{critic}.folds: .*; set systems.control.whole to true"):
        parse_config(config)
    config["systems"]["control"]["whole"] = True
    assert Plan(parse_config(config)).critics.folds(critic) == 3


def test_folds_need_a_resolver_of_any_document():
    from macroscope.critics.coreference.options import CoreferenceOptions

    with pytest.raises(ValueError, match="'folds' goes with 'resolver: rules'"):
        CoreferenceOptions(resolver="fastcoref", folds=3)
