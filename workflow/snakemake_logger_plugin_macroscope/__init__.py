"""Plug-in of Snakemake: `--logger macroscope` shows the progress of a run in few lines."""

from macroscope.execution.progress_log import LogHandler

__all__ = ["LogHandler"]
