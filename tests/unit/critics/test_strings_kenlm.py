"""Texts under a given model of KenLM: a model by hand, one of our own, and a whole run."""

import numpy as np
import pytest

from macroscope.critics.strings.comparison import compare
from macroscope.critics.strings.estimators import NgramEstimator
from macroscope.critics.strings.kenlm_model import log_probabilities
from macroscope.critics.strings.options import StringsOptions
from macroscope.errors import MacroscopeError
from tests.arpa import write_arpa

from .known_strings import RESAMPLING, P, sample_texts

kenlm = pytest.importorskip("kenlm", reason="no KenLM: pip install ufal-kenlm")

BIGRAMS = """\\data\\
ngram 1=5
ngram 2=1

\\1-grams:
-1.0\t<unk>\t0
-99\t<s>\t0
-0.5\t</s>\t0
-0.25\ta\t0
-0.75\tb\t-0.125

\\2-grams:
-0.3\tb a

\\end\\
"""


@pytest.fixture
def bigrams(tmp_path):
    path = tmp_path / "model.arpa"
    path.write_text(BIGRAMS)
    return path


def test_a_text_is_its_words_and_its_end(bigrams):
    logs = log_probabilities(bigrams, ["a b a", "", "a never"])
    assert logs == pytest.approx(np.log(10) * np.array([-0.25 - 0.75 - 0.3 - 0.5, -0.5, -0.25 - 1.0 - 0.5]))


def test_latent_ppl_of_both_sides(bigrams):
    """The word b is rarer under the model, and backs off: its texts have a larger PPL."""
    reference, candidate = sample_texts(P, 40, 1, "r"), sample_texts(P, 40, 2, "c")
    ours, theirs = (["a a"] * 30 + ["a b"] * 10, ["b b"] * 30 + ["a b"] * 10)
    for texts, new in ((reference, ours), (candidate, theirs)):
        texts.texts[:] = new
        texts.words[:] = 2
    options = StringsOptions(estimator="kenlm", model=str(bigrams), permutations=99)
    rows = compare(reference, candidate, options, RESAMPLING, bigrams.parent, [bigrams]).rows.set_index("statistic")
    nll = np.log(10) * (30 * (0.75 + 0.125 + 0.75 + 0.125 + 0.5) + 10 * (0.25 + 0.75 + 0.125 + 0.5)) / 40
    assert rows.at["latent_nll", "value"] == pytest.approx(nll)
    assert rows.at["latent_ppl", "value"] == pytest.approx(np.exp(nll / 3))
    assert rows.at["latent_ppl", "p_value"] < 0.05
    assert rows.at["latent_ppl_ratio", "ci_low"] > 1
    assert "forward_kl" not in rows.index


def test_our_estimates_are_scored_alike_by_kenlm(tmp_path):
    reference, candidate = sample_texts(P, 60, 1, "r"), sample_texts(P[::-1], 60, 2, "c")
    distribution, _ = NgramEstimator(3).fit(reference.texts, candidate.texts, 0)
    write_arpa(distribution.model, tmp_path / "own.arpa")
    theirs = log_probabilities(tmp_path / "own.arpa", candidate.texts)
    assert theirs == pytest.approx(distribution.log_probabilities(candidate.texts), rel=1e-5)


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "x.arpa").write_text("Once upon a time.")
    with pytest.raises(MacroscopeError, match=r"x\.arpa: KenLM cannot read this model .*; give an ARPA file"):
        log_probabilities(tmp_path / "x.arpa", ["a"])


@pytest.mark.parametrize("options", [{"estimator": "kenlm"}, {"model": "x.arpa"}])
def test_a_model_belongs_to_kenlm(options):
    with pytest.raises(ValueError, match="belong together"):
        StringsOptions(**options)
