"""Passages as documents: equally long, of running text, one of each held-out document."""

import pytest

from macroscope.config.schema import parse_config
from macroscope.corpora.files import FilesCorpus
from macroscope.corpora.passages import PassageCutter
from macroscope.document_keys import shared_id
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError


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
