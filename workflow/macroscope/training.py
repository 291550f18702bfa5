"""One training loop for all models: the Trainer of transformers, resumable after a kill, silent but for log lines."""

import logging
import math
import os
import shutil
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, set_seed
from transformers.trainer_utils import PREFIX_CHECKPOINT_DIR
from transformers.utils import logging as transformers_logging

from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json

log = logging.getLogger("macroscope")

FINGERPRINT = "fingerprint.json"
WHOLE = "whole.json"
"""In a checkpoint: its files and their sizes in bytes, written when all of them are there."""
_LOG_LINES = 25


@dataclass(frozen=True)
class Plateau:
    """A learning rate that falls where the validation loss does.

    Attributes
    ----------
    patience
        Validations without a lower loss after which the rate is halved.
    least
        Lowest learning rate.
    """

    patience: int
    least: float


@dataclass(frozen=True)
class Schedule:
    """How a model is trained.

    Attributes
    ----------
    epochs
        Passes over the training examples.
    batch_size
        Examples per update, over all devices and accumulation steps.
    device_batch_size
        Most examples per device and step; the largest divisor of a device's share of the batch is taken.
    learning_rate, warmup_share, weight_decay
        Of AdamW; the rate rises over the share of updates that is the warm-up, then falls linearly to 0.
    plateau
        Where it is given, the rate is constant instead, until the validation loss no longer falls.
    evaluations
        Validations, each with a checkpoint; 0: no validation, and a checkpoint at every tenth of the training.
    bfloat16
        Arithmetic in bfloat16 under autocast.
    """

    epochs: float
    batch_size: int
    device_batch_size: int
    learning_rate: float
    warmup_share: float = 0.0
    weight_decay: float = 0.0
    plateau: Plateau | None = None
    evaluations: int = 0
    bfloat16: bool = False


@dataclass(frozen=True)
class Examples:
    """What a model is trained on.

    Attributes
    ----------
    train, valid
        Training examples; validation examples, or None.
    collate
        Makes a batch of a list of examples.
    group_by_length
        Whether examples of like lengths share a batch.
    """

    train: Dataset[Any]
    valid: Dataset[Any] | None
    collate: Any
    group_by_length: bool = False


@dataclass(frozen=True)
class Checkpoints:
    """Where a killed run leaves what it had, and the next one goes on from.

    Attributes
    ----------
    folder
        The caller removes it with `discard` once the model is safe.
    fingerprint
        The data and options that they belong to: those of others are removed.
    """

    folder: Path
    fingerprint: dict[str, Any]


