"""Human ratings of systems, correlated with tidy statistics: one row per question and statistic."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope import __version__
from macroscope.errors import MacroscopeError, nearest
from macroscope.options import CONTROL, Resampling
from macroscope.statistics.correlation import COEFFICIENTS, EXACT_SYSTEMS, Correlations, correlate, correlate_given
from macroscope.statistics.document_features import Array
from macroscope.statistics.judgements import Judgements, check_mapping, group_seeds, match_system_names, read_judgements
from macroscope.statistics.p_values import benjamini_hochberg

log = logging.getLogger("macroscope")

_COLUMNS_OF_COEFFICIENT = ("", "_abs", "_low", "_high", "_seed_sd", "_p_value", "_p_adjusted")
_GIVEN = ("_partial", "_partial_low", "_partial_high", "_partial_p_value")
"""Columns of a coefficient given the mean length of the systems' texts; NaN if the lengths are unknown."""
COLUMNS = (
    *("corpus", "table", "question", "critic", "statistic", "systems", "seeds"),
    *(f"{coefficient}{end}" for coefficient in COEFFICIENTS for end in (*_COLUMNS_OF_COEFFICIENT, *_GIVEN)),
    *("seed", "signature", "reason"),
)
"""`systems`: number of systems, with real text if it counts; `seeds`: number of groups of seeds.

`_abs`: eq. 4 of pimentel2022, of the mean over the groups; `reason`: reason why a coefficient is NaN.
"""
_NAMED = 3
"""Largest number of systems without a value that are named."""


def correlate_file(
    statistics: Path,
    table: str,
    resampling: Resampling,
    *,
    mapping: Mapping[str, str] | None = None,
    real_text: str | None = None,
    corpus: str | None = None,
) -> pd.DataFrame:
    """Correlate a file of tidy statistics with a table of human judgements: `correlate_statistics` outside of a run.

    Parameters
    ----------
    statistics
        CSV with the columns system, statistic, value; critic and corpus if there are several.
    table
        Name of a built-in table, or path of a CSV.
    mapping
        System -> name in the table. Default: the systems that have the same name in both.
    real_text
        Name of real text in the table.
    corpus
        Corpus to select, if the file has several.

    Raises
    ------
    MacroscopeError
        If a file is invalid, or a system, corpus or name does not exist.
    """
    judgements, rows = read_judgements(table), _select_corpus(read_statistics(statistics), corpus, statistics)
    systems = [system for system in dict.fromkeys(rows["system"]) if system != CONTROL]
    for system in mapping or {}:
        if system not in systems:
            raise MacroscopeError(f"{statistics}: there is no system '{system}'{nearest(system, systems)}")
    if mapping is None:
        mapping = match_system_names(judgements, systems, real_text)
    check_mapping(mapping, real_text, judgements, str(statistics))
    unmapped = [system for system in systems if system not in mapping]
    if unmapped:
        log.info("systems without a human score, which are left out: %s", ", ".join(unmapped))
    return correlate_statistics(
        rows, judgements, mapping, resampling, corpus=rows["corpus"].iloc[0], real_text=real_text
    )


