"""The config: every shipped one is valid, a wrong one is one sentence that names the place."""

import json

import pytest
import yaml

from macroscope.config.reference import config_reference, language_table
from macroscope.config.schema import json_schema, load_config, parse_config
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY
from macroscope.plan import Plan
from macroscope.strict_yaml import read_yaml

SHIPPED = [
    REPOSITORY / "config.yaml",
    REPOSITORY / "config" / "config.yaml",
    *sorted((REPOSITORY / "experiments").glob("*.yaml")),
]
DEFAULT = yaml.safe_load((REPOSITORY / "config.yaml").read_text())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_configs_are_valid_and_can_be_planned(path):
    plan = Plan(load_config(path))
    pages = ("report.html", "reader") if plan.config.sensitivity is None else ("sensitivity",)
    assert plan.targets() == [f"results/{plan.config.run}/{name}" for name in pages]
    assert len(set(plan.critics.comparisons)) == len(plan.critics.comparisons)
    for corpus in plan.config.corpora:
        assert plan.corpora.raw_parts(corpus)


def test_written_files_are_up_to_date():
    schema = json.loads((REPOSITORY / "workflow" / "schemas" / "config.schema.json").read_text())
    assert schema == json_schema(), "run make docs"
    generated = REPOSITORY / "docs" / "generated"
    pages = {"languages.md": language_table(), **config_reference()}
    assert all((generated / page).read_text() == text for page, text in pages.items()), "run make docs"
    assert {f"config/{page.name}" for page in (generated / "config").iterdir()} < set(pages)


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
    """The default config, judging all systems of one corpus alone, with other values of some keys."""
    plain = {"comparisons": [{"corpus": "wiki", "critics": ["coherence"]}], "critics": {}}
    systems = {name: system for name, system in DEFAULT["systems"].items() if "domain" not in system}
    return {**json.loads(json.dumps(DEFAULT)), "systems": systems, **plain, **keys}


def probing(*entries):
    """The default config, judging all systems, and probing."""
    return changed(critics={"clusters": {"probing": list(entries)}})


