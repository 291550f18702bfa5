"""The config: every shipped one is valid, a wrong one is one sentence that names the place."""

import json

import pytest
import yaml

from macroscope.config import json_schema, load_config, parse_config
from macroscope.config_reference import config_reference
from macroscope.errors import MacroscopeError
from macroscope.paths import REPOSITORY
from macroscope.plan import Plan

SHIPPED = [REPOSITORY / "config.yaml", *sorted((REPOSITORY / "experiments").glob("*.yaml"))]
DEFAULT = yaml.safe_load((REPOSITORY / "config.yaml").read_text())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_configs_are_valid_and_can_be_planned(path):
    plan = Plan(load_config(path))
    assert plan.targets() == [f"results/{plan.config.run}/report.html"]
    assert len(set(plan.comparisons)) == len(plan.comparisons)
    for corpus in plan.config.corpora:
        assert plan._raw_parts(corpus)


def test_written_files_are_up_to_date():
    schema = json.loads((REPOSITORY / "workflow" / "schemas" / "config.schema.json").read_text())
    assert schema == json_schema(), "run make docs"
    assert (REPOSITORY / "docs" / "config.md").read_text() == config_reference(), "run make docs"


def test_every_key_is_described():
    def check(node, place):
        for name, entry in node.get("properties", {}).items():
            is_tag = "const" in entry
            assert is_tag or "description" in entry, f"{place}.{name}"

    schema = json_schema()
    check(schema, "config")
    for name, definition in schema["$defs"].items():
        assert definition["additionalProperties"] is False, name
        check(definition, name)


def changed(**keys):
    return {**json.loads(json.dumps(DEFAULT)), **keys}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed(comparision=[]), "comparision: there is no such key; did you mean 'comparisons'?"),
        (
            changed(corpora={"wiki": {"source": "simulated", "document": 3}}),
            "corpora.wiki.document: there is no such key; did you mean 'documents'?",
        ),
        (changed(corpora={"wiki": {"source": "wikipeda"}}), "corpora.wiki.source: 'wikipeda' is not one of"),
        (changed(corpora={"wiki": {}}), "corpora.wiki: the key 'source' is required"),
        (changed(seed="one"), "seed: "),
        (changed(corpora={"wiki": {"source": "simulated", "test_share": 2}}), "corpora.wiki.test_share: "),
        (
            changed(
                corpora={"wiki": {"source": "simulated", "filters": {"max_documents": 3, "max_per_split": {"test": 1}}}}
            ),
            "corpora.wiki.filters: max_documents and max_per_split are both given",
        ),
        (
            changed(comparisons=[{"corpus": "wik"}]),
            "comparisons.0.corpus: there is no corpus 'wik'; did you mean 'wiki'?",
        ),
        (
            changed(comparisons=[{"corpus": "wiki", "critics": ["coherense"]}]),
            "comparisons.0.critics: there is no critic 'coherense'; did you mean 'coherence'?",
        ),
        (
            changed(comparisons=[{"corpus": "wiki", "systems": ["lm"]}]),
            "comparisons.0.systems: there is no system 'lm'",
        ),
        (changed(systems={"control": {"kind": "files", "files": ["x"]}}), "systems.control: the name is kept"),
        (
            changed(
                corpora={"mine": {"source": "files", "files": ["x"]}},
                comparisons=[{"corpus": "mine", "systems": ["process"]}],
            ),
            "samples the process of a simulated corpus",
        ),
    ],
)
def test_wrong_configs_are_one_sentence(config, message):
    with pytest.raises(MacroscopeError) as error:
        parse_config(config)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_and_malformed_files(tmp_path):
    with pytest.raises(MacroscopeError, match="no such config file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("run: [unclosed")
    with pytest.raises(MacroscopeError, match=r"bad\.yaml: not valid YAML"):
        load_config(tmp_path / "bad.yaml")


def test_plan_of_a_corpus_without_a_source():
    plan = Plan(parse_config(changed(corpora={"wiki": {"source": "wikipedia"}}, comparisons=[{"corpus": "wiki"}])))
    with pytest.raises(MacroscopeError, match=r"corpora\.wiki: give 'dump'"):
        plan._raw_parts("wiki")


def test_locked_environments_agree():
    envs = REPOSITORY / "envs"
    lock = {line for line in (envs / "core.lock.txt").read_text().splitlines() if "==" in line}
    conda = yaml.safe_load((envs / "core.yaml").read_text())["dependencies"][-1]["pip"]
    assert set(conda) == lock, "run make lock"


def test_a_resampled_system_needs_a_language_model():
    nucleus = {"kind": "resampled", "of": "lmm", "decoding": {"rule": "nucleus", "p": 0.9}}
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
    config = {
        "corpora": {"wiki": {"source": "simulated"}},
        "systems": {"lm": lm, "nucleus": nucleus},
        "comparisons": [{"corpus": "wiki"}],
    }
    with pytest.raises(MacroscopeError, match=r"systems\.nucleus\.of: there is no system of kind language_model 'lmm'"):
        parse_config(config)
