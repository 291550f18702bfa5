"""Training on several GPUs: the command starts again under accelerate, once."""

import sys

import pytest

from macroscope import cli

pytestmark = pytest.mark.slow  # training imports torch
STAGE = ("systems", "run", "--kind", "language_model", "--stage", "finetune")


class Started(Exception):
    """Exception that stands for the process that replaces this one."""


@pytest.fixture
def finetune(monkeypatch, tmp_path):
    """Function that calls the stage through the command line on a number of GPUs; it raises the started command."""

    def call(processes):
        def execv(path, command):
            raise Started(command)

        monkeypatch.setattr("os.execv", execv)
        values = {"seed": 1, "checkpoints": tmp_path / "c", "threads": 1, "processes": processes}
        arguments = [
            *("--options", '{"kind": "language_model", "base": "tiny-gpt2", "titles": false, "training": null}'),
            *("--input", f"documents={tmp_path / 'd'}", "--input", f"tokenizer={tmp_path / 't'}"),
            *(word for name, value in values.items() for word in ("--value", f"{name}={value}")),
            *("--output", str(tmp_path / "model")),
        ]
        monkeypatch.setattr(sys, "argv", ["macroscope", *STAGE, *arguments])
        cli.app(standalone_mode=False)

    return call


def test_each_gpu_has_a_process(finetune, monkeypatch):
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    with pytest.raises(Started) as started:
        finetune(2)
    (command,) = started.value.args
    assert command[command.index("--num_processes") + 1] == "2"
    assert command[command.index("macroscope") :] == sys.argv


@pytest.mark.parametrize(("processes", "rank"), [(1, None), (0, None), (2, "1")])
def test_a_process_starts_no_further_ones(finetune, monkeypatch, processes, rank):
    if rank is not None:
        monkeypatch.setenv("LOCAL_RANK", rank)
    with pytest.raises(Exception, match="training: null means that the model is not trained"):
        finetune(processes)


def test_the_rate_falls_with_the_inverse_square_root_of_the_updates_as_in_fairseq():
    """fairseq's inverse_sqrt: peak · step / w during a warm-up of w updates, then peak · sqrt(w / step)."""
    import torch
    from transformers import get_scheduler

    from macroscope.trainer import _schedule_arguments
    from macroscope.training import Schedule

    arguments = _schedule_arguments(Schedule(1, 8, 8, 1.0, decay="inverse_sqrt"))
    optimizer = torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = get_scheduler(arguments["lr_scheduler_type"], optimizer, 4, 100)
    rates = []
    for _ in range(100):
        rates.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    assert rates[:4] == pytest.approx([0, 0.25, 0.5, 0.75])
    assert rates[4:] == pytest.approx([(4 / step) ** 0.5 for step in range(4, 100)])


class _Sequences:
    """Rows of different lengths, whose loss depends on their order: dropout and AdamW make every step count."""

    def __init__(self, rows):
        self.rows = [{"input_ids": list(range(1, 2 + row % 7))} for row in range(rows)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


def _sum_of_ids(rows):
    import torch

    return {"input_ids": torch.tensor([[float(sum(row["input_ids"]))] for row in rows])}


def _train(folder, group_by_length, epochs, stop=None):
    """Train a small model, and return its weights and losses; or stop in the given step, as by a kill."""
    import torch

    from macroscope import trainer, training

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(1)
            self.layers = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
            self.steps = 0

        def forward(self, input_ids):
            self.steps += 1
            if self.steps == stop:
                raise KeyboardInterrupt
            return {"loss": (self.layers(input_ids / 28) - 1).square().mean()}

    model = Model()
    examples = training.Examples(_Sequences(42), None, _sum_of_ids, group_by_length=group_by_length)
    schedule = training.Schedule(epochs=epochs, batch_size=4, device_batch_size=4, learning_rate=0.01)
    losses = trainer.train(model, examples, schedule, training.Checkpoints(folder, {}), seed=1)
    return torch.cat([weights.detach().flatten() for weights in model.parameters()]).tolist(), losses.to_csv()


@pytest.mark.parametrize("group_by_length", [False, True])
@pytest.mark.parametrize("epochs", [3, 7])
def test_a_training_that_is_killed_in_any_epoch_ends_the_same(group_by_length, epochs, tmp_path):
    """An epoch has 11 steps, so that checkpoints, a tenth of the training apart, are within epochs."""
    whole = _train(tmp_path / "whole", group_by_length, epochs)
    for step in (6 * epochs // 3, 5 * epochs, 20 * epochs // 3, 31 * epochs // 3):
        folder = tmp_path / f"killed-{step}"
        with pytest.raises(KeyboardInterrupt):
            _train(folder, group_by_length, epochs, stop=step)
        assert list(folder.glob("checkpoint-*"))
        assert _train(folder, group_by_length, epochs) == whole, step
