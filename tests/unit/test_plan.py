"""The plan: which files a config asks for."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from macroscope.modules import modules_of

from macroscope.config.schema import parse_config
from macroscope.errors import MacroscopeError
from macroscope.plan import Plan


def plan_of(corpus, **systems):
    return Plan(
        parse_config(
            {"corpora": {"c": corpus}, "systems": systems, "comparisons": [{"corpus": "c", "critics": ["coherence"]}]}
        )
    )


def names(**wildcards):
    return SimpleNamespace(**wildcards)


def modules_read_by(plan, corpus):
    """Modules that read the raw files of a corpus, each with its folder."""
    modules = modules_of(plan.corpora.reading_module(names(corpus=corpus)))
    return {"/".join(Path(module).parts[-2:]) for module in modules}


def read(plan, system):
    """Files that a system of kind files reads."""
    return plan.systems.inputs("files", "draw")(names(corpus="c", system=system))["files"]


def test_the_files_of_a_data_set_by_their_splits():
    plan = plan_of({"source": "webtext", "dataset": "webtext"})
    assert list(plan.corpora.raw_parts("c").values()) == [
        f"data/webtext/v1/webtext.{split}.jsonl" for split in ("train", "valid", "test")
    ]
    some = {"source": "webtext", "dataset": "webtext", "splits": ["test", "valid"]}
    with pytest.raises(MacroscopeError, match=r"corpora\.c: without 'train' among 'splits'"):
        plan_of(some)
    plan = plan_of(some | {"official_splits": False})
    assert plan.corpora.raw_parts("c") == {
        "000-webtext-valid-jsonl": "data/webtext/v1/webtext.valid.jsonl",
        "001-webtext-test-jsonl": "data/webtext/v1/webtext.test.jsonl",
    }
    assert (
        plan.corpora.raw_part(names(corpus="c", part="001-webtext-test-jsonl")) == "data/webtext/v1/webtext.test.jsonl"
    )
    assert (
        plan.corpora.parts(names(corpus="c"))[0]
        == "results/default/corpora/c/extracted/000-webtext-valid-jsonl.parquet"
    )


def test_other_splits_extract_no_file_anew():
    options = [
        plan_of({"source": "webtext", "dataset": "webtext", "splits": splits}).corpora.extraction_options(
            names(corpus="c")
        )
        for splits in (["train"], ["train", "test"])
    ]
    assert options[0] == options[1]


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"source": "webtext"}, r"corpora\.c: give 'dataset'"),
        ({"source": "webtext", "dataset": "webtex"}, "'webtex' is no source .*did you mean 'webtext'"),
        ({"source": "webtext", "dataset": "pubmed"}, r"corpora\.c: 'pubmed' .* is read by 'source: cohan'"),
        (
            {"source": "webtext", "dataset": "gpt2-xl-output", "splits": ["train"]},
            r"corpora\.c\.splits: 'gpt2-xl-output' has no file for train",
        ),
    ],
)
def test_data_sets_that_do_not_fit(corpus, message):
    with pytest.raises(MacroscopeError, match=message):
        plan_of(corpus).corpora.raw_parts("c")


def test_local_files_stand_for_the_data_set():
    plan = plan_of({"source": "webtext", "files": ["mine.jsonl"]})
    assert plan.corpora.raw_parts("c") == {"000-mine-jsonl": "mine.jsonl"}


def test_the_files_of_a_published_model():
    corpus = {"source": "webtext", "files": ["x.jsonl"]}
    xl = {"kind": "files", "dataset": "gpt2-xl-output"}
    plan = plan_of(corpus, xl=xl, both=xl | {"splits": ["test", "valid"]}, mine={"kind": "files", "files": ["a", "b"]})
    assert read(plan, "xl") == ["data/gpt2-xl-output/v1/xl-1542M.test.jsonl"]
    assert read(plan, "both") == [
        "data/gpt2-xl-output/v1/xl-1542M.valid.jsonl",
        "data/gpt2-xl-output/v1/xl-1542M.test.jsonl",
    ]
    assert read(plan, "mine") == ["a", "b"]


@pytest.mark.parametrize("system", [{}, {"files": ["a"], "dataset": "gpt2-xl-output"}])
def test_a_system_has_files_or_a_data_set(system):
    with pytest.raises(MacroscopeError, match=r"systems\.mine: give either 'files' or 'dataset'"):
        plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files"} | system)


def test_real_documents_are_no_system():
    plan = plan_of({"source": "webtext", "files": ["x"]}, mine={"kind": "files", "dataset": "pubmed"})
    with pytest.raises(MacroscopeError, match=r"systems\.mine\.dataset: 'pubmed' .* holds real documents"):
        read(plan, "mine")


def test_simulated_corpora_by_their_kind():
    config = {
        "corpora": {"w": {"source": "simulated"}, "t": {"source": "simulated", "kind": "webtext"}},
        "systems": {"process": {"kind": "simulated"}},
        "comparisons": [{"corpus": "w", "critics": ["coherence"]}, {"corpus": "t", "critics": ["coherence"]}],
    }
    plan = Plan(parse_config(config))
    assert (plan.corpora.simulated("wiki"), plan.corpora.simulated("webtext")) == ("w", "t")
    assert plan.corpora.raw_part(names(corpus="w", part="simulated")).endswith("w/raw/pages-articles.xml.bz2")
    assert plan.corpora.raw_part(names(corpus="t", part="simulated")).endswith("t/raw/webtext.jsonl")
    modules = [modules_read_by(plan, corpus) for corpus in ("w", "t")]
    assert "wikipedia/wikitext.py" in modules[0]
    assert "wikipedia/wikitext.py" not in modules[1]
    assert "webtext/reading.py" in modules[1]
    assert "kind_of_process=webtext" in plan.systems.values("simulated", "draw")(names(corpus="t", system="process"))
    # Theory is about section types, and only the documents of kind wiki carry theirs.
    assert {corpus for _, corpus, _ in plan.calibrations()} == {"w"}


def test_labelled_data_sets():
    plan = plan_of({"source": "labelled", "dataset": "newsgroups20"})
    assert list(plan.corpora.raw_parts("c").values()) == ["data/newsgroups20/bydate/20news-bydate.tar.gz"]
    formats = {f"labelled/{name}.py" for name in ("reading", "newsgroups20", "yelp_polarity")}
    assert formats | {"corpora/splits.py"} <= modules_read_by(plan, "c")
    with pytest.raises(MacroscopeError, match=r"corpora\.c: give 'format' with 'files'"):
        plan_of({"source": "labelled", "files": ["x"]})
    with pytest.raises(MacroscopeError, match=r"corpora\.c\.dataset: input should be 'yelp_polarity'"):
        plan_of({"source": "labelled", "dataset": "yelp"})


def test_tendencies_are_counted_in_the_language_of_the_corpus():
    corpora = {
        "de": {"source": "files", "files": ["x"], "language": "de"},
        "en": {"source": "files", "files": ["x"]},
    }
    comparisons = [{"corpus": name, "critics": ["tendencies"]} for name in corpora]
    plan = Plan(parse_config({"corpora": corpora, "comparisons": comparisons}))
    options = plan.critic_options_in_language("tendencies", "unit")
    for name in corpora:
        assert json.loads(options(SimpleNamespace(corpus=name))) == {"language": name, "unit": "document"}
    told = {"critics": {"tendencies": {"language": "fr"}}}
    plan = Plan(parse_config({"corpora": corpora, "comparisons": comparisons, **told}))
    options = plan.critic_options_in_language("tendencies", "unit")
    assert json.loads(options(SimpleNamespace(corpus="de")))["language"] == "fr"
