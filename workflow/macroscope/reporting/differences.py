"""In which respects a system differs from real text, the surest first: what its page and the picture say in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics import critic_named
from macroscope.critics.declaration import difference_tests
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.formats import SMALLEST_P, format_number, format_p_value
from macroscope.reporting.results import rows_of
from macroscope.reporting.statistic_names import readable
from macroscope.statistics.tidy import SIGNIFICANT

OF_MEANS = "_mean_difference"
"""End of the name of a test of a difference of means; the means themselves say more. Of other differences what is
compared may be another number than each side's own, such as a vocabulary in equally many tokens."""

NOTHING = 1e-3
"""Share of the system's number below which real text's is "about 0"."""
AT_HALF, FLOOR = "_at_half", "_floor"
"""Ends of the names of a divergence of half the texts, and of one half of the real ones from the other."""

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
    value, real
        Of the system and of real text, with their intervals; where only the two together have a value, `real` is that
        of two halves of real text, as far apart as chance has it, and "" where that is not known.
    above
        Whether the system's is the larger one; None without a counterpart.
    halves
        Whether `real` is that of two halves of real text, and `value` one of as few documents where there is any.
    p_adjusted
        As a person reads it.
    p_value
        Adjusted; none below what is shown as the smallest.
    sureness
        How many half widths of the interval the two are apart.
    """

    statistic: str
    name: str
    value: str
    real: str
    above: bool | None
    halves: bool
    p_adjusted: str
    p_value: float
    sureness: float

    @property
    def is_too_likely(self) -> bool:
        """Whether it says that the prior of real text expects the system's texts more than real ones."""
        return self.statistic in (LATENT_PPL, LATENT_NLL) and self.above is False


def surest_differences(statistics: pd.DataFrame, critic: str, corpus: str, system: str) -> list[Difference]:
    """Tests of a critic by which a system differs from real text.

    What the prior says comes first (of a density the latent NLL: its perplexity may be any positive number), then what
    has a value of both sides, then what only the two together have; each by p-value, then by how far apart the
    intervals are.
    """
    found = critic_named(critic)
    own = rows_of(statistics, critic, corpus)
    sides = [own[own["system"] == side].set_index("statistic") for side in (system, CONTROL, SPLIT_HALF)]
    tests = difference_tests(found, own[own["system"] == system])
    differences = []
    for row in tests[tests["p_adjusted"] < SIGNIFICANT].to_dict("records"):
        name = row["statistic"]
        base = name.removesuffix("_difference") if name.endswith(OF_MEANS) else name
        if found.data.density and base == LATENT_PPL:
            base = LATENT_NLL
        value, real, halves = _counterparts(base, *sides)
        differences.append(
            Difference(
                base,
                readable(base, found.data.quantities),
                _read(value),
                "" if real is None else "about 0" if _is_nothing_beside(real, value) else _read(real),
                None if real is None else bool(value["value"] > real["value"]),
                halves,
                format_p_value(row["p_adjusted"]),
                max(float(row["p_adjusted"]), SMALLEST_P),
                _sureness(value, real),
            )
        )
    return sorted(differences, key=_rank)


def _counterparts(
    name: str, own: pd.DataFrame, control: pd.DataFrame, halves: pd.DataFrame
) -> tuple[pd.Series, pd.Series | None, bool]:
    """Values of a system and of real text, and whether the latter is that of two halves of it; see `Difference`."""
    if name in control.index:
        return own.loc[name], control.loc[name], False
    if name + AT_HALF in own.index and name + FLOOR in own.index:
        return own.loc[name + AT_HALF], own.loc[name + FLOOR], True
    if name in halves.index:
        return own.loc[name], halves.loc[name], True
    return own.loc[name], None, False


def _rank(some: Difference) -> tuple[bool, bool, float, float]:
    alone = not some.real or some.halves
    return some.statistic not in (LATENT_PPL, LATENT_NLL), alone, some.p_value, -some.sureness


def differences_table(differences: list[Difference]) -> pd.DataFrame:
    """Differences, a row each, as a person reads them."""
    rows = [
        {
            "what": some.name,
            "this system": some.value,
            "real text": f"{some.real} (halves)" if some.halves else some.real or "–",
            "p, adjusted": some.p_adjusted,
        }
        for some in differences
    ]
    return pd.DataFrame(rows)


def in_words(difference: Difference) -> str:
    """A difference as half a sentence: "repeated 4-grams (share), mean 0.629, above real text's 0.0213".

    What the prior of real text says is "less expected than real text: latent PPL 9.1, not 4.2".
    """
    value, real = (side.partition(" [")[0] for side in (difference.value, difference.real))
    if not real:
        return f"{difference.name} {value}"
    if difference.halves:
        return f"{difference.name} {value}, where halves of real text have {real}"
    if difference.statistic in (LATENT_PPL, LATENT_NLL):
        how = "less" if difference.above else "more"
        unit = " nats" if difference.statistic == LATENT_NLL else ""
        return f"{how} expected than real text: {difference.name} {value}{unit}, not {real}"
    return f"{difference.name} {value}, {'above' if difference.above else 'below'} real text's {real}"


def _read(row: pd.Series) -> str:
    if pd.isna(row["ci_low"]):
        return format_number(row["value"])
    return f"{format_number(row['value'])} [{format_number(row['ci_low'])}, {format_number(row['ci_high'])}]"


def _is_nothing_beside(real: pd.Series, value: pd.Series) -> bool:
    """Whether real text's number is rounding error, or next to it, as divergences of halves often are."""
    return bool(abs(real["value"]) < NOTHING * abs(value["value"]))


def _sureness(value: pd.Series, real: pd.Series | None) -> float:
    widths = [(side["ci_high"] - side["ci_low"]) / 2 for side in (value, real) if side is not None]
    apart = abs(value["value"] - (0.0 if real is None else real["value"]))
    spread = float(np.sqrt(np.nansum(np.square(widths))))
    return float(apart / spread) if spread > 0 and np.isfinite(apart) else 0.0
