"""Embedded resolver: rules for names and nouns, a sieve or a small learnt ranker for pronouns."""
