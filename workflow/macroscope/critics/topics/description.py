"""What a system's texts are like to the topic model, apart from their topics."""

import pandas as pd

from macroscope.critics.topics.latents import TopicStrengths
from macroscope.statistics.columns import mean_interval
from macroscope.statistics.declaration import Statistic
from macroscope.statistics.latent import Resampling
from macroscope.statistics.tidy import UNDEFINED, rows_table, shares_table

STATISTICS = (
    Statistic("without_words_share", "share of the system's texts"),
    Statistic("not_converged_share", "share of the system's texts"),
    Statistic("known_words", "mean number of words of the vocabulary in a text of the system"),
)


def describe(texts: TopicStrengths, resampling: Resampling) -> pd.DataFrame:
    """Texts without any word of the vocabulary, those whose posterior was not found, and known words a text."""
    known = texts.words > 0
    counts = {
        "without_words_share": int((~known).sum()),
        "not_converged_share": int((known & ~texts.converged).sum()),
    }
    words = ("known_words", *mean_interval(texts.words.astype(float), resampling), UNDEFINED)
    shares = shares_table(counts, len(texts), resampling.confidence)
    return pd.concat([shares, rows_table([words], (0, len(texts)), lambda _: "no text")], ignore_index=True)
