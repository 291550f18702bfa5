"""Tests of the strings critic's LSTM estimator."""

import pandas as pd
import pytest
import torch

from macroscope.critics.strings import CRITIC, lstm
from macroscope.critics.strings.comparison import compare, compare_latents
from macroscope.critics.strings.estimators import make_estimator
from macroscope.critics.strings.fits import fit
from macroscope.critics.strings.latents import project
from macroscope.critics.strings.options import LstmOptions, StringsOptions
from macroscope.documents import Collection, Document, Provenance, Section, write_documents
from macroscope.jobs import resources_of
from macroscope.systems.tokenizer import train_bpe
from tests.unit.plan.plans import FOLDER, names, plan_of

from .known_strings import RESAMPLING, P, sample_texts


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


def test_a_pretrained_tokenizer_takes_the_place_of_one_of_the_texts(tmp_path):
    train_bpe(iter(["w0 w1 w2 w3"] * 9), 270).save_pretrained(tmp_path / "tokenizer")
    options = StringsOptions(
        estimator="lstm", lstm=LstmOptions(tokenizer=str(tmp_path / "tokenizer"), hidden_size=8, epochs=1)
    )
    distribution = make_estimator(options, ["another text"], tmp_path).train(["w0 w1"] * 4, seed=1)
    assert len(distribution.tokenizer) == distribution.model.config.vocab_size
    assert distribution.tokenizer.tokenize(" w0") == ["Ġw", "0"]


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


OPTIONS = StringsOptions(
    estimator="lstm", folds=3, permutations=99, lstm=LstmOptions(vocabulary=300, hidden_size=8, epochs=1)
)


def write_latents(path, probabilities, seed):
    """Write sixty texts, whose ids pair them with those of other collections."""
    texts = sample_texts(probabilities, 60, seed).texts
    documents = [Document(f"d{n}", "test", None, (Section(None, text),)) for n, text in enumerate(texts)]
    write_documents(path.with_suffix(".documents"), documents, Provenance("x"))
    project(Collection(path.with_suffix(".documents")), output=path)
    return path


@pytest.mark.slow
def test_a_comparison_of_fits_made_by_other_jobs_trains_nothing_and_gives_the_same(tmp_path, monkeypatch):
    """Two systems whose texts pair with the control's: both use its seven fits, and its halves have seven each."""
    control = write_latents(tmp_path / "control.parquet", P, 1)
    systems = {name: write_latents(tmp_path / f"{name}.parquet", P[::-1], n) for n, name in enumerate("ab", 2)}
    calls = []
    monkeypatch.setattr(lstm, "train", lambda *arguments: calls.append(1))  # models stay as their seeds begin them

    def run_fits(name, latents):
        folders = [tmp_path / "fits" / name / str(number) for number in range(OPTIONS.number_of_fits)]
        for number, folder in enumerate(folders):
            fit(
                control, latents, options=OPTIONS, resampling=RESAMPLING, system=name, fit=number,
                checkpoints=tmp_path / "checkpoints", output=folder,
            )  # fmt: skip
        return folders

    def compare_system(name, latents, fits):
        return compare_latents(
            control, latents, fits, options=OPTIONS, system=name, language="en", resampling=RESAMPLING,
            checkpoints=tmp_path / "trainings", evidence=tmp_path / "evidence" / f"{name}-{len(fits)}",
        )  # fmt: skip

    assert OPTIONS.number_of_fits == 7
    of_control = run_fits("control", control)
    assert len(calls) == 7 * 3
    of_systems = {name: run_fits(name, latents) for name, latents in systems.items()}
    assert len(calls) == 7 * 5
    tables = {name: compare_system(name, systems[name], [*of_control, *of_systems[name]]) for name in systems}
    compare_system("control", control, of_control)
    assert len(calls) == 7 * 5
    pd.testing.assert_frame_equal(tables["a"], compare_system("a", systems["a"], []))
    assert len(calls) == 7 * 7


def test_each_system_has_a_job_for_each_fit_if_an_lstm_estimates():
    given = {"critics": ["strings", "strings-lstm"], "corpus": "wiki", "systems": ["shuffled"]}
    critics_plan = plan_of([given], variants={"strings": {"lstm": {"estimator": "lstm"}}}).critics
    (job,) = (job for job in critics_plan.jobs() if job.name.startswith("fit_strings"))
    assert job.name == "fit_strings-lstm"
    assert job.values(names(corpus="wiki", system="shuffled", fit="4"))[1::2][:2] == ["system=shuffled", "fit=4"]
    folder = f"{FOLDER}/strings-lstm/wiki"
    assert job.inputs["control_latents"](names(corpus="wiki", system="shuffled")) == f"{folder}/latents/control.parquet"
    fits = critics_plan.inputs("strings-lstm", "compare")["fits"](names(corpus="wiki", system="shuffled"))
    assert fits == [f"{folder}/fits/{system}/{fit}" for system in ("control", "shuffled") for fit in range(18)]
    assert critics_plan.inputs("strings-lstm", "compare")["fits"](names(corpus="wiki", system="control")) == fits[:18]
    assert not critics_plan.inputs("strings", "compare")["fits"](names(corpus="wiki", system="control"))


def test_the_jobs_of_an_lstm_ask_for_a_gpu():
    assert CRITIC.stages["fit"].gpu == CRITIC.stages["compare"].gpu
    stage = CRITIC.stages["compare"]
    assert stage.needs_gpu(StringsOptions(estimator="lstm"))
    assert not stage.needs_gpu(StringsOptions())
    assert [
        resources_of(stage, lambda _, o=o: o).gpus(None) for o in (StringsOptions(), StringsOptions(estimator="lstm"))
    ] == [0, 1]
