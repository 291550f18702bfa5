"""The simulated encyclopaedia: extraction and filters recover the generated documents exactly."""

import csv
from collections import Counter

import pytest

from macroscope.corpora.options import Filters, RareTitles
from macroscope.corpora.prepare import extract, prepare
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.corpora.simulated.articles import simulate_documents, wording
from macroscope.corpora.simulated.process import wiki_process
from macroscope.corpora.simulated.wiki import write_corpus
from macroscope.corpora.titles import normalise_title
from macroscope.documents import read_documents, read_provenance

pytestmark = pytest.mark.slow

FILTERS = Filters(min_sections=4, rare_titles=RareTitles(min_count=2))
OPTIONS = SimulatedCorpus(source="simulated", documents=150, filters=FILTERS, test_share=0.2)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wiki")
    write_corpus(OPTIONS, 3, folder / "raw.xml.bz2", folder / "truth")
    extract("wiki", OPTIONS, folder / "raw.xml.bz2", folder / "part.parquet", 2)
    prepare("wiki", OPTIONS, [folder / "part.parquet"], folder / "documents.parquet")
    return folder


def test_documents_are_the_truth_to_the_letter(corpus):
    truth = {document.id: document for document in read_documents(corpus / "truth" / "documents.parquet")}
    documents = {document.id: document for document in read_documents(corpus / "documents.parquet")}
    assert len(truth) == 150
    assert documents == truth


def test_every_page_is_accounted_for(corpus):
    with (corpus / "truth" / "pages.csv").open() as stream:
        kinds = Counter(row["kind"] for row in csv.DictReader(stream))
    dropped = {c.filter: c.dropped for c in read_provenance(corpus / "documents.parquet").counts}

    def dropped_by(start: str) -> int:
        return sum(n for name, n in dropped.items() if name.startswith(start))

    assert dropped_by("redirect") == kinds["redirect"] > 0
    assert dropped_by("disambiguation") == kinds["disambiguation"] > 0
    assert dropped_by("article about a year") == kinds["year"] > 0
    assert dropped_by("page outside the article namespace") == kinds["other namespace"] > 0
    assert dropped_by("page that is mostly links") == kinds["list"] > 0
    assert dropped_by("fewer than 4 sections") == kinds["few sections"] > 0
    assert dropped_by("a section shorter") == kinds["short section"] > 0
    assert dropped_by("a section title that is rare") == kinds["rare section title"] > 0


def test_same_seed_same_bytes(corpus, tmp_path):
    write_corpus(OPTIONS, 3, tmp_path / "raw.xml.bz2", tmp_path / "truth")
    assert (tmp_path / "raw.xml.bz2").read_bytes() == (corpus / "raw.xml.bz2").read_bytes()
    write_corpus(OPTIONS, 4, tmp_path / "other.xml.bz2", tmp_path / "truth")
    assert (tmp_path / "other.xml.bz2").read_bytes() != (corpus / "raw.xml.bz2").read_bytes()


def test_every_spelling_of_a_title_has_the_section_type_as_its_standard_form():
    for section_type, entry in wording()["types"].items():
        assert {normalise_title(title) for title in entry["titles"]} == {section_type}


def test_orders():
    process = wiki_process()
    plain, shuffled, independent = (
        list(simulate_documents(process, order, 300, 5)) for order in ("process", "shuffled", "independent")
    )
    for a, b in zip(plain, shuffled, strict=True):
        assert sorted(s.title for s in a.sections) == sorted(s.title for s in b.sections)
    assert any(
        [s.title for s in a.sections] != [s.title for s in b.sections] for a, b in zip(plain, shuffled, strict=True)
    )
    assert [len(d.sections) for d in independent] == [len(d.sections) for d in plain]
    share = Counter(s.title for d in independent for s in d.sections)["abstract"] / sum(
        len(d.sections) for d in independent
    )
    assert share == pytest.approx(process.section_marginal()[process.states.index("abstract")], abs=0.04)


def test_first_documents_do_not_depend_on_the_number():
    process = wiki_process()
    few, many = (list(simulate_documents(process, "process", n, 5)) for n in (3, 9))
    assert few == many[:3]