def read_statistics(path: Path) -> pd.DataFrame:
    """Read tidy statistics of any origin: corpus, critic, system, statistic, value, without any other columns."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (FileNotFoundError, IsADirectoryError):
        raise MacroscopeError(f"{path}: no such file of statistics") from None
    except (pd.errors.EmptyDataError, pd.errors.ParserError, UnicodeDecodeError):
        raise MacroscopeError(f"{path}: not a CSV file; statistics have the columns system, statistic, value") from None
    for column in ("system", "statistic", "value"):
        if column not in table:
            raise MacroscopeError(f"{path}: no column '{column}'; statistics have the columns system, statistic, value")
    if table.empty:
        raise MacroscopeError(f"{path}: no statistics")
    values = pd.to_numeric(table["value"].replace("", "nan"), errors="coerce")
    wrong = table.index[values.isna() & ~table["value"].str.lower().isin(["", "nan"])]
    if len(wrong):
        raise MacroscopeError(f"{path}, line {wrong[0] + 2}: the value {table.at[wrong[0], 'value']!r} is not a number")
    optional = {name: table.get(name, "") for name in ("corpus", "critic")}
    return table[["system", "statistic"]].assign(**optional, value=values)


def _select_corpus(statistics: pd.DataFrame, corpus: str | None, path: Path) -> pd.DataFrame:
    corpora = list(dict.fromkeys(statistics["corpus"]))
    if corpus is None and len(corpora) > 1:
        raise MacroscopeError(f"{path}: several corpora ({', '.join(corpora)}); choose one with --corpus")
    if corpus is not None and corpus not in corpora:
        raise MacroscopeError(f"{path}: there is no corpus '{corpus}'{nearest(corpus, corpora)}")
    return statistics if corpus is None else statistics[statistics["corpus"] == corpus]


def correlate_statistics(
    statistics: pd.DataFrame,
    judgements: Judgements,
    mapping: Mapping[str, str],
    resampling: Resampling,
    *,
    corpus: str = "",
    real_text: str | None = None,
    lengths: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Correlate every statistic of every critic with the scores of every question.

    Parameters
    ----------
    statistics
        Tidy statistics of one corpus: critic, statistic, system, value.
    judgements
        Human scores.
    mapping
        System -> name in the table; several systems with one name are its seeds (`judgements.group_seeds`).
    resampling
        Level, number of permutations and seed.
    corpus
        Name for the table.
    real_text
        Name in the table to compare the control with, wherever the control has a value.
    lengths
        System -> mean length of its texts, for the coefficients given length.

    Returns
    -------
    data frame
        `COLUMNS`. Both coefficients are signed: a distance that agrees with people has a negative one. A statistic
        without a value for one of the systems has no coefficient, but a reason. p-values are adjusted
        (Benjamini-Hochberg) over all statistics of a question, separately for each coefficient.
    """
    groups = group_seeds(mapping, f"the table '{judgements.name}'")
    values = _by_system(statistics)
    tables = [
        _correlate_question(values, groups, scores, real_text, resampling, lengths or {}).assign(question=question)
        for question, scores in judgements.scores.items()
    ]
    parts = (
        f"macroscope:{__version__}",
        f"intervals:fisher_z,bonett_wright|exact_up_to:{EXACT_SYSTEMS}",
        f"permutations:{resampling.permutations}|confidence:{resampling.confidence}",
    )
    common = {"corpus": corpus, "table": judgements.name, "seeds": len(groups), "seed": resampling.seed}
    return pd.concat(tables, ignore_index=True).assign(**common, signature="|".join(parts))[list(COLUMNS)]


def _by_system(statistics: pd.DataFrame) -> pd.DataFrame:
    """Pivot values: one row per (critic, statistic), in the order of their appearance, one column per system."""
    keys = ["critic", "statistic", "system"]
    repeated = statistics[statistics.duplicated(keys)]
    if len(repeated):
        critic, statistic, system = repeated.iloc[0][keys]
        raise MacroscopeError(f"the statistics have two values of {critic} {statistic} for '{system}'; keep one")
    order = pd.MultiIndex.from_frame(statistics[keys[:2]].drop_duplicates())
    values = statistics.set_index(keys)["value"].astype(float).unstack("system").reindex(order)
    for critic in values[np.isinf(values).any(axis=1)].index.get_level_values("critic").unique():
        if {(critic, "forward_kl"), (critic, "exponentiated_kl")} <= set(values.index):
            values.loc[(critic, "exponentiated_kl")] = _exponentiate(values.loc[(critic, "forward_kl")])
    return values


def _exponentiate(logarithms: pd.Series) -> pd.Series:
    """Compute exponentials up to a factor, which no correlation depends on: the largest one is 1.

    Exponentials of sums over whole strings overflow (pimentel2022, eq. 7: beyond 709 nats). What underflows beside the
    largest one keeps its rank.
    """
    return np.exp(logarithms - logarithms.max()).clip(lower=logarithms.rank() * 1e-300)


