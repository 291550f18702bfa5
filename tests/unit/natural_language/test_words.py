"""Words of texts in several scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.tokens import DictionaryTokens
from macroscope.natural_language.words import locate_pieces, locate_words, lower_case_words, split_at_spaces, stop_words
from macroscope.systems.ngram.model import words_of
from macroscope.systems.perturbation.pieces import split_words


def test_a_chinese_text_is_more_than_one_word():
    text = "我们在北京大学学习。"
    assert split_at_spaces(text) == ["我们", "在", "北京", "大学", "学习", "。"]
    assert words_of(f"{text} <s> {text}") == 2 * split_at_spaces(text)


def test_the_other_words_of_a_mixed_text_stay_as_they_are():
    assert split_at_spaces("It's state-of-the-art (see 北京), no?") == [
        *("It's", "state-of-the-art", "(see", "北京", ")", ",", "no?")
    ]
    assert lower_case_words("Python语言, don't") == ["python", "语言", "don't"]


def test_offsets_count_characters_beyond_the_basic_plane():
    text = "😀 𠮷野家で 食べる"
    words = list(locate_words(text))
    assert [text[start:end] for start, end, _ in words] == [word for *_, word in words]
    assert "".join(word for *_, word in words) == "𠮷野家で食べる"


@pytest.mark.slow
@given(st.lists(st.sampled_from([*"ab \n.'我们学习กะไร𠮷😀é", "e\u0301"]), max_size=20).map("".join))
def test_pieces_join_to_the_text(text):
    import regex

    pieces = list(locate_pieces(text, regex.compile(r"\S+")))
    assert "".join(text[start:end] for start, end in pieces) == "".join(text.split())
    assert "".join(split_words(text)) == (text if text.strip() else "")
    assert all(word.strip() for word in split_words(text))


def test_dictionary_tokens_have_no_spaces():
    batch = DictionaryTokens()(["Привет, мир! ", "", "ฉันไม่รู้"])
    assert [batch.types[number] for number in batch.ids] == ["привет", ",", "мир", "!", "ฉัน", "ไม่รู้"]
    assert batch.lengths.tolist() == [4, 0, 2]


def test_stop_words_are_those_of_the_language():
    words = stop_words("en")
    assert {"the", "wouldn't", "'s"} <= words
    assert len(words) == 179 + 7
    assert stop_words("tlh") == frozenset()


def test_very_long_lines_are_cut_after_sentences():
    text = 'He said: "No. ' + "The fox ran home. It rained. " * 4000
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert sum(sentence in ("The fox ran home. ", "It rained. ") for sentence in sentences) > 6000
    chinese = "狐狸跑回家。" * 10_000
    assert "".join(split_sentences(chinese, "zh")) == chinese
    assert len(split_sentences(chinese, "zh")) > 9000
