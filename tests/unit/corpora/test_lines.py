"""Lines as documents: which, in which form, in which split."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.corpora.files import FilesCorpus
from macroscope.corpora.lines import split_lines
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split

WHOLE = Document(
    "d",
    "test",
    "Zoë",
    (Section("abstract", "One\n\n two "), Section("Life", "Three"), Section("abstract", "x")),
    label="news",
)


def lines_of(document=WHOLE, **lines):
    options = FilesCorpus(source="files", files=["x"], unit="line", lines=lines)
    return list(split_lines([document], options))


def test_each_line_becomes_a_document():
    lines = lines_of()
    assert [(d.id, d.split, d.title, d.sections) for d in lines][:2] == [
        ("d#0", "test", None, (Section(None, "One"),)),
        ("d#1", "test", None, (Section(None, "two"),)),
    ]
    assert [d.text for d in lines] == ["One", "two", "Three", "x"]
    assert {d.label for d in lines} == {"news"}


def test_titles_and_headings_are_lines_but_for_the_name_of_the_lead():
    assert [d.text for d in lines_of(headings=True)] == ["Zoë", "One", "two", "Life", "Three", "abstract", "x"]


def test_folded_lines_have_neither_capitals_nor_accents():
    assert [d.text for d in lines_of(headings=True, fold=True)][:2] == ["zoe", "one"]


def test_tokenized_lines_are_the_tokens_of_moses_in_lower_case():
    """As its scripts turn them out: replace-unicode-punctuation, normalize-punctuation, remove-non-printing-char,
    tokenizer -no-escape."""
    text = "Zoë’s “dog” (born 1,000 B.C.) isn't Mr. Smith's…\nAxoft (Russia) — Software\u200b."
    document = Document("d", "test", None, (Section(None, text),))
    assert [d.text for d in lines_of(document, tokenize=True)] == [
        "zoë 's \" dog \" ( born 1,000 b.c. ) isn 't mr. smith 's ...",
        "axoft ( russia ) - software .",
    ]
    assert next(d.text for d in lines_of(document, tokenize=True, fold=True)).startswith("zoe 's")


def test_lines_may_be_split_by_themselves():
    many = Document("d", "train", None, (Section(None, "\n".join(map(str, range(300)))),))
    splits = {d.id: d.split for d in lines_of(many, split_by="line")}
    assert splits == {name: assign_split(name, 0.1, 0.1) for name in splits}
    assert set(splits.values()) == {"train", "valid", "test"}
    assert {d.split for d in lines_of(many)} == {"train"}


def test_lines_of_whole_documents_are_one_sentence():
    corpus = {"source": "simulated", "lines": {"headings": True}}
    with pytest.raises(MacroscopeError, match="'lines' goes with 'unit: line'; set both, or leave 'lines' out"):
        parse_config({"corpora": {"c": corpus}, "comparisons": [{"corpus": "c", "critics": ["tendencies"]}]})
