"""Documents of another corpus keep its section types, splits and counts."""

import pytest

from macroscope.config.schema import Config
from macroscope.corpora.prepare import extract, prepare
from macroscope.corpora.subset import SubsetCorpus
from macroscope.documents import Count, Document, Provenance, Section, read_documents, read_provenance, write_documents

TYPES = ("history", "early life", "bus line")


def document(number, words, split="train"):
    sections = tuple(Section(title, "word " * words) for title in TYPES)
    return Document(f"d{number}", split, f"Title {number}", sections, label="fact")


LENGTHS = [(10, "train"), (90, "train"), (10, "valid"), (90, "test"), (9, "test")]
DOCUMENTS = [document(number, *shape) for number, shape in enumerate(LENGTHS)]


def config(**corpora):
    whole = {"source": "files", "files": ["x"], "language": "de"}
    return Config(
        corpora={"whole": whole} | corpora,
        comparisons=[{"corpus": "whole", "critics": ["tendencies"]}],
    )


def test_documents_of_another_corpus_that_pass_further_filters(tmp_path):
    before = [Count("a section title that is rare", 5, 7)]
    write_documents(tmp_path / "whole.parquet", DOCUMENTS, Provenance("whole", {"name": "wikipedia"}, {}, before))
    options = SubsetCorpus(source="subset", of="whole", filters={"max_section_tokens": 50})
    extract("short", options, tmp_path / "whole.parquet", tmp_path / "part.parquet", 1)
    documents = tmp_path / "documents.parquet"
    prepare("short", options, [tmp_path / "part.parquet"], documents)
    assert list(read_documents(documents)) == [DOCUMENTS[0], DOCUMENTS[2], DOCUMENTS[4]]
    provenance = read_provenance(documents)
    assert provenance.counts[0] == before[0]
    assert Count("a section longer than 50 tokens", 3, 2) in provenance.counts
    assert provenance.source["parts"][0]["origin"] == {"name": "wikipedia"}


def test_raw_files_are_the_documents_of_the_other_corpus():
    short = {"source": "subset", "of": "whole", "language": "de"}
    corpus = config(short=short).corpora["short"]
    assert corpus.raw_parts("corpora.short", "results/r/corpora/short") == {
        "documents": "results/r/corpora/whole/documents.parquet"
    }


@pytest.mark.parametrize(
    ("corpora", "message"),
    [
        ({"short": {"of": "hole"}}, "corpora.short.of.*'hole'.*whole"),
        ({"short": {"of": "short"}}, "short of short has no documents of its own"),
        ({"a": {"of": "b"}, "b": {"of": "a"}}, "a of b of a has no documents of its own"),
        ({"short": {"of": "whole"}}, "the documents of 'whole' are in 'de'"),
    ],
)
def test_impossible_subsets_are_clear_errors(corpora, message):
    subsets = {name: {"source": "subset", **options} for name, options in corpora.items()}
    with pytest.raises(ValueError, match=message):
        config(**subsets)
