"""Execution of jobs: processes, memory, Slurm, orphans; no numbers depend on it."""
