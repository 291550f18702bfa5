"""Tokens of texts: their number and their ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import ByteLevel

from macroscope.corpora.tokens import GPT2_PIECES, make_token_counter, make_token_locator

LETTERS = st.characters(codec="utf-8", categories=["Lu", "Ll", "Lo", "Nd", "P", "Zs", "Sm"], max_codepoint=0x3FF)


@given(st.lists(st.text(LETTERS | st.sampled_from(" \n\t'sdm一a1"))))
def test_pieces_are_those_of_the_tokenizers_library(texts):
    pieces = ByteLevel(add_prefix_space=False)
    assert make_token_counter(GPT2_PIECES)(texts) == [len(pieces.pre_tokenize_str(text)) for text in texts]


@pytest.mark.parametrize(("text", "pieces"), [("", 0), ("We'll go.", 4), ("a  b\n", 4), ("x2", 2)])
def test_counts_of_pieces(text, pieces):
    assert make_token_counter(GPT2_PIECES)([text]) == [pieces]


@pytest.mark.slow
@pytest.mark.parametrize("text", ["Ada wrote programs.\n\nThey ran late, café.", "", "  "])
def test_ends_of_tokens_of_a_pretrained_tokenizer(text):
    """The encoder MiniLM comes with a package; its tokenizer's own offsets are the fact."""
    ends = make_token_locator("minilm")(text)
    assert len(ends) == make_token_counter("minilm")([text])[0]
    assert ends == sorted(ends)
    assert not text.strip() or text[: ends[1]].endswith("wrote")
