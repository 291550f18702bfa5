"""What critics blame, held against what is known of small texts."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import (
    Attribution,
    attribute_compared,
    read_attributions,
    read_scores,
    write_attributions,
)
from macroscope.critics.coherence.attribution import marks as coherence_marks
from macroscope.critics.coherence.prior import SectionPrior
from macroscope.critics.coherence.smoothing import Additive
from macroscope.critics.languages.attribution import marks as languages_marks
from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.narrative.attribution import sentence_places
from macroscope.critics.narrative.narratives import sentences_of
from macroscope.critics.strings.attribution import Halves
from macroscope.critics.strings.attribution import marks as strings_marks
from macroscope.critics.strings.estimators import NgramEstimator
from macroscope.critics.strings.texts import Texts
from macroscope.critics.tendencies.attribution import distances, repetitions
from macroscope.critics.tendencies.latents import PER_TEXT
from macroscope.critics.words import lower_case_words, placed_words
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL
from macroscope.systems.ngram.backoff import words_of


def document(*texts, name="d"):
    return Document(name, "test", None, tuple(Section(None, text) for text in texts))


def quoted(text, found):
    return [text.sections[place[0]].text[place[1] : place[2]] for place, *_ in found]


def test_coherence_blames_sections_below_the_threshold():
    # a -> b and the ends are certain but for what smoothing leaves: begin -> b, b -> a and a -> end are not.
    counts = np.array([[90, 0, 0], [0, 90, 0], [0, 0, 90]], dtype=float)
    prior = SectionPrior(("a", "b"), counts, Additive(1.0))
    text = document("first", "second")
    found = list(coherence_marks(text, np.array([1, 0]), prior, 0.05))
    assert quoted(text, found) == ["first", "second", ""]
    assert found[2][0] == (1, 6, 6)  # behind the last section
    assert [note.rpartition(":")[0] for *_, note in found] == [
        "begins with a section that reads like b",
        "after b, a section that reads like a",
        "after a, the end",
    ]
    p = np.exp(prior.log_probabilities[0, 1])
    assert found[0][1] == pytest.approx(np.log(p) / (np.log(p) + np.log(0.05)))
    assert not list(coherence_marks(text, np.array([0, 1]), prior, 0.05))
    assert quoted(document("", ""), coherence_marks(document("", ""), np.array([1, 0]), prior, 0.05)) == []


def test_sentences_are_found_where_they_stand():
    text = document("  One  fish. Two fish!\n\nRed\u00a0fish?", "", " \n", 'Blue fish … He said: "No." ')
    places = sentence_places(text, "en")
    sentences = [" ".join(one.split()) for one in quoted(text, [(place,) for place in places])]
    assert sentences == sentences_of(text, "en", known=False)


def test_words_are_found_where_they_stand():
    for text in ("Das Haus ist schön — l’été, 12 O'Neil's", "İstanbul ΣΑΣ ﬁn e\u0301te\u0301", ""):
        found = list(placed_words(text))
        assert [word for *_, word in found] == lower_case_words(text)
        assert all(text[start:end].strip() == text[start:end] for start, end, _ in found)


def test_languages_blames_the_words_of_the_other_language():
    model = LatentDirichletAllocation(np.ones(2), np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]))
    index = {"der": 0, "in": 1, "the": 2}
    text = document("der Der in unknown", "the in")
    found = list(languages_marks(text, np.array([0.8, 0.2]), index, model))
    assert quoted(text, found) == ["the"]
    assert found[0][1] == pytest.approx(0.2 * 0.7 / (0.8 * 0.1 + 0.2 * 0.7))
    assert not list(languages_marks(text, np.array([np.nan, np.nan]), index, model))


def real_texts(number=40):
    rng = np.random.default_rng(1)
    lines = [f"opening {n} " + " ".join(f"w{v}" for v in rng.zipf(1.5, 40) % 30) for n in range(number)]
    return Texts([f"t{n}" for n in range(number)], lines, np.full(number, 42))


def test_strings_scores_a_text_by_the_half_that_neither_it_nor_its_partner_is_in():
    real = real_texts()
    halves = Halves.fit(real, 3)
    sides = [real.texts[n::2] for n in (0, 1)]
    models = NgramEstimator(3).fit(*sides, seed=0)
    costs = halves.costs([*real.ids, "other"], [*real.texts, real.texts[3]])
    for n, own in enumerate(costs[:-1]):
        assert own.sum() == pytest.approx(-models[1 - n % 2].log_probabilities([real.texts[n]])[0])
        assert len(own) == len(words_of(real.texts[n])) + 1
    assert costs[-1] == pytest.approx(costs[3])  # it begins as a real one does
    with pytest.raises(MacroscopeError, match="fewer than two texts"):
        Halves.fit(Texts(["a"], ["one text"], np.array([2])), 3)
    same = "one two three four five six seven eight nine"
    with pytest.raises(MacroscopeError, match="all texts of the control begin alike"):
        Halves.fit(Texts(["a", "b"], [same, f"{same} ten"], np.array([9, 10])), 3)


def test_strings_blames_the_words_that_cost_most():
    text = document("one <s> two", "three\n\u0000four")
    found = list(strings_marks(text, np.array([1.0, 9.0, 2.0, 8.0, 50.0]), 5.0))
    assert quoted(text, found) == ["two", "four"]
    assert [weight for _, weight, _ in found] == pytest.approx([9 / 14, 8 / 13])


def test_distances_are_those_of_ranks():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({name: rng.integers(0, 9, 50).astype(float) for name in PER_TEXT})
    numbers = real.iloc[:20] + 1
    numbers.iloc[3, 2:] = np.nan
    expected = [
        np.nanmean([
            np.nan if np.isnan(row[name]) else abs(np.mean(np.sign(row[name] - real[name]))) for name in PER_TEXT
        ])
        for _, row in numbers.iterrows()
    ]  # fmt: skip
    assert distances(numbers, real).to_numpy() == pytest.approx(np.array(expected))
    extremes = pd.DataFrame({name: [99.0, -9.0, np.nan] for name in PER_TEXT})
    assert distances(extremes, real).fillna(-1).tolist() == [1, 1, -1]


def test_repetitions_are_all_words_of_ngrams_that_stood_before():
    rng = np.random.default_rng(3)
    for _ in range(50):
        words = [f"w{v}" for v in rng.integers(0, 3, rng.integers(0, 30))]
        text = document(" ".join(words[:12]), " ".join(words[12:]))
        again = set()
        for start in range(len(words) - 3):
            if any(words[start : start + 4] == words[before : before + 4] for before in range(start)):
                again |= set(range(start, start + 4))
        found = " ".join(quoted(text, repetitions(text))).split()
        assert found == [word for number, word in enumerate(words) if number in again]


def test_compared_texts_are_held_against_their_own_comparison(tmp_path):
    samples, evidence, output = tmp_path / "s.parquet", tmp_path / "evidence", tmp_path / "b.parquet"
    write_documents(samples, [document("x", name=name) for name in "abc"], Provenance("c"))
    evidence.mkdir()
    table = pd.DataFrame({"id": ["a", "b", "a", "c"], "side": ["reference"] * 2 + ["candidate"] * 2})
    table.assign(nll=[1.0, 2.0, 3.0, 4.0]).to_parquet(evidence / "texts.parquet")
    attribute_compared(samples, evidence, system="mine", output=output)
    assert [row["score"] for row in read_attributions(output)] == [3.0, None, 4.0]
    assert read_scores(output)[2].tolist() == [1.0, 2.0]
    table = pd.DataFrame({"id": ["a", "b", "c"], "side": ["reference", "candidate", "candidate"]})
    table.assign(nll=[3.0, 2.0, 1.0]).to_parquet(evidence / "texts.parquet")
    attribute_compared(samples, evidence, system=CONTROL, output=output)
    assert [row["score"] for row in read_attributions(output)] == [3.0, 2.0, 1.0]
    assert read_scores(output)[2].tolist() == [1.0, 2.0, 3.0]


def test_what_is_not_judged_has_a_row_without_a_score(tmp_path):
    output = tmp_path / "b.parquet"
    write_attributions([Attribution("a", np.nan), Attribution("b", np.inf), Attribution("c", 1)], output)
    assert [row["score"] for row in read_attributions(output)] == [None, np.inf, 1.0]
    with pytest.raises(MacroscopeError, match="no such file; let the critic's stage 'attribute' write it"):
        read_scores(tmp_path / "missing.parquet")
