"""The search of n-grams: numbers and spans are those of sets of tuples, whatever the batches and pieces."""

from collections import Counter

import numpy as np
import pytest

from macroscope.copies import search as module
from macroscope.copies.search import LENGTHS, SPAN, Search
from macroscope.documents import Document, Section
from macroscope.natural_language.ngrams import COPY, hash_ngrams, hash_words
from macroscope.natural_language.words import lower_case_words

LETTERS = [f"{a}{b}" for a in "abcdefgh" for b in "klm"]


def document(name, *sections, prompt=None):
    return Document(name, "test", None, tuple(Section(None, text) for text in sections), prompt=prompt)


def texts(seed, number, stock):
    """Return texts of few words, some of which have a part of a stock."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(number):
        words = rng.choice(LETTERS, rng.integers(0, 80)).tolist()
        if rng.random() < 0.5:
            place = rng.integers(0, 60)
            words[len(words) // 2 : len(words) // 2] = stock[place : place + rng.integers(4, 40)]
        made.append(" ".join(words))
    return made


def ngrams(words, length):
    return [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]


@pytest.mark.parametrize("most", [5, 60])
@pytest.mark.parametrize(("at_once", "piece"), [(1 << 20, 1 << 22), (50, 1 << 22), (50, 30)])
def test_numbers_are_those_of_sets_of_tuples(at_once, piece, most, monkeypatch):
    """Passages that more than `most` searched texts have are common, and do not count."""
    monkeypatch.setattr(module, "FEWEST_COMMON", most)
    monkeypatch.setattr(module, "_WORDS_AT_ONCE", at_once)
    monkeypatch.setattr(module, "_PIECE", piece)
    stock = np.random.default_rng(9).choice(LETTERS, 100).tolist()
    wanted, searched = texts(1, 40, stock), texts(2, 60, stock)
    search = Search([document(str(n), text) for n, text in enumerate(wanted)])
    search.read(document(f"s{n}", text) for n, text in enumerate(searched))
    table = search.table()
    assert search.searched == 60
    holders = Counter(gram for text in searched for gram in {*ngrams(text.split(), SPAN)})
    assert max(holders.values()) > 5
    for length in LENGTHS:
        grams = {gram for text in searched for gram in ngrams(text.split(), length)}
        expected = []
        for text in wanted:
            common = {
                at + k for at, g in enumerate(ngrams(text.split(), SPAN)) if holders[g] > most for k in range(SPAN)
            }
            of_text = enumerate(ngrams(text.split(), length))
            expected.append(sum(g in grams and common.isdisjoint(range(at, at + length)) for at, g in of_text))
        assert table[f"ngrams_{length}"].tolist() == [len(ngrams(text.split(), length)) for text in wanted]
        assert table[f"found_{length}"].tolist() == expected
    assert table["found_13"].sum() > 0
    grams = {gram for text in searched for gram in ngrams(text.split(), COPY)}
    for text, covered in zip(wanted, table["covered"], strict=True):
        words = text.split()
        places = [at + step for at, gram in enumerate(ngrams(words, COPY)) if gram in grams for step in range(COPY)]
        assert covered == len(set(places))


def test_spans_have_their_places_and_their_source():
    copied = "One two, three four; five six seven EIGHT nine."
    text = document("mine", "Nothing here.", f"He said: {copied} And so on and so forth, and more than that.")
    search = Search([text])
    search.read([document("first", f"Long ago {copied.lower()}"), document("second", copied)])
    ((number, (section, start, end), words, source, holders, _),) = search.spans()
    assert (number, section, words, source, holders) == (0, 1, 9, "first", 2)
    assert text.sections[1].text[start:end] == copied.removesuffix(".")
    assert search.table()["longest"].tolist() == [9]


def test_a_span_over_two_sections_is_marked_in_both():
    search = Search([document("mine", "a b c d", "e f g h")])
    search.read([document("real", "x a b c d e f g h")])
    assert [(span, words) for _, span, words, *_ in search.spans()] == [((0, 0, 7), 4), ((1, 0, 7), 4)]


def test_a_span_of_many_texts_is_marked_and_named_and_does_not_count():
    licence = " ".join(f"w{letter}" for letter in "abcdefghijklmnopqrst")
    search = Search([document("mine", licence)])
    search.read([document(f"real {number}", licence) for number in range(6)])
    assert [(words, holders) for _, _, words, _, holders, _ in search.spans()] == [(20, 6)]
    assert search.table()[["found_8", "longest", "covered"]].to_numpy().tolist() == [[0, 0, 20]]


def test_a_passage_that_is_copied_after_a_licence_is_a_span_of_its_own():
    licence, passage = (" ".join(f"{kind}{letter}" for letter in "abcdefghijklmnopqrst") for kind in "wx")
    search = Search([document("mine", f"{licence} {passage}")])
    search.read([document(f"real {number}", f"{licence} {passage if number == 3 else number}") for number in range(6)])
    spans = [(span, words, source, is_common) for _, span, words, source, _, is_common in search.spans()]
    assert [words for _, words, *_ in spans] == [27, 20]
    assert [rest for _, _, *rest in spans] == [["real 3", True], ["real 3", False]]
    assert [span[1:] for span, *_ in spans] == [
        (0, len(" ".join([licence, *passage.split()[:7]]))),
        (len(licence) + 1, len(f"{licence} {passage}")),
    ]
    assert search.table()["longest"].tolist() == [20]


def test_a_section_of_numbers_within_a_span_is_no_row():
    search = Search([document("mine", "a b c d", "1 2", "e f g h")])
    search.read([document("real", "a b c d e f g h")])
    assert [(span[0], words) for _, span, words, *_ in search.spans()] == [(0, 4), (2, 4)]


def test_n_grams_of_the_prompt_do_not_count():
    words = [f"w{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    text = " ".join(words)
    search = Search([document("mine", text, prompt=" ".join(words[:12])), document("other", text)])
    search.read([document("real", text)])
    table = search.table()
    assert table["ngrams_5"].tolist() == [14, 22]
    assert table["found_5"].tolist() == [14, 22]


def test_words_in_a_script_without_spaces_are_those_of_a_dictionary():
    text = "我们都喜欢吃中国菜也喜欢喝绿茶因为很健康"
    search = Search([document("mine", text)])
    search.read([document("real", text)])
    words = len(lower_case_words(text))
    assert words >= 10
    assert search.table()["longest"].tolist() == [words]


def test_texts_without_n_grams_have_none():
    search = Search([document("mine", "1 2 3 ..."), document("short", "too few words")])
    search.read([document("real", "too few words")])
    assert not list(search.spans())
    assert search.table()[["ngrams_5", "found_5", "longest"]].to_numpy().sum() == 0


def test_hashes_depend_on_the_order_of_words_and_not_on_the_process():
    hashes = hash_words(["to", "be", "or", "not", "to", "be"])
    pairs = hash_ngrams(hashes, 2)
    assert pairs[0] == pairs[4]
    assert len({*pairs.tolist()}) == 4
    assert hash_ngrams(hash_words(["be", "to"]), 2)[0] != pairs[0]
    assert hash_words(["to"])[0] == hash_words(["to", "be"])[0]
    assert SPAN in LENGTHS
