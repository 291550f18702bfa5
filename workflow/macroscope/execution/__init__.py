"""Running jobs: processes, memory, Slurm, orphans; no room depends on it for its numbers."""
