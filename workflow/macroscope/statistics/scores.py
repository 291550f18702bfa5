"""Columns of a critic's scores that are more than numbers."""

CATEGORIES = "categories"
"""Names, any number a document: what its latents consist of, such as its section transitions."""
