"""Tests of timelines."""
