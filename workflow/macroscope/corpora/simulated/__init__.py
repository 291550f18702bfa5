"""Corpora that are made from a process that is known exactly, in an upstream format."""
