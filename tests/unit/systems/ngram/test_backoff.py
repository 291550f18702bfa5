"""Models in back-off form against files of KenLM and against the interpolated model."""

import shutil
import subprocess

import kenlm
import numpy as np
import pytest

from macroscope.critics.strings.estimators import NgramEstimator
from macroscope.systems.ngram import model as backoff
from macroscope.systems.ngram.counts import MISSING
from macroscope.systems.ngram.model import to_backoff_model, words_of

from ....arpa import write_arpa
from .test_model import TOY0, model_of, random_texts

# Back-offs of the unigrams in KenLM's lm/common/test_data/toy0.arpa.
TOY0_BACKOFFS = {"a": -0.30103, "b": -0.30103, "<s>": -0.30103}


def estimate_backoff(texts, order):
    model, vocabulary = model_of([" ".join(words_of(text)) for text in texts], order, "kneser_ney", unknown=True)
    return model, to_backoff_model(model, list(vocabulary)), list(vocabulary)


def read_entries(path):
    """Read an ARPA file: n-gram -> (log10 P, back-off)."""
    entries = {}
    for line in path.read_text().splitlines():
        parts = line.split("\t")
        if len(parts) > 1:
            entries[tuple(parts[1].split())] = (float(parts[0]), float(parts[2]) if len(parts) > 2 else 0.0)
    return entries


def test_arpa_is_that_of_kenlm(tmp_path):
    _, model, _ = estimate_backoff(["a a b a", "b a a b"], 3)
    write_arpa(model, tmp_path / "toy0.arpa")
    entries = read_entries(tmp_path / "toy0.arpa")
    for ngram, log in TOY0.items():
        assert entries[ngram][0] == pytest.approx(log, abs=1e-6)
    for word, log in TOY0_BACKOFFS.items():
        assert entries[word,][1] == pytest.approx(log, abs=1e-6)
    sizes = [len([ngram for ngram in entries if len(ngram) == n]) for n in (1, 2, 3)]
    assert (
        (tmp_path / "toy0.arpa")
        .read_text()
        .startswith("\\data\\\n" + "".join(f"ngram {n}={size}\n" for n, size in enumerate(sizes, 1)))
    )


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_scores_are_those_of_the_interpolated_model(order):
    texts = random_texts(200, 20)
    model, in_backoff_form, words = estimate_backoff(texts, order)
    held_out = [*random_texts(20, 25, seed=1), "", "w0 never w1"]
    numbers = {word: i for i, word in enumerate(words)}
    expected = []
    for text in held_out:
        ids = [numbers.get(word, MISSING) for word in text.split()] + [numbers["</s>"]]
        history = [MISSING] * (order - 1) + [0] + ids
        contexts = [history[i + order - 1 - (order - 1) + 1 : i + order] for i in range(len(ids))]
        rows = np.array(contexts, dtype=np.int64).reshape(len(ids), order - 1)
        expected.append(np.log(model.probabilities(rows, np.array(ids))).sum())
    np.testing.assert_allclose(in_backoff_form.score([text.split() for text in held_out]), expected, rtol=1e-10)


def test_probabilities_sum_to_one_after_any_context():
    _, model, words = estimate_backoff(random_texts(60, 6), 3)
    for context in (["w0"], ["w1", "w0"], ["w5", "w5"], ["never"]):
        end = model.score([context])[0]
        total = np.exp(end)
        prefix = model.score([context])[0]
        for word in [*words[2:], "never"]:
            longer = model.score([[*context, word]])[0]
            # P(context word </s>) = P(context) P(word | context) P(</s> | context word)
            total += np.exp(longer - _log_end(model, [*context, word]))
        assert total == pytest.approx(np.exp(prefix - _log_end(model, context)))


def _log_end(model, text):
    """Compute log P(</s> | text)."""
    numbers = [0, *(model.words.get(word, MISSING) for word in text), model.words["</s>"]]
    return model._token_logs(np.array(numbers))[-1] * np.log(10)


@pytest.mark.parametrize("texts", [["", ""], ["a", "b a"]])
def test_texts_shorter_than_the_order(texts):
    """An order that no text reaches adds nothing: the model has the order of the longest n-grams."""
    long, short = (
        estimate_backoff(texts, 5)[1],
        estimate_backoff(texts, 1 + max(len(text.split()) + 1 for text in texts))[1],
    )
    scored = [text.split() for text in [*texts, "a b c d e f", "never"]]
    np.testing.assert_allclose(long.score(scored), short.score(scored))
    assert len(long.score([])) == 0


