"""Sensitivity of the critics on a user's texts: the config that they imply, and the run."""
