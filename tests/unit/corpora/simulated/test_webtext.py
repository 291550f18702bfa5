"""The simulated encyclopaedia as WebText: reading and filters recover the generated documents exactly."""

import json
from collections import Counter

import pytest

from macroscope.corpora.prepare import extract, prepare
from macroscope.corpora.simulated import SimulatedCorpus, wiki
from macroscope.corpora.simulated.process import GENRES
from macroscope.documents import read_documents, read_provenance
from macroscope.systems.simulated import SimulatedSystem, simulate

pytestmark = pytest.mark.slow

OPTIONS = SimulatedCorpus(source="simulated", kind="webtext", documents=120, clutter=0.1, test_share=0.3)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("webtext")
    wiki.write_webtext(OPTIONS, 3, folder / "wiki.jsonl", folder / "truth")
    extract("web", OPTIONS, folder / "wiki.jsonl", folder / "part.parquet", 1)
    prepare("web", OPTIONS, [folder / "part.parquet"], folder / "documents.parquet")
    return folder


def test_documents_are_the_truth_to_the_letter(corpus):
    truth = list(read_documents(corpus / "truth" / "documents.parquet"))
    assert len(truth) == 120
    assert list(read_documents(corpus / "documents.parquet")) == truth
    assert all(len(d.sections) == 1 and d.sections[0].title is None for d in truth)
    assert {d.label for d in truth} == set(GENRES)
    assert Counter(d.split for d in truth)["test"] == pytest.approx(36, abs=20)


def test_clutter_is_dropped_and_nothing_else(corpus):
    dropped = {c.filter: c.dropped for c in read_provenance(corpus / "documents.parquet").counts if c.dropped}
    assert dropped == {"text without words": 12}


def test_raw_file_has_the_upstream_format(corpus):
    with (corpus / "wiki.jsonl").open() as stream:
        records = [json.loads(line) for line in stream]
    assert len(records) == 132
    assert [list(record)[:4] for record in records] == [["id", "ended", "length", "text"]] * 132
    assert [record["id"] for record in records] == list(range(132))
    assert all(record["length"] > 100 and "\n\n" in record["text"] for record in records if "label" in record)


def test_texts_are_the_articles_of_the_wiki_without_titles(corpus, tmp_path):
    options = SimulatedCorpus(source="simulated", documents=120)
    wiki.write_corpus(options, 3, tmp_path / "raw.xml.bz2", tmp_path / "truth")
    articles = list(read_documents(corpus / "truth" / "articles.parquet"))
    assert [a.sections for a in articles] == [
        d.sections for d in read_documents(tmp_path / "truth" / "documents.parquet")
    ]
    for article, text in zip(articles, read_documents(corpus / "documents.parquet"), strict=True):
        assert article.id == text.id
        assert [section.text for section in article.sections] == text.sections[0].text.split("\n")


def test_same_seed_same_bytes(corpus, tmp_path):
    for seed, same in ((3, True), (4, False)):
        wiki.write_webtext(OPTIONS, seed, tmp_path / "wiki.jsonl", tmp_path / "truth")
        assert ((tmp_path / "wiki.jsonl").read_bytes() == (corpus / "wiki.jsonl").read_bytes()) is same


def test_default_filters_drop_nothing_and_may_be_given_one_by_one():
    assert OPTIONS.filters.min_sections == 1
    assert OPTIONS.filters.max_section_tokens is None
    given = SimulatedCorpus.model_validate({"source": "simulated", "kind": "webtext", "filters": {"max_documents": 5}})
    assert given.filters == OPTIONS.filters.model_copy(update={"max_documents": 5})
    assert SimulatedCorpus.model_validate_json(given.model_dump_json()) == given
    assert SimulatedCorpus(source="simulated").filters.min_sections == 3


def test_samples_have_the_form_of_the_corpus(corpus, tmp_path):
    process = corpus / "truth" / "process.json"
    samples = {}
    for order in ("process", "shuffled", "independent"):
        options = SimulatedSystem(kind="simulated", order=order, samples=30)
        simulate(process, tmp_path / "s.parquet", options, kind_of_process="webtext", corpus="web", system="s", seed=1)
        samples[order] = list(read_documents(tmp_path / "s.parquet"))
        assert all(d.title is None and [s.title for s in d.sections] == [None] for d in samples[order])
        simulate(process, tmp_path / "w.parquet", options, kind_of_process="wiki", corpus="web", system="s", seed=1)
        titled = list(read_documents(tmp_path / "w.parquet"))
        assert [d.sections[0].text for d in samples[order]] == ["\n".join(s.text for s in d.sections) for d in titled]
    lines = {order: [d.sections[0].text.split("\n") for d in documents] for order, documents in samples.items()}
    assert lines["process"] != lines["shuffled"]
    assert [len(text) for text in lines["process"]] == [len(text) for text in lines["independent"]]
