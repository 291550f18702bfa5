"""Significant differences between a system and real text, the clearest first, with descriptions in words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import difference_tests
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.formats import SMALLEST_P, format_number, format_p_value
from macroscope.reporting.results import select_rows
from macroscope.reporting.statistic_names import readable_name
from macroscope.statistics.tidy import SIGNIFICANT

OF_MEANS = "_mean_difference"
"""Suffix of tests of a difference of means, for which both means are shown. For other tests of a difference the
compared numbers need not be those of each collection alone: vocabularies are compared at equal token counts, for
example."""

NEGLIGIBLE = 1e-3
"""Share of the system's number below which the number of real text is shown as "about 0"."""
AT_HALF, FLOOR = "_at_half", "_floor"
"""Suffixes of a divergence computed on half the texts, and of the divergence between two halves of real text."""

LATENT_PPL, LATENT_NLL = "latent_ppl", "latent_nll"


@dataclass(frozen=True)
class Difference:
    """A significant difference between a system and real text.

    Attributes
    ----------
    statistic
        Name of the statistic.
    name
        Readable name of the statistic.
    value, real
        Values of the system and of real text, with intervals. For a statistic of both together (a divergence), `real`
        is that of two halves of real text, as expected by chance; "" if unknown.
    above
        Whether the system's value is the larger one; None without a counterpart.
    halves
        Whether `real` is that of two halves of real text, and `value` one of equally few documents if available.
    p_adjusted
        Adjusted p-value as text.
    p_value
        Adjusted p-value, at least the smallest one that is displayed.
    separation
        Distance between the two values, in half widths of the interval.
    reading
        Meaning of the direction of the difference (`Critic.readings`); "" if the critic declares none.
    exceeds_halves
        Whether `value` lies above the interval of `real`, if that is of two halves of real text; otherwise True.
    """

    statistic: str
    name: str
    value: str
    real: str
    above: bool | None
    halves: bool
    p_adjusted: str
    p_value: float
    separation: float
    reading: str
    exceeds_halves: bool = True

    @property
    def is_too_likely(self) -> bool:
        """Return whether the system's texts are more likely than real ones under the prior of real text."""
        return self.statistic in (LATENT_PPL, LATENT_NLL) and self.above is False


def find_differences(statistics: pd.DataFrame, critic: str, corpus: str, system: str) -> list[Difference]:
    """Return the significant differences between a system and real text for a critic, the clearest first.

    Likelihoods under the prior come first (latent NLL if the prior is a density, because its perplexity may be any
    positive number), then statistics with a value for both collections, then statistics of the two together; each
    sorted by p-value, then by the separation of the intervals.
    """
    plugin = get_critic(critic)
    rows = select_rows(statistics, critic, corpus)
    collections = [rows[rows["system"] == name].set_index("statistic") for name in (system, CONTROL, SPLIT_HALF)]
    tests = difference_tests(plugin, rows[rows["system"] == system])
    differences = []
    for row in tests[tests["p_adjusted"] < SIGNIFICANT].to_dict("records"):
        name = row["statistic"]
        base = name.removesuffix("_difference") if name.endswith(OF_MEANS) else name
        if plugin.data.density and base == LATENT_PPL:
            base = LATENT_NLL
        value, real, halves = _counterparts(base, *collections)
        above = None if real is None else bool(value["value"] > real["value"])
        differences.append(
            Difference(
                base,
                readable_name(base, plugin.data.quantities),
                _format_row(value),
                "" if real is None else "about 0" if _is_negligible(real, value) else _format_row(real),
                above,
                halves,
                format_p_value(row["p_adjusted"]),
                max(float(row["p_adjusted"]), SMALLEST_P),
                _separation(value, real),
                "" if above is None or halves else plugin.data.reading(name, above),
                not halves or real is None or bool(value["value"] > np.nanmax([real["value"], real["ci_high"]])),
            )
        )
    return sorted(differences, key=_sort_key)


def _counterparts(
    name: str, candidate: pd.DataFrame, control: pd.DataFrame, halves: pd.DataFrame
) -> tuple[pd.Series, pd.Series | None, bool]:
    """Return the values of the system and of real text, and whether the latter is from two halves; see `Difference`."""
    if name in control.index:
        return candidate.loc[name], control.loc[name], False
    if name + AT_HALF in candidate.index and name + FLOOR in candidate.index:
        return candidate.loc[name + AT_HALF], candidate.loc[name + FLOOR], True
    if name in halves.index:
        return candidate.loc[name], halves.loc[name], True
    return candidate.loc[name], None, False


def _sort_key(difference: Difference) -> tuple[bool, bool, float, float]:
    joint = not difference.real or difference.halves
    first = difference.statistic in (LATENT_PPL, LATENT_NLL)
    return not first, joint, difference.p_value, -difference.separation


def differences_table(differences: list[Difference]) -> pd.DataFrame:
    """Return the differences as a table for readers, one per row."""
    rows = [
        {
            "statistic": difference.name,
            "this system": difference.value,
            "real text": f"{difference.real} (halves)" if difference.halves else difference.real or "–",
            "p, adjusted": difference.p_adjusted,
        }
        for difference in differences
    ]
    return pd.DataFrame(rows)


def describe_difference(difference: Difference) -> str:
    """Describe a difference in a phrase: "repeated 4-grams (share), mean 0.629, above real text's 0.0213".

    A likelihood under the prior is described as "less likely than real text: latent PPL 9.1, not 4.2". The meaning of
    the direction follows, if the critic declares one.
    """
    value, real = (text.partition(" [")[0] for text in (difference.value, difference.real))
    if not real:
        return f"{difference.name} {value}"
    if difference.halves:
        return f"{difference.name} {value}, against {real} between halves of real text"
    if difference.statistic in (LATENT_PPL, LATENT_NLL):
        how = "less" if difference.above else "more"
        unit = " nats" if difference.statistic == LATENT_NLL else ""
        return f"{how} likely than real text: {difference.name} {value}{unit}, not {real}"
    reading = f" ({difference.reading})" if difference.reading else ""
    return f"{difference.name} {value}, {'above' if difference.above else 'below'} real text's {real}{reading}"


def _format_row(row: pd.Series) -> str:
    if pd.isna(row["ci_low"]):
        return format_number(row["value"])
    return f"{format_number(row['value'])} [{format_number(row['ci_low'])}, {format_number(row['ci_high'])}]"


def _is_negligible(real: pd.Series, value: pd.Series) -> bool:
    """Return whether the number of real text is near rounding error, as divergences between halves often are."""
    return bool(abs(real["value"]) < NEGLIGIBLE * abs(value["value"]))


def _separation(value: pd.Series, real: pd.Series | None) -> float:
    widths = [(row["ci_high"] - row["ci_low"]) / 2 for row in (value, real) if row is not None]
    gap = abs(value["value"] - (0.0 if real is None else real["value"]))
    spread = float(np.sqrt(np.nansum(np.square(widths))))
    return float(gap / spread) if spread > 0 and np.isfinite(gap) else 0.0