def test_scores_do_not_depend_on_how_many_texts_are_scored_together(monkeypatch):
    texts = random_texts(60, 15)
    _, model, _ = estimate_backoff(texts, 3)
    scored = [text.split() for text in [*random_texts(30, 20, seed=2), ""]]
    together = model.score(scored)
    monkeypatch.setattr(backoff, "BLOCK", 1)
    np.testing.assert_array_equal(model.score(scored), together)
    np.testing.assert_allclose([model.score([text])[0] for text in scored], together)


def score_words(model, words):
    """Return the log-probability of a text in nats; `model.score` would split it at more spaces than KenLM itself."""
    state, following = kenlm.State(), kenlm.State()
    model.BeginSentenceWrite(state)
    total = 0.0
    for word in (*words, "</s>"):
        total += model.BaseScore(state, word, following)
        state, following = following, state
    return total * np.log(10)


def test_unicode_and_odd_line_ends_stay_within_their_words(tmp_path):
    texts = ["日本語 テキスト \u00a0x\u2028y \x0b z\u0085w", "émigré 🙂 \u200b"]
    _, model, _ = estimate_backoff(texts, 3)
    write_arpa(model, tmp_path / "odd.arpa")
    theirs = kenlm.Model(str(tmp_path / "odd.arpa"))
    expected = [score_words(theirs, words_of(text)) for text in texts]
    np.testing.assert_allclose(model.score(map(words_of, texts)), expected, rtol=1e-5)


def test_words_are_those_of_kenlm():
    assert words_of("a\tb\r\nc  d\0e <s> f </s> g\u00a0h") == ["a", "b", "c", "d", "e", "f", "g\u00a0h"]


@pytest.mark.skipif(shutil.which("lmplz") is None, reason="KenLM's lmplz is not on the PATH")
def test_estimates_are_those_of_lmplz(tmp_path):
    texts = random_texts(500, 40)
    _, model, _ = estimate_backoff(texts, 4)
    command = ["lmplz", "-o", "4", "--discount_fallback", "-S", "100M", "-T", str(tmp_path)]
    # Without a final line end, lmplz counts the last text differently.
    lines = "".join(f"{text}\n" for text in texts)
    done = subprocess.run(command, input=lines.encode(), capture_output=True, check=True)
    (tmp_path / "kenlm.arpa").write_bytes(done.stdout)
    write_arpa(model, tmp_path / "own.arpa")
    theirs, ours = read_entries(tmp_path / "kenlm.arpa"), read_entries(tmp_path / "own.arpa")
    assert set(theirs) == set(ours)
    for ngram, logs in theirs.items():
        if ngram != ("<s>",):
            assert ours[ngram] == pytest.approx(logs, abs=1e-5), ngram


def read_with_kenlm(model, path):
    """Read a model in back-off form with KenLM, through an ARPA file."""
    write_arpa(model, path)
    return kenlm.Model(str(path))


SCORED = [*random_texts(50, 35, seed=3), "w0 never w1", "never"]
"""Texts with unknown words, and without."""


@pytest.mark.parametrize("order", [2, 3, 5])
def test_kenlm_gives_systems_of_kind_ngram_the_same_probabilities(tmp_path, order):
    texts = random_texts(300, 30)
    interpolated, model, words = estimate_backoff(texts, order)
    theirs = read_with_kenlm(model, tmp_path / "own.arpa")
    numbers = {word: i for i, word in enumerate(words)}
    for text in SCORED:
        ids = [numbers.get(word, MISSING) for word in text.split()] + [numbers["</s>"]]
        history = [MISSING] * (order - 1) + [0] + ids
        contexts = np.array([history[i + 1 : i + order] for i in range(len(ids))]).reshape(len(ids), order - 1)
        ours = interpolated.probabilities(contexts, np.array(ids))
        logs = [log for log, _, _ in theirs.full_scores(text)]
        np.testing.assert_allclose(np.log10(ours), logs, rtol=1e-6, atol=1e-6)


def test_kenlm_gives_the_estimates_of_strings_the_same_log_probabilities(tmp_path):
    distribution, _ = NgramEstimator(5, shared=False).fit(random_texts(300, 30), random_texts(300, 20, seed=1), 0)
    theirs = read_with_kenlm(distribution.model, tmp_path / "own.arpa")
    expected = [theirs.score(text) * np.log(10) for text in SCORED]
    np.testing.assert_allclose(distribution.log_probabilities(SCORED), expected, rtol=1e-6)