def test_probing_needs_its_corpora():
    place = r"critics\.clusters\.probing"
    with pytest.raises(MacroscopeError, match=rf"{place}\.0\.reference: there is no corpus 'wbe'; did you mean 'web'"):
        parse_config(probing({"corpus": "web", "reference": "wbe"}))
    with pytest.raises(MacroscopeError, match=f"{place}: corpus 'web' is listed twice"):
        parse_config(probing({"corpus": "web"}, {"corpus": "web"}))


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
        (changed(documents_per_shard=1500), "documents_per_shard: input should be a multiple of 1000, not 1500"),
        (changed(probing=[]), "probing: there is no such key"),
        (changed(comparisons=[{"corpus": "wiki"}]), "comparisons.0.critics: this key is required"),
        (
            changed(critics={"coherense": {}}),
            "critics.coherense: there is no such key; did you mean 'coherence'?",
        ),
        (changed(corpora={"wiki": {"source": "simulated", "test_share": 2}}), "corpora.wiki.test_share: "),
        (
            changed(
                corpora={"wiki": {"source": "simulated", "filters": {"max_documents": 3, "max_per_split": {"test": 1}}}}
            ),
            "corpora.wiki.filters: max_documents and max_per_split are both given",
        ),
        (
            changed(comparisons=[{"corpus": "wik", "critics": ["coherence"]}]),
            "comparisons.0.corpus: there is no corpus 'wik'; did you mean 'wiki'?",
        ),
        (
            changed(comparisons=[{"corpus": "wiki", "critics": ["coherense"]}]),
            "comparisons.0.critics: there is no critic 'coherense'; did you mean 'coherence'?",
        ),
        (
            changed(comparisons=[{"corpus": "wiki", "systems": ["lm"], "critics": ["coherence"]}]),
            "comparisons.0.systems: there is no system 'lm'",
        ),
        (changed(systems={"control": {"kind": "files", "files": ["x"]}}), "systems.control: the name is reserved"),
        (
            changed(systems={"Control": {"kind": "files", "files": ["x"]}}),
            "systems.Control: the name differs from 'control'",
        ),
        (
            changed(corpora={name: {"source": "simulated"} for name in ("wiki", "Wiki")}),
            "corpora.Wiki: the name differs from 'wiki' only in capitals",
        ),
        (
            changed(
                corpora={"mine": {"source": "files", "files": ["x"]}},
                comparisons=[{"corpus": "mine", "systems": ["process"], "critics": ["coherence"]}],
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
    with pytest.raises(MacroscopeError, match=r"none\.yaml: no such file"):
        load_config(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("run: [unclosed")
    with pytest.raises(MacroscopeError, match=r"bad\.yaml: not valid YAML"):
        load_config(tmp_path / "bad.yaml")


def test_plan_of_a_corpus_without_a_source():
    plan = Plan(
        parse_config(
            changed(
                corpora={"wiki": {"source": "wikipedia"}}, comparisons=[{"corpus": "wiki", "critics": ["coherence"]}]
            )
        )
    )
    with pytest.raises(MacroscopeError, match=r"corpora\.wiki: no raw files; give 'dump'"):
        plan.corpora.raw_parts("wiki")


def test_locked_environments_agree():
    envs = REPOSITORY / "envs"
    lock = {line for line in (envs / "core.lock.txt").read_text().splitlines() if "==" in line}
    statistics, models = (
        set(yaml.safe_load((envs / f"{name}.yaml").read_text())["dependencies"][-1]["pip"])
        for name in ("statistics", "models")
    )
    assert statistics < models < lock, "run make lock"
    assert not [pin for pin in statistics if pin.startswith(("torch", "transformers", "nvidia"))]


def test_a_resampled_system_needs_a_language_model():
    nucleus = {"kind": "resampled", "of": "lmm", "decoding": {"rule": "nucleus", "p": 0.9}}
    lm = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}
    config = {
        "corpora": {"wiki": {"source": "simulated"}},
        "systems": {"lm": lm, "nucleus": nucleus},
        "comparisons": [{"corpus": "wiki", "critics": ["coherence"]}],
    }
    with pytest.raises(MacroscopeError, match=r"systems\.nucleus\.of: there is no system of kind language_model 'lmm'"):
        parse_config(config)


def with_judgements(*entries, **keys):
    return changed(human_judgements=[{"corpus": "wiki", "table": "mauve", **entry} for entry in entries], **keys)


MAPPED = {"lm-titles": "gpt2-xl-nucleus", "bigram": "gpt2-xl-ancestral", "kneser-ney": "gpt2-small-nucleus"}


def judgements_read(config):
    """Return the tables of judgements that the tables of a run are made from."""
    [job] = [job for job in Plan(config).jobs() if job.name == "make_tables"]
    return job.inputs["judgements"]


def test_human_judgements_map_systems_to_names():
    config = parse_config(with_judgements({"systems": MAPPED}))
    assert config.matched_systems(0) == MAPPED
    assert parse_config(DEFAULT).human_judgements == []
    assert judgements_read(config) == []


def test_human_judgements_of_the_same_names(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("system,score\n" + "".join(f"{name},{k}\n" for k, name in enumerate([*MAPPED, "control", "else"])))
    config = parse_config(with_judgements({"table": str(path)}))
    assert config.matched_systems(0) == {name: name for name in MAPPED}
    assert judgements_read(config) == [str(path)]
    # Whether it is there is the workflow's to say.
    absent = parse_config(with_judgements({"table": str(tmp_path / "none.csv")}))
    with pytest.raises(MacroscopeError, match=r"none\.csv: no such file of human judgements"):
        absent.matched_systems(0)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([{"corpus": "wki"}], "human_judgements.0.corpus: there is no corpus 'wki'; did you mean 'wiki'?"),
        (
            [{"systems": {"lm-title": "gpt2-xl-nucleus"}}],
            "human_judgements.0.systems: there is no system 'lm-title'; did you mean 'lm-titles'?",
        ),
        (
            [{"systems": MAPPED | {"lm-titles": "gpt2-xl-nucleous"}}],
            "human_judgements.0.systems, lm-titles: the table 'mauve' has no system 'gpt2-xl-nucleous'; did you mean"
            " 'gpt2-xl-nucleus'?",
        ),
        ([{"systems": MAPPED, "real_text": "humn"}], "has no system 'humn'; did you mean 'human'?"),
        ([{"systems": {"control": "human"}}], "'control' is real text; name its row of the table by 'real_text'"),
        ([{}], "0 of the systems are in the table 'mauve', and a correlation needs 3; map more of them"),
        ([{"systems": MAPPED}, {"systems": MAPPED}], "the corpus and the table's name are those of human_judgements.0"),
        ([{"system": MAPPED}], "human_judgements.0.system: there is no such key; did you mean 'systems'?"),
    ],
)
def test_wrong_human_judgements_are_one_sentence(entries, message):
    with pytest.raises(MacroscopeError) as error:
        parse_config(with_judgements(*entries))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_human_judgements_of_a_system_that_nothing_judges():
    comparisons = [{"corpus": "wiki", "systems": ["lm-titles", "kneser-ney"], "critics": ["coherence"]}]
    with pytest.raises(MacroscopeError, match="no comparison judges 'bigram' against 'wiki'"):
        parse_config(with_judgements({"systems": MAPPED}, comparisons=comparisons))


def test_seeds_of_human_judgements_are_as_many_for_each_name():
    systems = MAPPED | {"shuffled": "gpt2-xl-nucleus", "smollm2": "gpt2-large-nucleus"}
    assert parse_config(with_judgements({"systems": systems})).matched_systems(0) == systems
    uneven = systems | {name: "gpt2-small-nucleus" for name in ("independent", "process")}
    with pytest.raises(
        MacroscopeError, match="2 systems are mapped to 'gpt2-xl-nucleus' and 3 to 'gpt2-small-nucleus'"
    ):
        parse_config(with_judgements({"systems": uneven}))


LM = {"kind": "language_model", "base": "tiny-gpt2", "titles": True}


def test_a_key_that_stands_twice_is_an_error(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("run: a\ncorpora:\n  wiki: {source: simulated}\n  wiki: {source: simulated}\n")
    with pytest.raises(MacroscopeError, match=r"the key 'wiki' stands twice, in line 3 and in line 4"):
        load_config(path)
    path.write_text("a: &a {x: 1, y: 2}\nb: &b\n  <<: *a\n  x: 3\nc: {<<: *b, y: 4}\n")
    assert read_yaml(path) == {"a": {"x": 1, "y": 2}, "b": {"x": 3, "y": 2}, "c": {"x": 3, "y": 4}}


def test_of_merged_mappings_the_first_overrides_the_others(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("a: &a {length: 1, seed: 2}\nb: &b {length: 3, top: 4}\nc: {<<: [*a, *b], seed: 5}\n")
    assert read_yaml(path)["c"] == {"length": 1, "top": 4, "seed": 5}
    path.write_text("a: {<<: [{length: 1}, 2]}\n")
    with pytest.raises(MacroscopeError, match="expected a mapping for merging"):
        read_yaml(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        "run: \u00e9".encode("latin-1"),
        b"a: [",
        b"a: &a [*a]\nb: *c",
        b"[" * 3000,
        b"run: 2024-13-45",
        b"seed: 0b_",
        pytest.param(b"seed: " + b"9" * 5000, id="many digits"),
    ],
)
def test_files_that_are_no_yaml(content, tmp_path):
    (tmp_path / "config.yaml").write_bytes(content)
    with pytest.raises(MacroscopeError, match=r"config\.yaml: not") as error:
        read_yaml(tmp_path / "config.yaml")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": True}, "'seed' is a number, not true"),
        ({"seed": 2**32}, "seed: input should be less than or equal to"),
        ({"statistics": {"confidence": 0.9999999}}, "statistics.confidence"),
        ({"systems": {"lm": LM | {"training": {"epochs": float("inf")}}}}, "systems.lm.training.epochs"),
        ({"systems": {"lm": LM | {"training": {"epoch": 3}}}}, "no such key; did you mean 'epochs'?"),
        ({"systems": {"lm": LM | {"samples": False}}}, "systems.lm: 'samples' is a number, not false"),
        ({"systems": {"lm": LM | {"samples": 10**9}}}, "systems.lm.samples: 1,000,000,000 samples, 1,000 per job"),
        ({"corpora": {"wiki": {"source": "files", "files": ["re{corpus}al.jsonl"]}}}, "paths with '{'"),
        ({"profile": "a{b}.csv"}, "profile: the workflow cannot use paths with '{'"),
        ({"profile": "a<b>.csv"}, "profile: the workflow cannot use paths with '<'"),
        ({"profile": "\ud800.csv"}, "profile: the workflow cannot use paths with '\\ud800'"),
        ({"human_judgements": [{"corpus": "wiki", "table": "{x}.csv"}]}, "table: the workflow cannot use paths"),
        (
            {"corpora": {"wiki": {"source": "files", "files": ["a.jsonl"], "valid_share": 0.5, "test_share": 0.5}}},
            "corpora.wiki: valid_share and test_share add up to 1, which leaves no training documents",
        ),
        ({"systems": {"lm": LM | {"base": ""}}}, "systems.lm.base: string should have at least 1 character"),
    ],
)
def test_values_that_cannot_be_meant(changes, message):
    with pytest.raises(MacroscopeError) as error:
        parse_config(changed(**changes))
    assert message in str(error.value)


def test_half_a_character_is_one_sentence():
    config = DEFAULT | {"systems": {"x": {"kind": "resampled", "of": "\ud800", "decoding": {"rule": "ancestral"}}}}
    with pytest.raises(MacroscopeError, match=r"a text holds '\\ud800', half of a character"):
        parse_config(config)
