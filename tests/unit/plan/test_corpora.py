"""The plan of the corpora: which raw files they have, who reads them, what an option changes."""

from typing import get_args

import pytest

from macroscope.config.schema import load_config, parse_config
from macroscope.corpora.retrieval import find_remote_source, list_remote_sources
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.errors import MacroscopeError
from macroscope.files import REPOSITORY
from macroscope.plan.corpora import CorporaPlan

from .plans import names


def plan_of(corpus, **others):
    config = {"corpora": {"c": corpus, **others}, "comparisons": [{"corpus": "c", "critics": ["tendencies"]}]}
    return CorporaPlan(parse_config(config), "results/default")


def test_the_files_of_a_data_set_by_their_splits():
    plan = plan_of({"source": "webtext", "dataset": "webtext"})
    assert list(plan.raw_parts("c").values()) == [
        f"data/webtext/v1/webtext.{split}.jsonl" for split in ("train", "valid", "test")
    ]
    options = {"source": "webtext", "dataset": "webtext", "splits": ["test", "valid"]}
    with pytest.raises(MacroscopeError, match=r"corpora\.c: without 'train' among 'splits'"):
        plan_of(options)
    plan = plan_of(options | {"official_splits": False})
    assert plan.raw_parts("c") == {
        "000-webtext-valid-jsonl": "data/webtext/v1/webtext.valid.jsonl",
        "001-webtext-test-jsonl": "data/webtext/v1/webtext.test.jsonl",
    }
    test = names(corpus="c", part="001-webtext-test-jsonl")
    assert plan.raw_part(test) == "data/webtext/v1/webtext.test.jsonl"
    assert plan.parts(test)[0] == "results/default/corpora/c/extracted/000-webtext-valid-jsonl.parquet"


def test_parts_that_two_corpora_read_in_the_same_way_are_extracted_once():
    wiki = {"source": "wikipedia", "dump": "simplewiki"}
    plan = plan_of(
        wiki,
        long=wiki | {"filters": {"min_sections": 4}},
        german=wiki | {"language": "de"},
        web={"source": "webtext", "dataset": "webtext"},
        some={"source": "webtext", "dataset": "webtext", "splits": ["train", "valid", "test"], "unit": "line"},
        process={"source": "simulated", "kind": "wiki"},
        twin={"source": "simulated", "kind": "wiki"},
    )
    parts = {name: plan.parts(names(corpus=name)) for name in plan.config.corpora}
    assert parts["long"] == parts["c"]
    assert parts["some"] == parts["web"]
    for first, second in (("german", "c"), ("twin", "process"), ("web", "c")):
        assert not set(parts[first]) & set(parts[second])


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ({"source": "webtext"}, r"corpora\.c: no raw files; give 'dataset'"),
        (
            {"source": "webtext", "dataset": "webtex"},
            r"corpora\.c\.dataset: 'webtex' is not a source .*did you mean 'webtext'",
        ),
        ({"source": "webtext", "dataset": "pubmed"}, r"corpora\.c: 'pubmed' .* is read by 'source: cohan'"),
        ({"source": "wikipedia", "dump": "smollm2-135m"}, r"c\.dump: 'smollm2-135m' .* has the weights of a model"),
        (
            {"source": "webtext", "dataset": "gpt2-xl-output", "splits": ["train"]},
            r"corpora\.c\.splits: 'gpt2-xl-output' has no file for train",
        ),
    ],
)
def test_data_sets_that_do_not_fit(corpus, message):
    with pytest.raises(MacroscopeError, match=message):
        plan_of(corpus).raw_parts("c")


@pytest.mark.slow
def test_simulated_corpora_by_their_kind():
    plan = plan_of({"source": "simulated"}, t={"source": "simulated", "kind": "webtext"})
    assert (plan.simulated("wiki"), plan.simulated("webtext")) == ("c", "t")
    assert plan.raw_part(names(corpus="c", part="simulated")).endswith("c/raw/pages-articles.xml.bz2")
    assert plan.raw_part(names(corpus="t", part="simulated")).endswith("t/raw/webtext.jsonl")
    assert plan.reader(names(corpus="c")).package == "macroscope.corpora.wikipedia"
    assert plan.reader(names(corpus="t")).package == "macroscope.corpora.webtext"
    assert plan.reader(names(corpus="t")).data.version == 1
    assert get_args(SimulatedCorpus.model_fields["kind"].annotation) == (
        "wiki",
        "webtext",
        "topics",
        "languages",
        "people",
        "scripts",
        "hsmm",
    )
    assert set(plan.simulations) == {"wiki", "webtext", "topics", "languages", "people", "scripts", "hsmm"}


def test_labelled_data_sets():
    plan = plan_of({"source": "labelled", "dataset": "newsgroups20"})
    assert list(plan.raw_parts("c").values()) == ["data/newsgroups20/bydate/20news-bydate.tar.gz"]
    assert plan.reader(names(corpus="c")).package == "macroscope.corpora.labelled"
    with pytest.raises(MacroscopeError, match=r"corpora\.c: give 'format' with 'files'"):
        plan_of({"source": "labelled", "files": ["x"]})
    with pytest.raises(MacroscopeError, match=r"corpora\.c\.dataset: input should be 'yelp_polarity'"):
        plan_of({"source": "labelled", "dataset": "yelp"})


@pytest.mark.parametrize(
    ("mirror", "flags"),
    [
        (None, ["", ""]),
        ("/my mirror", ["--mirror '/my mirror'", "--mirror '/my mirror'"]),
        ({"stories": "https://x"}, ["--mirror https://x", ""]),
    ],
)
def test_a_mirror_is_that_of_all_data_sets_or_of_one(mirror, flags):
    config = {"corpora": {"c": {"source": "simulated"}}, "comparisons": [{"corpus": "c", "critics": ["tendencies"]}]}
    plan = CorporaPlan(parse_config(config | {"mirror": mirror}), "results/default")
    assert [plan.mirror_flag(names(source=source)) for source in ("stories", "enwiki")] == flags
    plan.require_mirrored()


def test_a_mirror_of_an_unknown_data_set_is_named():
    config = {"corpora": {"c": {"source": "simulated"}}, "comparisons": [{"corpus": "c", "critics": ["tendencies"]}]}
    plan = CorporaPlan(parse_config(config | {"mirror": {"storys": "x"}}), "results/default")
    with pytest.raises(MacroscopeError, match="did you mean 'stories'"):
        plan.require_mirrored()


def test_the_papers_configs_ask_for_nothing_that_is_gone():
    for path in sorted((REPOSITORY / "experiments").glob("*.yaml")):
        for name, corpus in load_config(path).corpora.items():
            for file in corpus.raw_parts(name, "raw").values():
                source = file.split("/")[1] if file.startswith("data/") else None
                gone = source in list_remote_sources() and find_remote_source(source).gone
                assert not gone, f"{path.name}: {name}"
