"""Readers of the files of runs: what a run has made, and where, as its jobs have written it; nothing plans it anew."""
