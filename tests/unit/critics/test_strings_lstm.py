"""Tests of the strings critic's LSTM estimator."""

import pytest
import torch

from macroscope.critics.strings.comparison import compare
from macroscope.critics.strings.estimators import make_estimator
from macroscope.critics.strings.options import LstmOptions, StringsOptions

from .test_strings import RESAMPLING, P, sample_texts


def test_lstm_learns_which_side_a_text_is_from():
    options = StringsOptions(
        estimator="lstm",
        folds=3,
        permutations=99,
        lstm=LstmOptions(vocabulary=300, hidden_size=24, embedding_size=16, epochs=6, learning_rate=0.01, dropout=0.0),
    )
    reference, candidate = sample_texts(P, 60, 12, "r"), sample_texts(P[::-1], 60, 13, "c")
    rows = compare(reference, candidate, options, RESAMPLING).rows.set_index("statistic")
    assert rows.loc["forward_kl", "value"] > 0
    assert rows.loc["jeffreys", "p_value"] <= 0.05


def test_lstm_scores_are_those_of_a_plain_forward_pass():
    texts = ["w0 w1", "", "w2 " * 30]
    options = StringsOptions(estimator="lstm", lstm=LstmOptions(vocabulary=300, hidden_size=8, epochs=1))
    distribution = make_estimator(options, texts * 4).train(texts * 4, seed=1)
    for text, log in zip(texts, distribution.log_probabilities(texts), strict=True):
        boundary = distribution.tokenizer.bos_token_id
        ids = torch.tensor([[boundary, *distribution.tokenizer(text)["input_ids"], boundary]])
        with torch.no_grad():
            logs = distribution.model(input_ids=ids).logits.log_softmax(-1)
        expected = sum(float(logs[0, i, ids[0, i + 1]]) for i in range(ids.shape[1] - 1))
        assert log == pytest.approx(expected, rel=1e-4)
