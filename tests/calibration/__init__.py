"""Simulations that hold the package to its promises: every p-value under its null, every interval against its truth."""
