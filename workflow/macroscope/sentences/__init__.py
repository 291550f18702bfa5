"""Numbers of single sentences: how likely each is out of place in its text (docs/sentences.md)."""
