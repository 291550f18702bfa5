"""Attributions of critics on small texts with known results."""

import numpy as np
import pandas as pd
import pytest

from macroscope.critics.attributions import (
    Attribution,
    attribute_evidence_nll,
    read_attributions,
    read_scores,
    write_attributions,
)
from macroscope.critics.coherence.prior import SectionPrior
from macroscope.critics.coherence.scoring import mark_transitions as coherence_marks
from macroscope.critics.coherence.smoothing import Additive
from macroscope.critics.languages.model import LatentDirichletAllocation
from macroscope.critics.languages.scoring import mark_words as languages_marks
from macroscope.critics.narrative.scoring import locate_sentences
from macroscope.critics.narratives import split_documents
from macroscope.critics.strings.estimators import NgramEstimator
from macroscope.critics.strings.scoring import Halves
from macroscope.critics.strings.scoring import mark_words as strings_marks
from macroscope.critics.tendencies.latents import PER_TEXT
from macroscope.critics.tendencies.scoring import distances, find_repetitions
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.natural_language.words import locate_words, lower_case_words
from macroscope.options import CONTROL
from macroscope.systems.ngram.model import words_of

from .known_strings import texts_of


def document(*texts, name="d"):
    return Document(name, "test", None, tuple(Section(None, text) for text in texts))


def quoted(text, marks):
    return [text.sections[span[0]].text[span[1] : span[2]] for span, *_ in marks]


def test_coherence_marks_sections_below_the_threshold():
    # Except for smoothing, a -> b and the ends are certain: begin -> b, b -> a and a -> end are not.
    counts = np.array([[90, 0, 0], [0, 90, 0], [0, 0, 90]], dtype=float)
    prior = SectionPrior(("a", "b"), counts, Additive(1.0))
    text = document("first", "second")
    marks = list(coherence_marks(text, np.array([1, 0]), prior, 0.05))
    assert quoted(text, marks) == ["first", "second", ""]
    assert marks[2][0] == (1, 6, 6)  # after the last section
    assert [note.rpartition(":")[0] for *_, note in marks] == [
        "begins with a section classified as b",
        "after b, a section classified as a",
        "after a, the end",
    ]
    p = np.exp(prior.log_probabilities[0, 1])
    assert marks[0][1] == pytest.approx(np.log(p) / (np.log(p) + np.log(0.05)))
    assert not list(coherence_marks(text, np.array([0, 1]), prior, 0.05))
    assert quoted(document("", ""), coherence_marks(document("", ""), np.array([1, 0]), prior, 0.05)) == []


def test_sentences_are_located():
    text = document("  One  fish. Two fish!\n\nRed\u00a0fish?", "", " \n", 'Blue fish … He said: "No." ')
    spans = locate_sentences(text, "en")
    sentences = [" ".join(sentence.split()) for sentence in quoted(text, [(span,) for span in spans])]
    assert sentences == next(split_documents([text], "en", from_source=False))[1]


def test_words_are_located():
    for text in ("Das Haus ist schön — l’été, 12 O'Neil's", "İstanbul ΣΑΣ ﬁn e\u0301te\u0301", ""):
        words = list(locate_words(text))
        assert [word for *_, word in words] == lower_case_words(text)
        assert all(text[start:end].strip() == text[start:end] for start, end, _ in words)


def test_languages_marks_the_words_of_the_other_language():
    model = LatentDirichletAllocation(np.ones(2), np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]]))
    index = {"der": 0, "in": 1, "the": 2}
    text = document("der Der in unknown", "the in")
    marks = list(languages_marks(text, np.array([0.8, 0.2]), index, model))
    assert quoted(text, marks) == ["the"]
    assert marks[0][1] == pytest.approx(0.2 * 0.7 / (0.8 * 0.1 + 0.2 * 0.7))
    assert not list(languages_marks(text, np.array([np.nan, np.nan]), index, model))


def real_texts(number=40):
    rng = np.random.default_rng(1)
    lines = [f"opening {n} " + " ".join(f"w{v}" for v in rng.zipf(1.5, 40) % 30) for n in range(number)]
    return texts_of([f"t{n}" for n in range(number)], lines, np.full(number, 42))


def test_strings_scores_a_text_by_the_half_without_it_and_its_paired_text():
    real = real_texts()
    halves = Halves.fit(real, 3)
    sides = [real.texts[n::2] for n in (0, 1)]
    models = NgramEstimator(3).fit(*sides, seed=0)
    costs = halves.surprisals([*real.ids, "other"], [*real.openings, real.openings[3]], [*real.texts, real.texts[3]])
    for n, word_costs in enumerate(costs[:-1]):
        assert word_costs.sum() == pytest.approx(-models[1 - n % 2].log_probabilities([real.texts[n]])[0])
        assert len(word_costs) == len(words_of(real.texts[n])) + 1
    assert costs[-1] == pytest.approx(costs[3])  # it has the opening of a real text
    with pytest.raises(MacroscopeError, match="fewer than two texts"):
        Halves.fit(texts_of(["a"], ["one text"], np.array([2])), 3)


