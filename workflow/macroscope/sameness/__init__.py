"""Sameness: the similarity of texts within a system and between systems, and the phrases that their texts repeat."""
