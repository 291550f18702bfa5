"""Timelines: numbers of several runs, or of several systems of a run, in their order: checkpoints, dates, names."""
