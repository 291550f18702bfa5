"""Tests of the public face in Python."""
