"""Tokenizers that are trained on a corpus: encoding and decoding of texts; splitting of texts into words."""

import pytest
from tokenizers import AddedToken

from macroscope.pretrained import load_saved_tokenizer
from macroscope.systems.formats import BOUNDARY
from macroscope.systems.tokenizer import (
    boundary_id,
    end_ids,
    join_words,
    split_words,
    train_bpe,
    train_words,
    unknown_id,
)

TEXTS = ["life: He was born in Rome.\n\nwork: She (Ann) painted, and sold.", "life: He lived on.\n\nend: It was so."]


@pytest.mark.parametrize("train", [train_bpe, train_words])
def test_decoding_restores_the_text(train, tmp_path):
    train(iter(TEXTS), 400).save_pretrained(tmp_path)
    tokenizer = load_saved_tokenizer(tmp_path)
    for text in TEXTS:
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        assert boundary_id(tokenizer) not in ids
        assert tokenizer.decode(ids) == text


def test_words_are_numbered_by_frequency_and_the_same_everywhere():
    tokenizer = train_words(iter([*TEXTS, "He and He: He"]), 400)
    assert tokenizer.convert_ids_to_tokens([0, 1, 2]) == [BOUNDARY, "<unk>", " He"]
    first, later = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in ("It was", "so It was"))
    assert later[1:] == first


def test_a_closed_vocabulary_has_one_token_for_all_other_words():
    tokenizer = train_words(iter(TEXTS), 8)
    assert len(tokenizer) == 8
    ids = tokenizer("life: Zeppelin", add_special_tokens=False)["input_ids"]
    assert tokenizer.convert_ids_to_tokens(ids)[-1] == "<unk>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a (b).", ["a", "(", "￭b", "￭)."]),
        ("A b, c.\n\nD!", ["A", "b", "￭,", "c", "￭.", "\n\n", "D", "￭!"]),
        ("don't  stop", ["don", "￭'", "￭t", "stop"]),
        ("", []),
    ],
)
def test_words_of_a_text(text, words):
    assert split_words(text) == words


@pytest.mark.parametrize(
    "text", ["A b, c.\n\nD (e)!", "naïve café 北京; 1,000.5", "x", "", "title: text\n\nother: more"]
)
def test_joining_words_restores_the_text(text):
    assert join_words(split_words(text)) == text


def test_white_space_becomes_one_space():
    assert join_words(split_words("two  words\t here \n next")) == "two words here\nnext"


def test_control_tokens_end_a_text_and_unknown_words_do_not():
    tokenizer = train_words(iter(TEXTS), 40)
    assert end_ids(tokenizer) == {0}
    turn, second = len(tokenizer), len(tokenizer) + 1
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    tokenizer.add_tokens([AddedToken("<repo>", special=True), AddedToken("plain")])
    assert end_ids(tokenizer) == {0, turn, second}


def test_an_end_of_text_that_also_stands_for_unknown_words_is_the_boundary():
    """A file in GGUF has its end-of-text token as its unknown one, and the end of a turn as its end (SmolLM2)."""
    tokenizer = train_bpe(iter(TEXTS), 300)
    tokenizer.add_special_tokens({"unk_token": BOUNDARY, "eos_token": "<|im_end|>"})
    assert boundary_id(tokenizer) == tokenizer.convert_tokens_to_ids(BOUNDARY)
    assert unknown_id(tokenizer) is None
    assert end_ids(tokenizer) == {boundary_id(tokenizer), tokenizer.eos_token_id}
