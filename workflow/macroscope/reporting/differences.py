"""Significant differences between a system and real text, the clearest first, with descriptions in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import Critic, difference_tests
from macroscope.critics.readings import Reading
from macroscope.options import CONTROL, SPLIT_HALF
from macroscope.reporting.critic_stages import select_rows
from macroscope.reporting.formats import format_number, format_p_value
from macroscope.reporting.statistic_names import readable_name
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.tidy import SIGNIFICANT

OF_MEANS = "_mean_difference"
"""Suffix of tests of a difference of means, for which both means are shown. For other tests of a difference the
compared numbers need not be those of each collection alone: vocabularies are compared at equal token counts, for
example."""

NEGLIGIBLE = 1e-3
"""Share of the system's number below which the number of real text is shown as "about 0"."""
AT_HALF, FLOOR = "_at_half", "_floor"
"""Suffixes of a divergence computed on half the texts, and of the divergence between two halves of real text."""

NO_DIFFERENCE = {"_ratio": 1.0, "_difference": 0.0}
"""Suffix of statistics that are relative to real text -> their value without a difference."""

LATENT_PPL, LATENT_NLL = "latent_ppl", "latent_nll"
FAULT, NO_FAULT = "for the worse", "neither better nor worse"


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
    separation
        Distance between the two values, in half widths of the interval.
    words
        Description in the reader's words (`Critic.readings`); "" if there are none.
    is_fault
        Whether the difference is for the worse; None if no words say so.
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
    separation: float
    words: str
    is_fault: bool | None
    exceeds_halves: bool = True

    @property
    def is_too_likely(self) -> bool:
        """Return whether the system's texts are more likely than real ones under the prior of real text."""
        return self.statistic in (LATENT_PPL, LATENT_NLL) and self.above is False


def find_differences(statistics: pd.DataFrame, critic: str, corpus: str, system: str) -> list[Difference]:
    """Return the significant differences between a system and real text for a critic, the clearest first.

    Those in words come first, then statistics with a value for both collections, then statistics of the two together;
    each sorted by the separation of the intervals. The detectability is left out: the scorecard shows it.
    """
    plugin = get_critic(critic)
    rows = select_rows(statistics, critic, corpus)
    rows = rows[rows["statistic"] != C2ST_AUC]
    collections = [rows[rows["system"] == name].set_index("statistic") for name in (system, CONTROL, SPLIT_HALF)]
    tests = difference_tests(plugin, rows[rows["system"] == system])
    names = tests.loc[tests["p_adjusted"] < SIGNIFICANT, ["statistic", "p_adjusted"]]
    differences = [
        _make_difference(plugin.data, str(name), float(p), *collections) for name, p in names.itertuples(index=False)
    ]
    return sorted(differences, key=_sort_key)


def _make_difference(
    critic: Critic, tested: str, p_adjusted: float, candidate: pd.DataFrame, control: pd.DataFrame, halves: pd.DataFrame
) -> Difference:
    name = tested.removesuffix("_difference") if tested.endswith(OF_MEANS) else tested
    if critic.density and name == LATENT_PPL:
        name = LATENT_NLL
    value, real, is_of_halves = _counterparts(name, candidate, control, halves)
    middle = next((number for suffix, number in NO_DIFFERENCE.items() if name.endswith(suffix)), None)
    if middle is None and real is not None:
        middle = real["value"]
    reading = None if middle is None else critic.reading(name)
    words, is_fault = _word_difference(reading, value["value"], middle, candidate)
    return Difference(
        name,
        readable_name(name, critic.quantities),
        _format_row(value),
        "" if real is None else "about 0" if _is_negligible(real, value) else _format_row(real),
        None if real is None else bool(value["value"] > real["value"]),
        is_of_halves,
        format_p_value(p_adjusted),
        _separation(value, real),
        words,
        is_fault,
        not is_of_halves or real is None or _is_beyond(value["value"], real, has_words=reading is not None),
    )


def _word_difference(
    reading: Reading | None, value: float, middle: float | None, candidate: pd.DataFrame
) -> tuple[str, bool | None]:
    """Return the words about a value, and whether it is for the worse; ("", None) without a reading.

    Parameters
    ----------
    middle
        Value without a difference: that of real text, or `NO_DIFFERENCE`.
    candidate
        Statistics of the system.
    """
    if reading is None or middle is None:
        return "", None
    amounts = value, middle
    if reading.difference_of:
        of_system = candidate.at[reading.difference_of, "value"]
        amounts = of_system, of_system - value
    return reading.describe(value > middle, *amounts), reading.is_fault(value > middle)


def _is_beyond(value: float, real: pd.Series, *, has_words: bool) -> bool:
    """Return whether a value lies above the interval of real halves; with words, also whether it lies below."""
    low, high = np.nanmin([real["value"], real["ci_low"]]), np.nanmax([real["value"], real["ci_high"]])
    return bool(value > high or (has_words and value < low))


def _counterparts(
    name: str, candidate: pd.DataFrame, control: pd.DataFrame, halves: pd.DataFrame
) -> tuple[pd.Series, pd.Series | None, bool]:
    """Return the values of the system and of real text, and whether the latter is from two halves; see `Difference`."""
    if name in control.index:
        return candidate.loc[name], control.loc[name], False
    if name + AT_HALF in candidate.index and name + FLOOR in candidate.index:
        return candidate.loc[name + AT_HALF], candidate.loc[name + FLOOR], True
    if name in halves.index and pd.notna(halves.at[name, "value"]):
        return candidate.loc[name], halves.loc[name], True
    return candidate.loc[name], None, False


def _sort_key(difference: Difference) -> tuple[bool, bool, float]:
    joint = not difference.real or difference.halves
    return not difference.words, not difference.words and joint, -difference.separation


def find_clearest(differences: Sequence[Difference]) -> Difference | None:
    """Return the first difference that two halves of real text do not have as well; None without any."""
    return next((difference for difference in differences if difference.exceeds_halves), None)


def sort_critics(clearest: Mapping[str, Difference]) -> list[str]:
    """Return the critics by their clearest differences: those in words first, each sorted by the separation."""
    return sorted(clearest, key=lambda critic: (not clearest[critic].words, -clearest[critic].separation))


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
    """Return what the texts do: "repeat word pairs more, 11.7 % against 7.5 %".

    Words that no critic declares are made from the name of the statistic: "differ in certainty, 0.62 against 0.3".
    """
    if difference.words:
        return difference.words
    value, real = (text.partition(" [")[0] for text in (difference.value, difference.real))
    against = f" against {real}" if real else ""
    between = " between halves of real text" if difference.halves else ""
    return f"differ in {difference.name.removesuffix(', mean')}, {value}{against}{between}"


def judge_difference(difference: Difference) -> str:
    """Return whether a difference is for the worse: "neither better nor worse"; "" if no words say so."""
    return "" if difference.is_fault is None else FAULT if difference.is_fault else NO_FAULT


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
