"""Copies: how much of a system's texts stands in real texts, beside what other real texts share (docs/copies.md)."""
