"""Tests of the strings critic's LSTM estimator."""

import pytest
import torch

from macroscope.critics.strings import CRITIC, lstm
from macroscope.critics.strings.comparison import compare
from macroscope.critics.strings.estimators import make_estimator
from macroscope.critics.strings.options import LstmOptions, StringsOptions
from macroscope.jobs import resources_of

from .test_strings import RESAMPLING, P, sample_texts


def test_lstm_learns_which_side_a_text_is_from(tmp_path):
    options = StringsOptions(
        estimator="lstm",
        folds=3,
        permutations=99,
        lstm=LstmOptions(vocabulary=300, hidden_size=24, embedding_size=16, epochs=6, learning_rate=0.01, dropout=0.0),
    )
    reference, candidate = sample_texts(P, 60, 12, "r"), sample_texts(P[::-1], 60, 13, "c")
    rows = compare(reference, candidate, options, RESAMPLING, tmp_path).rows.set_index("statistic")
    assert rows.loc["forward_kl", "value"] > 0
    assert rows.loc["jeffreys", "p_value"] <= 0.05


def test_lstm_scores_are_those_of_a_plain_forward_pass(tmp_path):
    texts = ["w0 w1", "", "w2 " * 30]
    options = StringsOptions(estimator="lstm", lstm=LstmOptions(vocabulary=300, hidden_size=8, epochs=1))
    distribution = make_estimator(options, texts * 4, tmp_path).train(texts * 4, seed=1)
    for text, log in zip(texts, distribution.log_probabilities(texts), strict=True):
        boundary, device = distribution.tokenizer.bos_token_id, distribution.model.device
        ids = torch.tensor([[boundary, *distribution.tokenizer(text)["input_ids"], boundary]], device=device)
        with torch.no_grad():
            logs = distribution.model(input_ids=ids).logits.log_softmax(-1)
        expected = sum(float(logs[0, i, ids[0, i + 1]]) for i in range(ids.shape[1] - 1))
        assert log == pytest.approx(expected, rel=1e-4)


def test_finished_trainings_are_not_repeated(tmp_path, monkeypatch):
    """The third of four trainings is killed: the next call repeats it and does the fourth, with the same scores."""
    reference, candidate = ["w0 w1", "w2 w3 w0"] * 4, ["w3 w3", "w1"] * 4
    options = StringsOptions(estimator="lstm", lstm=LstmOptions(vocabulary=300, hidden_size=8, epochs=1))
    real_train, calls = lstm.train, []

    def train_until_killed(*arguments):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real_train(*arguments)

    def score(folder):
        estimator = make_estimator(options, reference + candidate, folder)
        fits = [estimator.fit(reference, candidate, seed) for seed in (0, 1)]
        return [distribution.log_probabilities(reference).tolist() for fit in fits for distribution in fit]

    monkeypatch.setattr(lstm, "train", train_until_killed)
    with pytest.raises(KeyboardInterrupt):
        score(tmp_path / "killed")
    scores = score(tmp_path / "killed")
    assert len(calls) == 5
    assert scores == score(tmp_path / "whole")
    assert len(list((tmp_path / "killed").iterdir())) == 4  # without checkpoints


def test_the_job_of_an_lstm_asks_for_a_gpu():
    stage = CRITIC.stages["compare"]
    assert stage.needs_gpu(StringsOptions(estimator="lstm"))
    assert not stage.needs_gpu(StringsOptions())
    assert [
        resources_of(stage, lambda _, o=o: o).gpus(None) for o in (StringsOptions(), StringsOptions(estimator="lstm"))
    ] == [0, 1]
