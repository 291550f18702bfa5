"""Options and checkpoints of a training, and its processes: one per GPU (`launch`), with bounded threads.

The training itself is in `trainer`, whose libraries take seconds and 100 MB to import.
"""

import os
import shutil
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from torch.utils.data import Dataset


@dataclass(frozen=True)
class Plateau:
    """A learning rate that is halved when the validation loss stops falling.

    Attributes
    ----------
    patience
        Number of validations without a lower loss after which the rate is halved.
    least
        Lowest learning rate.
    """

    patience: int
    least: float


Decay = Literal["linear", "inverse_sqrt"]


@dataclass(frozen=True)
class Schedule:
    """Hyperparameters of a training.

    Attributes
    ----------
    epochs
        Number of passes over the training examples.
    batch_size
        Number of examples per update, over all devices and accumulation steps.
    device_batch_size
        Upper bound of the examples per device and step. The largest divisor of a device's share of the batch is used.
    learning_rate, warmup_share, weight_decay, beta2
        Options of AdamW. The rate rises during the warm-up (a share of the updates), then falls.
    gradient_norm
        Norm at which gradients are clipped; 0: not clipped.
    decay
        Fall of the rate: "linear", to 0, or "inverse_sqrt", as the inverse square root of the number of updates.
    plateau
        Alternative schedule: the rate is constant until the validation loss stops falling.
    evaluations
        Number of validations, each with a checkpoint; 0: no validation, and a checkpoint after each tenth of the
        training.
    bfloat16
        Whether to compute in bfloat16 under autocast.
    """

    epochs: float
    batch_size: int
    device_batch_size: int
    learning_rate: float
    warmup_share: float = 0.0
    weight_decay: float = 0.0
    beta2: float = 0.999
    gradient_norm: float = 1.0
    decay: Decay = "linear"
    plateau: Plateau | None = None
    evaluations: int = 0
    bfloat16: bool = False

    @classmethod
    def of(cls, options: Any, **others: Any) -> "Schedule":
        """Return the schedule of options with fields of these names, and of others; batches are not divided."""
        names = {field.name for field in fields(cls)} & set(type(options).model_fields)
        given = {"device_batch_size": options.batch_size} | {name: getattr(options, name) for name in names}
        return cls(**given | others)


@dataclass(frozen=True)
class Examples:
    """Data that a model is trained and validated on.

    Attributes
    ----------
    train, valid
        Training examples; validation examples, or None.
    collate
        Function that makes a batch from a list of examples.
    group_by_length
        Whether examples of similar lengths share a batch.
    """

    train: "Dataset[Any]"
    valid: "Dataset[Any] | None"
    collate: Any
    group_by_length: bool = False


@dataclass(frozen=True)
class Checkpoints:
    """Checkpoints that a killed run leaves behind, and from which the next run resumes.

    Attributes
    ----------
    folder
        Folder of the checkpoints; the caller removes it with `discard` once the model is saved.
    fingerprint
        Data and options that the checkpoints belong to; checkpoints with another fingerprint are removed.
    """

    folder: Path
    fingerprint: dict[str, Any]


def launch(processes: int) -> None:
    """Replace this process by `processes` processes of the same command, one per GPU, through accelerate.

    With one process or none, or in one of the processes that it started, do nothing.
    """
    if processes <= 1 or "LOCAL_RANK" in os.environ:
        return
    flags = ["--num_processes", str(processes), "--num_machines", "1", "--mixed_precision", "no"]
    command = ["-m", "accelerate.commands.launch", *flags, "--dynamo_backend", "no", "--multi_gpu", "-m", "macroscope"]
    os.execv(sys.executable, [sys.executable, *command, *sys.argv[1:]])


def use_threads(threads: int) -> None:
    """Bound the number of threads for arithmetic, and of the tokenizers' own pool."""
    import torch

    torch.set_num_threads(threads)
    os.environ["RAYON_NUM_THREADS"] = str(threads)


def is_main_process() -> bool:
    """Return whether this is the first of the processes that train together, or the only one."""
    return int(os.environ.get("RANK", "0")) == 0


def discard(checkpoints: Path) -> None:
    """Remove the checkpoints of a finished training, in the main process only."""
    if is_main_process():
        shutil.rmtree(checkpoints, ignore_errors=True)
