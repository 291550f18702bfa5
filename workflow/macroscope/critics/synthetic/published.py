"""Numbers of deng2022 Table 1; its text has 66.80 for the latent PPL of the transformer, its table 64.80."""

TABLE = (
    {"system": "transformer (deng2022)", "word PPL": "2.28", "latent PPL of valid texts": "64.80"},
    {"system": "HSMM (deng2022)", "word PPL": "2.05", "latent PPL of valid texts": "47.24"},
    {"system": "process (deng2022)", "word PPL": "1.99", "latent PPL of valid texts": "44.30"},
)
SIZES = {"states": 256, "subsequences": 10_000, "segments": 50}
"""Of the process that they are about: with others they mean nothing."""
