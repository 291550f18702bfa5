"""Passages and their numbers; the ranking of files."""

import json
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from macroscope.cli import app
from macroscope.criticize.inputs import GivenFields
from macroscope.errors import MacroscopeError, UsageError
from macroscope.ranking.rank import WORDS, compute_text_numbers, rank, sentence_rhythm, split_passages
from macroscope.statistics.monotony import Monotony, TextNumbers, limit_ranks, rank_systems


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


def test_without_real_texts_systems_have_the_same_order(tmp_path):
    files = [write_texts(tmp_path / f"s{types}.jsonl", types, types) for types in (600, 40, 150)]
    real = write_texts(tmp_path / "real.jsonl", 0, 600)
    alone, beside = rank([], files, GivenFields(), "en"), rank([real], files, GivenFields(), "en")
    assert alone["system"].tolist() == beside["system"].tolist() == ["s600", "s150", "s40"]
    assert alone["monotony"].mean() == pytest.approx(0)
    with pytest.raises(UsageError, match="⟨reference⟩: give real texts, or several systems"):
        rank([], files[:1], GivenFields(), "en")


def test_a_hyphen_is_the_standard_input(tmp_path):
    files = [write_texts(tmp_path / f"s{types}.jsonl", types, types) for types in (600, 40)]
    arguments = ["rank", "--candidate", "-", "--reference", str(files[0]), "--language", "en", "--json"]
    done = CliRunner().invoke(app, arguments, input=files[1].read_text())
    (row,) = json.loads(done.stdout)
    assert (row["system"], row["texts"]) == ("stdin", 12)
    assert 0 < row["monotony"] < 100
    assert row["monotony"] == pytest.approx(rank(files[:1], files[1:], GivenFields(), "en").loc[0, "monotony"])


def test_texts_of_one_passage_are_a_warning(tmp_path, caplog):
    files = [write_texts(tmp_path / f"s{types}.jsonl", types, types, words=160) for types in (600, 40)]
    table = rank(files[:1], files[1:], GivenFields(), "en")
    assert table["within"].isna().all()
    assert "without the component 'within', which the real texts, s40 lack: too few texts have two" in caplog.text


def test_the_limits_of_ranks_are_those_of_the_differences():
    made = [Monotony(value, value - 0.196, value + 0.196, {}) for value in (0.0, 0.1, 1.0, 3.0)]
    limits = limit_ranks(made, [1000] * 4, 1.96)
    assert limits == [(1, 2), (1, 2), (3, 3), (4, 4)]
    assert limit_ranks(made, [2] * 4, 1.96) == [(1, 4)] * 4  # one degree of freedom


@pytest.mark.slow
def test_equal_systems_differ_in_at_most_a_twentieth():
    rng = np.random.default_rng(1)
    real, runs, wrong = collect(rng, 40, 0.0), 200, 0
    for _ in range(runs):
        measured = rank_systems(real.values(), [collect(rng, 20, 0.3) for _ in range(5)], 1.96)
        wrong += set(limit_ranks(measured, [20] * 5, 1.96)) != {(1, 5)}
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def collect(rng, texts, shift):
    """Simulate a collection: each text has a tendency to repeat, which also makes it share more with others."""
    tendency = rng.normal(shift, 0.3, texts)
    noise = rng.normal(0, 0.1, (texts, texts))
    between = 0.02 * np.exp(tendency[:, None] + tendency[None, :] + noise + noise.T)
    within = 0.04 * np.exp(tendency + rng.normal(0, 0.3, texts))
    return TextNumbers(rng.normal(tendency, 0.1), rng.normal(0.8 - tendency, 0.2), within, between)


def test_too_few_long_texts_are_a_short_error(tmp_path):
    real = write_texts(tmp_path / "real.jsonl", 0, 600)
    short = write_texts(tmp_path / "short.jsonl", 1, 40, words=20)
    with pytest.raises(MacroscopeError, match=r"short: too few texts of 100 words or more \(0\); give at least 5"):
        rank([real], [short], GivenFields(), "en")
