"""Simulations of every p-value under its null, and of every interval against its truth."""
