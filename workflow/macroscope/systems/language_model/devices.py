"""What a job with a language model runs on: processes, one a GPU, and threads."""

import os
import sys

import torch


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
