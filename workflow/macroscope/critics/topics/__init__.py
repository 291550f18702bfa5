"""Critic `topics`: which topics occur together in a document (deng2022 §6, Appendix F)."""
