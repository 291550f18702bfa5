"""Scientific articles in the layout of Cohan et al."""

import gzip
import json
import zipfile

import pytest

from macroscope.corpora.cohan import CohanCorpus, read_articles
from macroscope.documents import Provenance, Section
from macroscope.errors import MacroscopeError

OPTIONS = CohanCorpus(source="cohan")


def article(name, names=("introduction", "results"), sections=(["A first .", "A second ."], ["A third ."])):
    return json.dumps(
        {
            "article_id": name,
            "abstract_text": ["<S> Short . </S>", "<S> Words . </S>"],
            "section_names": list(names),
            "sections": list(sections),
        }
    )


def read(path, options=OPTIONS, provenance=None):
    return list(read_articles(options, path, provenance or Provenance("test")))


def test_json_lines(tmp_path):
    path = tmp_path / "articles.jsonl.gz"
    path.write_bytes(gzip.compress(f"{article('a')}\n{article('b')}\n".encode()))
    documents = read(path)
    assert [d.id for d in documents] == ["a", "b"]
    assert [(s.title, s.text) for s in documents[0].sections] == [
        ("introduction", "A first . A second ."),
        ("results", "A third ."),
    ]


def test_abstract_comes_first_if_requested(tmp_path):
    path = tmp_path / "articles.jsonl"
    path.write_text(article("a"))
    options = OPTIONS.model_copy(update={"abstract": True})
    assert read(path, options)[0].sections[0] == Section("abstract", "Short . Words .")


def test_zip_keeps_the_official_splits(tmp_path):
    path = tmp_path / "pubmed-dataset.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for split in ("test", "train", "val"):
            archive.writestr(f"pubmed-dataset/{split}.txt", article(f"in-{split}") + "\n")
        archive.writestr("__MACOSX/pubmed-dataset/._train.txt", "\0\1")
    assert [(d.id, d.split) for d in read(path)] == [("in-train", "train"), ("in-val", "valid"), ("in-test", "test")]


def test_unequal_numbers_are_counted(tmp_path):
    path = tmp_path / "articles.jsonl"
    path.write_text(f"{article('a', names=('one',))}\n{article('b')}\n")
    provenance = Provenance("test")
    assert [d.id for d in read(path, provenance=provenance)] == ["b"]
    assert provenance.counts[0].dropped == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"article_id": "x"', "line 2 is not valid JSON"),
        ('{"article_id": "x"}', "line 2: 'section_names' is missing"),
        (article("x", sections=("not a list", [])), "line 2: a section is not a list of sentences"),
    ],
)
def test_malformed_lines(tmp_path, line, message):
    path = tmp_path / "articles.jsonl"
    path.write_text(f"{article('a')}\n{line}\n")
    with pytest.raises(MacroscopeError) as error:
        read(path)
    assert message in str(error.value)


def test_truncated_zip(tmp_path):
    path = tmp_path / "articles.zip"
    path.write_bytes(b"PK\x03\x04truncated")
    with pytest.raises(MacroscopeError, match="not a zip file, or a truncated one"):
        read(path)


def test_official_layout(real_text):
    for name in ("pubmed", "arxiv"):
        provenance = Provenance("test")
        documents = read(real_text("scientific_papers_hf_dummy") / f"{name}_dummy_data.zip", provenance=provenance)
        # The placeholder is one article, the same in all three splits: the training one stays.
        assert [d.split for d in documents] == ["train"]
        assert next(c.dropped for c in provenance.counts if c.filter == "article id that occurred before") == 2


@pytest.mark.slow
def test_real_articles(real_text):
    provenance = Provenance("test")
    documents = read(real_text("cohan_like") / "pubmed_like.jsonl.gz", provenance=provenance)
    assert len(documents) + sum(c.dropped for c in provenance.counts if c.unit == "documents") == 127
    assert all("\n\n" not in s.text for d in documents for s in d.sections)
