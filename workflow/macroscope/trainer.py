"""Training loop of all models: the Trainer of transformers, resumable after a kill; its only output are log lines."""

import logging
import math
import os
import shutil
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch.utils.data import Sampler
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_pt_utils import get_length_grouped_indices
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from transformers.utils import logging as transformers_logging

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json
from macroscope.progress import PacedLog
from macroscope.training import Checkpoints, Examples, Schedule, is_main_process

log = logging.getLogger("macroscope")

FINGERPRINT = "fingerprint.json"
"""File with the data and options that the checkpoints of a folder belong to."""
WHOLE = "whole.json"
"""File of a checkpoint that lists its files and their sizes in bytes; written last, so that it marks completeness."""
_LOG_LINES = 25


def train(
    model: torch.nn.Module, examples: Examples, schedule: Schedule, checkpoints: Checkpoints, seed: int
) -> pd.DataFrame:
    """Train `model` in place; with validation, restore the weights of the lowest validation loss at the end.

    Returns
    -------
    data frame
        Columns step, epoch, train_loss, valid_loss; each row has one of the losses, the other one is NaN.

    Raises
    ------
    MacroscopeError
        If the batch cannot be divided among the devices, or a loss is not finite.
    """
    transformers_logging.set_verbosity_error()
    set_seed(seed)
    updates = _count_updates(len(examples.train), schedule)  # type: ignore[arg-type]
    device_batch, accumulation_steps = _split_batch(schedule)
    interval = max(1, updates // (schedule.evaluations or 10))
    arguments = TrainingArguments(
        output_dir=str(checkpoints.folder),
        num_train_epochs=schedule.epochs,
        per_device_train_batch_size=device_batch,
        per_device_eval_batch_size=schedule.device_batch_size,
        gradient_accumulation_steps=accumulation_steps,
        optim="adamw_torch_fused",
        learning_rate=schedule.learning_rate,
        warmup_steps=int(schedule.warmup_share * updates),
        **_schedule_arguments(schedule),
        weight_decay=schedule.weight_decay,
        adam_beta2=schedule.beta2,
        max_grad_norm=schedule.gradient_norm,
        bf16=schedule.bfloat16,
        use_cpu=schedule.bfloat16 and not torch.cuda.is_available(),  # without a GPU, bf16 is refused otherwise
        eval_strategy="steps" if examples.valid is not None else "no",
        eval_steps=interval,
        save_steps=interval,
        save_total_limit=2,
        load_best_model_at_end=examples.valid is not None,
        metric_for_best_model="eval_loss" if examples.valid is not None else None,
        logging_strategy="no",  # `_LogLines` says when
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        seed=seed,
        data_seed=seed,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    checkpoint = _prepare_folder(checkpoints)
    trainer = (_GroupingTrainer if examples.group_by_length else Trainer)(
        model=model,
        args=arguments,
        train_dataset=examples.train,
        eval_dataset=examples.valid,
        data_collator=examples.collate,
        callbacks=[_LogLines(updates, interval), _MarkWhole()],
    )
    trainer.pop_callback(_printer_class())
    with warnings.catch_warnings():
        # The Trainer's own use of the scheduler and of checkpoints raises warnings that do not apply here.
        warnings.simplefilter("ignore")
        trainer.train(resume_from_checkpoint=checkpoint)
    return _tabulate_losses(trainer.state.log_history)


def _printer_class() -> type[TrainerCallback]:
    from transformers.trainer_callback import PrinterCallback

    return PrinterCallback


def _split_batch(schedule: Schedule) -> tuple[int, int]:
    """Return the examples per device and step and the steps per update: their product is a device's part of a batch."""
    devices = max(1, int(os.environ.get("WORLD_SIZE", "1")))
    share, rest = divmod(schedule.batch_size, devices)
    if rest:
        raise MacroscopeError(
            f"batch_size: {schedule.batch_size} examples cannot be divided among {devices} devices; give a multiple"
        )
    device_batch = next(size for size in range(min(schedule.device_batch_size, share), 0, -1) if share % size == 0)
    return device_batch, share // device_batch


def _schedule_arguments(schedule: Schedule) -> dict[str, Any]:
    """Return the arguments of the Trainer for the learning rate's schedule."""
    if schedule.plateau is None:
        return {"lr_scheduler_type": schedule.decay}
    # PyTorch's patience is the number of bad validations that are tolerated: one less than ours.
    rule = {
        "factor": 0.5,
        "patience": schedule.plateau.patience - 1,
        "threshold": 0.0,
        "min_lr": schedule.plateau.least,
    }
    return {"lr_scheduler_type": "reduce_lr_on_plateau", "lr_scheduler_kwargs": rule}


def _count_updates(examples: int, schedule: Schedule) -> int:
    return max(1, int(schedule.epochs * -(-examples // schedule.batch_size)))


def _prepare_folder(checkpoints: Checkpoints) -> str | None:
    """Remove checkpoints of another training, and return the checkpoint to resume from, or None."""
    folder, fingerprint = checkpoints.folder, checkpoints.fingerprint
    fingerprint_file = folder / FINGERPRINT
    if folder.exists() and (not fingerprint_file.exists() or read_json(fingerprint_file) != fingerprint):
        log.info("%s: the checkpoints belong to other data or options; training starts from the beginning", folder)
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(fingerprint_file, fingerprint)
    last = _find_newest_whole(folder)
    if last is not None:
        log.info("resuming from %s", last)
    return None if last is None else str(last)


def _find_newest_whole(folder: Path) -> Path | None:
    """Return the newest complete checkpoint; remove newer ones that a kill or a full disk left incomplete."""
    checkpoints = {int(path.name.rpartition("-")[2]): path for path in folder.glob(f"{PREFIX_CHECKPOINT_DIR}-*")}
    for _, path in sorted(checkpoints.items(), reverse=True):
        if _is_whole(path):
            return path
        log.info("%s is incomplete; removing it and resuming from the one before", path)
        if is_main_process():
            shutil.rmtree(path)
    return None


def _is_whole(checkpoint: Path) -> bool:
    mark = checkpoint / WHOLE
    return mark.exists() and read_json(mark) == _list_sizes(checkpoint)


def _list_sizes(checkpoint: Path) -> dict[str, int]:
    files = (path for path in sorted(checkpoint.rglob("*")) if path.is_file() and path.name != WHOLE)
    return {str(path.relative_to(checkpoint)): path.stat().st_size for path in files}


def _tabulate_losses(entries: list[dict[str, Any]]) -> pd.DataFrame:
    rows = [
        {"step": e["step"], "epoch": e["epoch"], "train_loss": e.get("loss"), "valid_loss": e.get("eval_loss")}
        for e in entries
        if "loss" in e or "eval_loss" in e
    ]
    return pd.DataFrame(rows, columns=["step", "epoch", "train_loss", "valid_loss"]).astype(float)


class _GroupsByLength(Sampler[int]):
    """Order of the examples in which a batch has similar lengths; it depends on the seed and the epoch alone.

    The sampler of transformers draws from the state of the random numbers, which is another one where a killed
    training goes on within an epoch: it would skip and repeat examples.
    """

    def __init__(self, lengths: list[int], batch_size: int, seed: int) -> None:
        self.lengths, self.batch_size, self.seed, self.epoch = lengths, batch_size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch (from 0) that the next pass belongs to; the data loader calls it."""
        self.epoch = epoch

    def __len__(self) -> int:
        return len(self.lengths)

    def __iter__(self) -> Iterator[int]:
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        return iter(get_length_grouped_indices(self.lengths, self.batch_size, generator=generator))


class _GroupingTrainer(Trainer):
    """Trainer whose batches have examples of similar lengths."""

    def _get_train_sampler(self, train_dataset: Any = None) -> Sampler[int]:
        examples: Any = self.train_dataset if train_dataset is None else train_dataset
        lengths = [len(examples[index]["input_ids"]) for index in range(len(examples))]
        batch_size = self.args.train_batch_size * self.args.gradient_accumulation_steps
        return _GroupsByLength(lengths, batch_size, self.args.seed)


class _MarkWhole(TrainerCallback):
    """Callback that marks each checkpoint as complete once all of its files are written."""

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if state.is_world_process_zero:
            checkpoint = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
            write_json(checkpoint / WHOLE, _list_sizes(checkpoint))


class _LogLines(TrainerCallback):
    """Callback that reports progress in log lines and stops a training that diverges.

    A loss is the mean since the last one, which a resumed training does not know: each checkpoint has one, so that the
    losses after it are the same as without a kill.
    """

    def __init__(self, steps: int, interval: int) -> None:
        self.steps, self.interval, self.start = steps, interval, time.monotonic()
        self.every, self.paced = max(1, steps // _LOG_LINES), PacedLog()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        control.should_log = state.global_step % self.interval % self.every == 0

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Log the losses; raise `MacroscopeError` if one is not finite."""
        logs = logs or {}
        for key in ("loss", "eval_loss"):
            if not math.isfinite(logs.get(key, 0.0)):
                raise MacroscopeError(
                    f"the training diverged at or before step {state.global_step} of {self.steps}: its loss is"
                    f" {logs[key]}; set a smaller learning_rate"
                )
        if state.is_world_process_zero:
            for key, name in (("loss", "training"), ("eval_loss", "validation")):
                if key in logs:
                    elapsed = time.monotonic() - self.start
                    self.paced.line(
                        "step %d of %d: %s loss %.4f, %.0f s", state.global_step, self.steps, name, logs[key], elapsed
                    )
