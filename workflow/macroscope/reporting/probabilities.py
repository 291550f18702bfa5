"""Correlation of estimated log-probabilities with a model's own, over its texts (pimentel2022 §5.1, Figure 1)."""

import numpy as np
import pandas as pd

from macroscope.config.schema import Config
from macroscope.critics import get_critic
from macroscope.options import Resampling
from macroscope.runs.results import Results
from macroscope.statistics.correlation import correlate

COLUMNS = [
    *("corpus", "system", "estimate", "spearman", "ci_low", "ci_high", "p_value", "n"),
    *("setting", "seeds", "seed_mean", "seed_sd", "seed", "signature"),
]
"""`setting`: first system with the same model and options, apart from the seed of its samples; `seeds`: their number;
`seed_mean`, `seed_sd`: mean and standard deviation of their correlations (NaN for one seed)."""
_OVER_SEEDS = ("seeds", "seed_mean", "seed_sd")


def probability_table(results: Results) -> pd.DataFrame:
    """Compute rank correlations between a model's own log q(x) and its estimates, over the texts of each system.

    Returns
    -------
    data frame
        `COLUMNS`; a row per estimate and system whose samples come from the model's own distribution.
    """
    first: dict[tuple[str, ...], str] = {}
    statistics = results.config.statistics
    resampling = Resampling(statistics.resamples, statistics.permutations, statistics.confidence, results.config.seed)
    rows = []
    for corpus, system in results.contents.known_log_q:
        table = pd.read_parquet(results.samples_of(corpus, system).with_name("log_probabilities.parquet"))
        setting = first.setdefault(find_setting(results.config, corpus, system), system)
        true_log_q = table.set_index("id")["log_probability"]
        for critic in results.contents.signatures:
            if not get_critic(critic).data.gives_log_q or (critic, corpus, system) not in results.contents.comparisons:
                continue
            texts = pd.read_parquet(
                results.folder / "critics" / critic / corpus / "evidence" / system / "texts.parquet"
            )
            estimated = texts[texts["side"] == "candidate"].set_index("id")["log_q"]
            paired = (
                pd.concat([true_log_q, estimated], axis=1, join="inner").replace([np.inf, -np.inf], np.nan).dropna()
            )
            correlation = correlate(
                paired["log_q"].to_numpy()[None, None], paired["log_probability"].to_numpy(), "spearman", resampling
            )
            values = (correlation.value[0], correlation.low[0], correlation.high[0], correlation.p_value[0])
            signature = f"{results.contents.signatures[critic]}|{resampling.signature}"
            rows.append((corpus, system, critic, *values, len(paired), setting, resampling.seed, signature))
    return add_spread(pd.DataFrame(rows, columns=[name for name in COLUMNS if name not in _OVER_SEEDS]))


def find_setting(config: Config, corpus: str, system: str) -> tuple[str, ...]:
    """Return what systems have in common that differ in the seed of their samples alone."""
    declared = config.system(system)
    options = declared.as_language_model(config)
    assert options is not None  # its log q(x) is known
    return corpus, declared.model_of(system), options.model_dump_json(exclude={"seed"})


def add_spread(table: pd.DataFrame) -> pd.DataFrame:
    """Add the number of seeds, and the mean and the standard deviation over them (pimentel2022, Figure 1)."""
    seeds = table.groupby(["corpus", "setting", "estimate"])["spearman"]
    return table.assign(
        seeds=seeds.transform("size"), seed_mean=seeds.transform("mean"), seed_sd=seeds.transform("std")
    )[COLUMNS]
