"""Lines and passages of documents as documents."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.corpora.files import FilesCorpus
from macroscope.corpora.lines_and_passages import PassageCutter, split_lines
from macroscope.document_keys import shared_id
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError
from macroscope.readers.splits import assign_split


def sentence(word, words=6):
    return " ".join([word.capitalize(), *[word] * (words - 1)]) + "."


def article(split, *sections, name="d"):
    return Document(name, split, "T", tuple(Section("S", text) for text in sections), label="news")


def cut(*documents, words=10, language="en"):
    options = FilesCorpus(source="files", files=["x"], unit="passage", passages={"words": words}, language=language)
    cutter = PassageCutter(options)
    return list(cutter.cut(documents)), {count.filter: (count.kept, count.dropped) for count in cutter.counts}


def test_passages_begin_with_sentences_and_have_the_number_of_words():
    text = " ".join(sentence(word) for word in ("one", "two", "six", "ten", "cat"))
    passages, counts = cut(article("train", text, sentence("dog", 12)))
    assert [p.text for p in passages] == [
        "One one one one one one. Two two two two",
        "Six six six six six six. Ten ten ten ten",
        "Dog" + " dog" * 9,
    ]
    assert {(len(p.sections), p.sections[0].title, p.title, p.label, p.split) for p in passages} == {
        (1, None, None, "news", "train")
    }
    assert counts["text outside of passages of 10 words"] == (30, 12)


def test_no_passage_spans_a_section_or_a_line_that_ends_no_sentence():
    lines = [sentence("one"), "A heading", sentence("two"), sentence("six"), "an item", sentence("ten")]
    passages, _ = cut(article("train", "\n".join(lines), sentence("cat")))
    assert [p.text for p in passages] == ["Two two two two two two.\nSix six six six"]


def test_a_held_out_document_gives_one_passage_that_depends_on_its_id_alone():
    text = " ".join(sentence("cat", 10) for _ in range(40))
    documents = [article(split, text, name=f"{split}-{n}") for split in ("valid", "test") for n in range(20)]
    passages, counts = cut(*documents)
    assert [shared_id(p.id) for p in passages] == [d.id for d in documents]
    assert counts["further passage of a held-out document"] == (40, 40 * 39)
    assert len({p.id.partition("(")[2] for p in passages}) > 10
    assert cut(*documents[::-1])[0] == passages[::-1]


def test_passages_of_a_document_are_of_one_group():
    passages, _ = cut(article("train", " ".join(sentence("cat", 10) for _ in range(3))))
    assert [p.id for p in passages] == ["d (passage 1)", "d (passage 2)", "d (passage 3)"]
    assert {shared_id(p.id) for p in passages} == {"d"}


def test_documents_without_a_passage_are_counted():
    passages, counts = cut(article("test", "Too short."), article("train", "items\nonly"))
    assert (passages, counts["no passage of 10 words"]) == ([], (0, 2))


def test_scripts_without_spaces_have_words():
    passages, _ = cut(article("train", "我们今天去北京大学看书。" * 6), language="zh")
    assert passages
    assert all(10 <= len(p.text) <= 40 for p in passages)


def test_passages_of_whole_documents_are_one_sentence():
    corpus = {"source": "simulated", "passages": {"words": 99}}
    with pytest.raises(
        MacroscopeError, match="'passages' goes with 'unit: passage'; set both, or leave 'passages' out"
    ):
        parse_config({"corpora": {"c": corpus}, "comparisons": [{"corpus": "c", "critics": ["tendencies"]}]})


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