def train(
    model: torch.nn.Module, examples: Examples, schedule: Schedule, checkpoints: Checkpoints, seed: int
) -> pd.DataFrame:
    """Train `model` in place; with validation, its weights end as those of the lowest validation loss.

    Returns
    -------
    data frame
        step, epoch, train_loss, valid_loss; NaN where a row has only one of them.
    """
    transformers_logging.set_verbosity_error()
    set_seed(seed)
    steps = _steps(len(examples.train), schedule)  # type: ignore[arg-type]
    at_once, accumulated = _shares(schedule)
    every = max(1, steps // (schedule.evaluations or 10))
    arguments = TrainingArguments(
        output_dir=str(checkpoints.folder),
        num_train_epochs=schedule.epochs,
        per_device_train_batch_size=at_once,
        per_device_eval_batch_size=schedule.device_batch_size,
        gradient_accumulation_steps=accumulated,
        optim="adamw_torch_fused",
        learning_rate=schedule.learning_rate,
        warmup_steps=int(schedule.warmup_share * steps),
        **_fall(schedule),
        weight_decay=schedule.weight_decay,
        bf16=schedule.bfloat16,
        use_cpu=schedule.bfloat16 and not torch.cuda.is_available(),  # else refused where there is no GPU
        eval_strategy="steps" if examples.valid is not None else "no",
        eval_steps=every,
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=examples.valid is not None,
        metric_for_best_model="eval_loss" if examples.valid is not None else None,
        logging_steps=max(1, steps // _LOG_LINES),
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        seed=seed,
        data_seed=seed,
        train_sampling_strategy="group_by_length" if examples.group_by_length else "random",
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    resume = _prepare(checkpoints)
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=examples.train,
        eval_dataset=examples.valid,
        data_collator=examples.collate,
        callbacks=[_LogLines(steps), _MarkWhole()],
    )
    trainer.pop_callback(_printer())
    with warnings.catch_warnings():
        # The Trainer's own use of the scheduler and of checkpoints warns about things that are as they should be.
        warnings.simplefilter("ignore")
        trainer.train(resume_from_checkpoint=resume)
    return _history(trainer.state.log_history)


def discard(checkpoints: Path) -> None:
    """Remove the checkpoints of a finished training; only the main process of several does."""
    if is_main_process():
        shutil.rmtree(checkpoints, ignore_errors=True)


def _printer() -> type[TrainerCallback]:
    from transformers.trainer_callback import PrinterCallback

    return PrinterCallback


def is_main_process() -> bool:
    """Whether this is the first of the processes that train together, or the only one."""
    return int(os.environ.get("RANK", "0")) == 0


def _shares(schedule: Schedule) -> tuple[int, int]:
    """Examples per device and step, and steps per update, which together are exactly the batch.

    Raises
    ------
    MacroscopeError
        Where the batch cannot be shared out among the devices.
    """
    devices = max(1, int(os.environ.get("WORLD_SIZE", "1")))
    share, rest = divmod(schedule.batch_size, devices)
    if rest:
        raise MacroscopeError(
            f"batch_size: {schedule.batch_size} examples cannot be shared out among {devices} devices; give a multiple"
        )
    at_once = next(size for size in range(min(schedule.device_batch_size, share), 0, -1) if share % size == 0)
    return at_once, share // at_once


def _fall(schedule: Schedule) -> dict[str, Any]:
    """Arguments that say how the learning rate falls."""
    if schedule.plateau is None:
        return {"lr_scheduler_type": "linear"}
    # PyTorch's patience is the number of bad validations that change nothing yet.
    rule = {
        "factor": 0.5,
        "patience": schedule.plateau.patience - 1,
        "threshold": 0.0,
        "min_lr": schedule.plateau.least,
    }
    return {"lr_scheduler_type": "reduce_lr_on_plateau", "lr_scheduler_kwargs": rule}


def _steps(examples: int, schedule: Schedule) -> int:
    return max(1, int(schedule.epochs * -(-examples // schedule.batch_size)))


def _prepare(checkpoints: Checkpoints) -> str | None:
    """Return the checkpoint to resume from, or None; checkpoints of another training are removed."""
    folder, fingerprint = checkpoints.folder, checkpoints.fingerprint
    known = folder / FINGERPRINT
    if folder.exists() and (not known.exists() or read_json(known) != fingerprint):
        log.info("%s: checkpoints of other data or options; training starts anew", folder)
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(known, fingerprint)
    last = _newest_whole(folder)
    if last is not None:
        log.info("resuming from %s", last)
    return None if last is None else str(last)


def _newest_whole(folder: Path) -> Path | None:
    """The newest checkpoint that was written to its end; those that a kill or a full disk broke are removed."""
    by_step = {int(path.name.rpartition("-")[2]): path for path in folder.glob(f"{PREFIX_CHECKPOINT_DIR}-*")}
    for _, path in sorted(by_step.items(), reverse=True):
        if _is_whole(path):
            return path
        log.info("%s is not whole; it is removed, and the one before it taken", path)
        if is_main_process():
            shutil.rmtree(path)
    return None


def _is_whole(checkpoint: Path) -> bool:
    mark = checkpoint / WHOLE
    return mark.exists() and read_json(mark) == _sizes(checkpoint)


def _sizes(checkpoint: Path) -> dict[str, int]:
    files = (path for path in sorted(checkpoint.rglob("*")) if path.is_file() and path.name != WHOLE)
    return {str(path.relative_to(checkpoint)): path.stat().st_size for path in files}


def _history(entries: list[dict[str, Any]]) -> pd.DataFrame:
    rows = [
        {"step": e["step"], "epoch": e["epoch"], "train_loss": e.get("loss"), "valid_loss": e.get("eval_loss")}
        for e in entries
        if "loss" in e or "eval_loss" in e
    ]
    return pd.DataFrame(rows, columns=["step", "epoch", "train_loss", "valid_loss"]).astype(float)


class _MarkWhole(TrainerCallback):
    """Mark a checkpoint whose files are all there: one without the mark was broken off."""

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Note the files and their sizes."""
        if state.is_world_process_zero:
            checkpoint = Path(args.output_dir) / f"{PREFIX_CHECKPOINT_DIR}-{state.global_step}"
            write_json(checkpoint / WHOLE, _sizes(checkpoint))


class _LogLines(TrainerCallback):
    """Say how far along the training is, in log lines."""

    def __init__(self, steps: int) -> None:
        self.steps, self.start = steps, time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **kwargs: Any) -> None:
        """Report losses."""
        logs = logs or {}
        for key in ("loss", "eval_loss"):
            if not math.isfinite(logs.get(key, 0.0)):
                raise MacroscopeError(
                    f"the training diverged at or before step {state.global_step} of {self.steps}: its loss is"
                    f" {logs[key]}; give a smaller learning_rate"
                )
        if state.is_world_process_zero:
            for key, name in (("loss", "training"), ("eval_loss", "validation")):
                if key in logs:
                    elapsed = time.monotonic() - self.start
                    log.info(
                        "step %d of %d: %s loss %.4f, %.0f s", state.global_step, self.steps, name, logs[key], elapsed
                    )


def launch(processes: int) -> None:
    """Start this command again in `processes` processes, one a GPU, through accelerate; one process: do nothing."""
    if processes <= 1 or "LOCAL_RANK" in os.environ:
        return
    flags = ["--num_processes", str(processes), "--num_machines", "1", "--mixed_precision", "no"]
    command = ["-m", "accelerate.commands.launch", *flags, "--dynamo_backend", "no", "--multi_gpu", "-m", "macroscope"]
    os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])


def use_threads(threads: int) -> None:
    """Bound the threads of the arithmetic, and of the tokenizers' own pool."""
    torch.set_num_threads(threads)
    os.environ["RAYON_NUM_THREADS"] = str(threads)
