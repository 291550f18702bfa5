"""Passages and their numbers; the ranking of files."""

import json
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from macroscope.cli import app
from macroscope.criticize.inputs import GivenFields
from macroscope.errors import MacroscopeError
from macroscope.ranking.passages import WORDS, compute_text_numbers, sentence_rhythm, split_passages
from macroscope.ranking.rank import rank


def words_of(generator, number, types):
    return [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in (generator.randrange(types) for _ in range(number))]


def write_texts(path, seed, types, texts=12, words=3 * WORDS):
    generator = random.Random(seed)
    with path.open("w") as file:
        for n in range(texts):
            content = words_of(generator, words, types)
            ends = [generator.randrange(4, 20) for _ in content]
            text = " ".join(w + ("." if k % ends[k] == 0 else "") for k, w in enumerate(content))
            file.write(json.dumps({"id": f"t{n}", "text": text}) + "\n")
    return path


def test_passages_have_equal_numbers_of_words():
    text = ", ".join(f"word{n}" for n in range(250))
    first, second = split_passages(text)
    assert (first.split()[0], first.split()[-1], second.split()[0]) == ("word0,", "word99,", "word100,")
    assert len(second.split()) == WORDS
    assert len(split_passages(" ".join(["word"] * 2 * WORDS))) == 2
    assert split_passages("too short") == []


def test_shared_pairs_are_counted_between_passages():
    numbers = compute_text_numbers([["a b c d", "a b x y"], ["a b q r"], ["k l m n"]], "en")
    assert numbers.within[0] == pytest.approx(1 / 3)  # of three pairs, both have "a b"
    assert np.isnan(numbers.within[1])
    assert numbers.between[0, 1] == pytest.approx(1 / 3)
    assert numbers.between[0, 2] == 0


def test_rhythm_is_the_spread_of_the_lengths_of_sentences():
    assert sentence_rhythm("One two. One two. One two.", "en") == 0
    assert sentence_rhythm("One. One two three four.", "en") == pytest.approx(np.log(4) / 2)


def test_systems_are_ranked_by_how_much_they_repeat(tmp_path):
    real = write_texts(tmp_path / "real.jsonl", 0, 600)
    few, many = write_texts(tmp_path / "few.jsonl", 1, 40), write_texts(tmp_path / "many.jsonl", 2, 600)
    table = rank([real], [few, many], GivenFields(), "en")
    assert table["system"].tolist() == ["many", "few"]
    assert table["rank"].tolist() == [1, 2]
    assert table.loc[0, "ci_high"] < table.loc[1, "ci_low"]
    assert table["texts"].tolist() == [12, 12]
    files = [*("--reference", real), *("--candidate", few), *("--candidate", many)]
    printed = CliRunner().invoke(app, ["rank", *map(str, files), "--json"]).stdout
    assert [record["system"] for record in json.loads(printed)] == ["many", "few"]


def test_too_few_long_texts_are_a_short_error(tmp_path):
    real = write_texts(tmp_path / "real.jsonl", 0, 600)
    short = write_texts(tmp_path / "short.jsonl", 1, 40, words=20)
    with pytest.raises(MacroscopeError, match=r"short: too few texts of 100 words or more \(0\); give at least 5"):
        rank([real], [short], GivenFields(), "en")