def _correlate_question(
    values: pd.DataFrame,
    groups: Sequence[Mapping[str, str]],
    scores: Mapping[str, float],
    real_text: str | None,
    resampling: Resampling,
    lengths: Mapping[str, float],
) -> pd.DataFrame:
    """Compute correlations of all statistics with the scores of one question."""
    names = [name for name in scores if name in groups[0]]
    system_values = np.stack([values.reindex(columns=[group[name] for name in names]) for group in groups], axis=1)
    human_scores = np.array([scores[name] for name in names])
    mean_lengths = np.array([np.mean([lengths.get(group[name], np.nan) for group in groups]) for name in names])
    is_complete = ~np.isnan(system_values).any(axis=(1, 2))
    has_control = np.zeros(len(values), dtype=bool)
    if real_text in scores and CONTROL in values:
        has_control = values[CONTROL].notna().to_numpy()
    table = values.index.to_frame(index=False).assign(
        systems=len(names) + has_control, reason=_reasons(values, groups, names, is_complete)
    )
    for coefficient in COEFFICIENTS:
        table[[f"{coefficient}{end}" for end in (*_COLUMNS_OF_COEFFICIENT, *_GIVEN)]] = np.nan
        for rows, with_control in ((is_complete & has_control, True), (is_complete & ~has_control, False)):
            if not rows.any():
                continue
            x, y, z = system_values[rows], human_scores, mean_lengths
            if with_control and real_text is not None:
                control = np.broadcast_to(values[CONTROL].to_numpy()[rows, None, None], (*x.shape[:2], 1))
                x, y = np.concatenate([x, control], axis=2), np.append(human_scores, scores[real_text])
                z = np.append(z, lengths.get(CONTROL, np.nan))
            _fill(table, rows, coefficient, correlate(x, y, coefficient, resampling))
            if np.isfinite(z).all():
                partial = correlate_given(x, y, z, coefficient, resampling.confidence)
                columns = (partial.value, partial.low, partial.high, partial.p_value)
                table.loc[rows, [f"{coefficient}{end}" for end in _GIVEN]] = np.stack(columns, axis=1)
        table[f"{coefficient}_p_adjusted"] = benjamini_hochberg(table[f"{coefficient}_p_value"])
    return table


def _fill(table: pd.DataFrame, rows: NDArray[np.bool_], coefficient: str, correlations: Correlations) -> None:
    """Write correlations into their rows; a reason that concerns one coefficient only names it."""
    columns: dict[str, Array] = {
        "": correlations.value,
        "_abs": np.abs(correlations.value),
        "_low": correlations.low,
        "_high": correlations.high,
        "_seed_sd": correlations.seed_sd,
        "_p_value": correlations.p_value,
    }
    for end, column in columns.items():
        table.loc[rows, f"{coefficient}{end}"] = column
    reasons = table.loc[rows, "reason"]
    table.loc[rows, "reason"] = [
        before or (f"{coefficient}: {reason}" if reason.startswith("infinite") else reason)
        for before, reason in zip(reasons, correlations.reason, strict=True)
    ]


def _reasons(
    values: pd.DataFrame, groups: Sequence[Mapping[str, str]], names: Sequence[str], is_complete: NDArray[np.bool_]
) -> list[str]:
    """Return for each statistic which systems have no value; "" if all have one."""
    systems = list(dict.fromkeys(group[name] for name in names for group in groups))
    missing = values.reindex(columns=systems).isna().to_numpy()
    return [
        ""
        if complete
        else _missing_reason([system for system, is_missing in zip(systems, row, strict=True) if is_missing])
        for complete, row in zip(is_complete, missing, strict=True)
    ]


def _missing_reason(systems: Sequence[str]) -> str:
    more = len(systems) - _NAMED
    return "no value for " + ", ".join(systems[:_NAMED]) + (f" and {more} more" if more > 0 else "")
