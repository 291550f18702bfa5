"""The text formats of language models, and the check of files of samples that kinds of systems write."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.documents import SCHEMA, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.formats import InvalidSample, check_samples, format_training_text, parse_sample

DOCUMENT = Document("x", "train", "X", (Section("abstract", "One: two."), Section("early life", "Three.\nFour.")))


def test_both_formats():
    assert format_training_text(DOCUMENT, True) == "abstract: One: two.\n\nearly life: Three.\nFour."
    assert format_training_text(DOCUMENT, False) == "One: two.\n\nThree.\nFour."


def test_parsing_restores_the_training_text():
    assert parse_sample(format_training_text(DOCUMENT, True), True) == (DOCUMENT.sections, 0)
    assert parse_sample(format_training_text(DOCUMENT, False), False)[0] == tuple(
        Section(None, s.text) for s in DOCUMENT.sections
    )


words = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(lambda t: "<|" not in t)


@pytest.mark.slow
@given(st.lists(st.tuples(words.filter(lambda t: ":" not in t), words), min_size=1, max_size=5))
def test_round_trip_of_any_words(pairs):
    document = Document("x", "train", None, tuple(Section(title, text) for title, text in pairs))
    assert parse_sample(format_training_text(document, True), True) == (document.sections, 0)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "attempt without text"),
        ("<|endoftext|>\n", "attempt without text"),
        ("abstract: One.\n\nno colon here", "section without a colon"),
        ("abstract: One.\n\n: no title", "section with an empty title"),
        ("abstract:", "section with an empty text"),
    ],
)
def test_invalid_samples_have_a_reason(text, reason):
    with pytest.raises(InvalidSample, match=reason):
        parse_sample(text, True)


def test_without_titles_empty_sections_are_removed_and_counted():
    assert parse_sample("One.\n\n\n\nTwo.", False) == ((Section(None, "One."), Section(None, "Two.")), 1)


SECTIONS = [{"title": None, "text": "text"}]


def _table(**columns):
    rows = {"id": ["a", "b"], "split": ["test"] * 2, "title": [None] * 2, "sections": [SECTIONS] * 2}
    rows |= {"sentences": [None] * 2, "label": [None] * 2, "original": [None] * 2, "prompt": [None] * 2} | columns
    return pa.table(rows, schema=SCHEMA.remove_metadata())


def test_samples_that_keep_the_contract_stay(tmp_path):
    path = tmp_path / "samples.parquet"
    write_documents(path, [Document("a", "test", None, (Section(None, "text"),))], Provenance("c"))
    check_samples("theirs", path)
    write_documents(path, [], Provenance("c"))
    check_samples("theirs", path)
    assert path.exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"id": ["a"]}), "no column 'split'"),
        (_table(id=["a", "a"]), "2 documents have 1 ids"),
        (_table(id=["", "a"]), "a document has no id"),
        (_table(split=["test", "tset"]), "the split 'tset' is not one of train, valid, test"),
        (_table(sections=[SECTIONS, []]), "a document has no sections"),
        (_table(), "was not written by macroscope"),
        (_table().replace_schema_metadata({b"macroscope": b"[]"}), "wrote a wrong output"),
    ],
)
def test_wrong_samples_are_one_sentence_and_are_removed(tmp_path, table, message):
    path = tmp_path / "samples.parquet"
    pq.write_table(table, path)
    with pytest.raises(MacroscopeError, match=message):
        check_samples("theirs", path)
    assert not path.exists()
