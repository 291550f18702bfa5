"""In which respects a system differs from real text, the surest first: what its page and the picture say in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.config.options import CONTROL
from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests, statistics_of
from macroscope.reporting.formats import SMALLEST_P, format_number, format_p_value
from macroscope.reporting.results import rows_of
from macroscope.reporting.statistic_names import readable
from macroscope.statistics.declaration import declared
from macroscope.statistics.tidy import SIGNIFICANT

OF_MEANS = "_mean_difference"
"""End of the name of a test of a difference of means; the means themselves say more. Of other differences what is
compared may be another number than each side's own, such as a vocabulary in equally many tokens."""

LATENT_PPL, LATENT_NLL = "latent_ppl", "latent_nll"


@dataclass(frozen=True)
class Difference:
    """A test that differs.

    Attributes
    ----------
    statistic
        Its name.
    name
        The same as a person reads it.
    holds
        What it is.
    value, real
        Of the system and of real text, with their intervals; `real` is "" where only the two together have a value.
    p_adjusted
        As a person reads it.
    p_value
        Adjusted; none below what is shown as the smallest.
    sureness
        How many half widths of the interval the two are apart.
    """

    statistic: str
    name: str
    holds: str
    value: str
    real: str
    p_adjusted: str
    p_value: float
    sureness: float


def surest_differences(statistics: pd.DataFrame, critic: str, corpus: str, system: str) -> list[Difference]:
    """Tests of a critic by which a system differs from real text.

    What the prior says comes first (of a density the latent NLL: its perplexity may be any positive number), then what
    has a value of both sides, then what only the two together have; each by p-value, then by how far apart the
    intervals are.
    """
    found = critic_named(critic)
    own = rows_of(statistics, critic, corpus)
    known = statistics_of(found)
    sides = [own[own["system"] == side].set_index("statistic") for side in (system, CONTROL)]
    tests = difference_tests(found, own[own["system"] == system])
    differences = []
    for row in tests[tests["p_adjusted"] < SIGNIFICANT].to_dict("records"):
        name = row["statistic"]
        base = name.removesuffix("_difference") if name.endswith(OF_MEANS) else name
        if found.data.density and base == LATENT_PPL:
            base = LATENT_NLL
        value = sides[0].loc[base]
        real = sides[1].loc[base] if base in sides[1].index else None
        differences.append(
            Difference(
                base,
                readable(base, found.data.quantities),
                declared(known, base).holds,
                _read(value),
                "" if real is None else _read(real),
                format_p_value(row["p_adjusted"]),
                max(float(row["p_adjusted"]), SMALLEST_P),
                _sureness(value, real),
            )
        )
    return sorted(differences, key=_rank)


def _rank(some: Difference) -> tuple[bool, bool, float, float]:
    return some.statistic not in (LATENT_PPL, LATENT_NLL), not some.real, some.p_value, -some.sureness


def differences_table(differences: list[Difference]) -> pd.DataFrame:
    """Differences, a row each, as a person reads them."""
    rows = [
        {
            "what": some.name,
            "this system": some.value,
            "real text": some.real or "–",
            "p, adjusted": some.p_adjusted,
            "it is": some.holds,
        }
        for some in differences
    ]
    return pd.DataFrame(rows)


def in_words(difference: Difference) -> str:
    """A difference as half a sentence: "repeated 4-grams (share), mean 0.629, not 0.0213"."""
    value = difference.value.partition(" [")[0]
    return f"{difference.name} {value}" + (f", not {difference.real.partition(' [')[0]}" if difference.real else "")


def _read(row: pd.Series) -> str:
    if pd.isna(row["ci_low"]):
        return format_number(row["value"])
    return f"{format_number(row['value'])} [{format_number(row['ci_low'])}, {format_number(row['ci_high'])}]"


def _sureness(value: pd.Series, real: pd.Series | None) -> float:
    widths = [(side["ci_high"] - side["ci_low"]) / 2 for side in (value, real) if side is not None]
    apart = abs(value["value"] - (0.0 if real is None else real["value"]))
    spread = float(np.sqrt(np.nansum(np.square(widths))))
    return float(apart / spread) if spread > 0 and np.isfinite(apart) else 0.0
