"""Statistical tendencies of text: rank-frequency, type-token, unigrams, length, stop words, symbols (meister2021)."""