def test_strings_scores_texts_that_all_begin_alike_as_if_none_were_paired():
    real = real_texts()
    opening = "one two three four five six seven eight"
    alike = texts_of(real.ids, [f"{opening} {text}" for text in real.texts], real.words + 8)
    halves = Halves.fit(alike, 3)
    models = NgramEstimator(3).fit(*[alike.texts[n::2] for n in (0, 1)], seed=0)
    costs = halves.surprisals(alike.ids, alike.openings, alike.texts)
    for n, word_costs in enumerate(costs):
        assert word_costs.sum() == pytest.approx(-models[1 - n % 2].log_probabilities([alike.texts[n]])[0])
    assert len(halves.surprisals(["new"], [opening], [f"{opening} w1 w2"])) == 1


def test_strings_marks_the_most_unlikely_words():
    text = document("one <s> two", "three\n\u0000four")
    marks = list(strings_marks(text, np.array([1.0, 9.0, 2.0, 8.0, 50.0]), 5.0))
    assert quoted(text, marks) == ["two", "four"]
    assert [weight for _, weight, _ in marks] == pytest.approx([9 / 14, 8 / 13])


def test_distances_are_those_of_ranks():
    rng = np.random.default_rng(0)
    real = pd.DataFrame({name: rng.integers(0, 9, 50).astype(float) for name in PER_TEXT})
    numbers = real.iloc[:20].set_axis([f"new-{n}" for n in range(20)]) + 1
    numbers.iloc[3, 2:] = np.nan
    expected = [
        np.nanmean([
            np.nan if np.isnan(row[name]) else abs(np.mean(np.sign(row[name] - real[name]))) for name in PER_TEXT
        ])
        for _, row in numbers.iterrows()
    ]  # fmt: skip
    assert distances(numbers, real).to_numpy() == pytest.approx(np.array(expected))
    extremes = pd.DataFrame({name: [99.0, -9.0, np.nan] for name in PER_TEXT}, ["high", "low", "none"])
    assert distances(extremes, real).fillna(-1).tolist() == [1, 1, -1]


def test_a_text_is_not_compared_with_the_real_document_of_its_id():
    """A copy of a real text has the distance of the original, whose numbers are those of the text without it."""
    rng = np.random.default_rng(0)
    real = pd.DataFrame({name: rng.integers(0, 9, 40).astype(float) for name in PER_TEXT}, np.repeat(range(20), 2))
    real.iloc[5, 3:] = np.nan
    damaged = real.iloc[:15] + rng.integers(0, 2, (15, len(PER_TEXT)))
    without = [distances(damaged.iloc[[n]], real.drop(name)).item() for n, name in enumerate(damaged.index)]
    assert distances(damaged, real).to_numpy() == pytest.approx(np.array(without))
    assert distances(real.iloc[:15], real).tolist() == distances(real, real).iloc[:15].tolist()
    assert np.isnan(distances(real.iloc[:1], real.iloc[:2])).all()  # no other text


def test_repetitions_are_all_words_of_ngrams_that_occurred_before():
    rng = np.random.default_rng(3)
    for _ in range(50):
        words = [f"w{v}" for v in rng.integers(0, 3, rng.integers(0, 30))]
        text = document(" ".join(words[:12]), " ".join(words[12:]))
        again = set()
        for start in range(len(words) - 3):
            if any(words[start : start + 4] == words[before : before + 4] for before in range(start)):
                again |= set(range(start, start + 4))
        repeated = " ".join(quoted(text, find_repetitions(text))).split()
        assert repeated == [word for number, word in enumerate(words) if number in again]


def test_scores_from_evidence_are_compared_with_the_same_comparison(tmp_path):
    samples, evidence, output = tmp_path / "s.parquet", tmp_path / "evidence", tmp_path / "b.parquet"
    write_documents(samples, [document("x", name=name) for name in "abc"], Provenance("c"))
    evidence.mkdir()
    table = pd.DataFrame({"id": ["a", "b", "a", "c"], "side": ["reference"] * 2 + ["candidate"] * 2})
    table.assign(nll=[1.0, 2.0, 3.0, 4.0]).to_parquet(evidence / "texts.parquet")
    attribute_evidence_nll(Collection(samples), evidence, system="mine", output=output)
    assert [row["score"] for row in read_attributions(output)] == [3.0, None, 4.0]
    assert read_scores(output)[2] == {"a": 1.0, "b": 2.0}
    table = pd.DataFrame({"id": ["a", "b", "c"], "side": ["reference", "candidate", "candidate"]})
    table.assign(nll=[3.0, 2.0, 1.0]).to_parquet(evidence / "texts.parquet")
    attribute_evidence_nll(Collection(samples), evidence, system=CONTROL, output=output)
    assert [row["score"] for row in read_attributions(output)] == [3.0, 2.0, 1.0]
    assert read_scores(output)[2] == {"a": 3.0, "b": 2.0, "c": 1.0}


def test_documents_that_are_not_judged_have_a_row_without_a_score(tmp_path):
    output = tmp_path / "b.parquet"
    write_attributions([Attribution("a", np.nan), Attribution("b", np.inf), Attribution("c", 1)], output)
    assert [row["score"] for row in read_attributions(output)] == [None, np.inf, 1.0]
    with pytest.raises(MacroscopeError, match="no such file; run the critic's stage 'attribute' to write it"):
        read_scores(tmp_path / "missing.parquet")
