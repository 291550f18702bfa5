"""Tidy statistics of systems against what people said of them: a row a question and statistic."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope import __version__
from macroscope.errors import MacroscopeError, nearest
from macroscope.options import CONTROL
from macroscope.statistics.correlation import COEFFICIENTS, EXACT_SYSTEMS, Correlations, correlate
from macroscope.statistics.document_sums import Array
from macroscope.statistics.judgements import Judgements, check_mapping, read_judgements, same_names, seed_groups
from macroscope.statistics.latent import Resampling
from macroscope.statistics.p_values import benjamini_hochberg

log = logging.getLogger("macroscope")

_OF_COEFFICIENT = ("", "_abs", "_low", "_high", "_seed_sd", "_p_value", "_p_adjusted")
COLUMNS = (
    *("corpus", "table", "question", "critic", "statistic", "systems", "seeds"),
    *(f"{coefficient}{end}" for coefficient in COEFFICIENTS for end in _OF_COEFFICIENT),
    *("seed", "signature", "reason"),
)
"""`systems`: their number, real text included where it counts; `seeds`: groups of seeds; `_abs`: eq. 4 of pimentel2022,
of the mean over the groups; `reason` says why a coefficient is NaN."""
_NAMED = 3
"""So many systems without a value are named."""


def correlate_file(
    statistics: Path,
    table: str,
    resampling: Resampling,
    *,
    mapping: Mapping[str, str] | None = None,
    real_text: str | None = None,
    corpus: str | None = None,
) -> pd.DataFrame:
    """Correlate a file of tidy statistics with a table of human judgements: `correlate_statistics` outside a run.

    Parameters
    ----------
    statistics
        CSV with the columns system, statistic, value; critic and corpus where there are several.
    table
        Name of a built-in table, or path of a CSV.
    mapping
        System -> name in the table; default: the systems that have the same name in both.
    corpus
        Which one, where the file has several.
    """
    judgements, rows = read_judgements(table), _of_corpus(read_statistics(statistics), corpus, statistics)
    systems = [system for system in dict.fromkeys(rows["system"]) if system != CONTROL]
    for system in mapping or {}:
        if system not in systems:
            raise MacroscopeError(f"{statistics}: there is no system '{system}'{nearest(system, systems)}")
    if mapping is None:
        mapping = same_names(judgements, systems, real_text)
    check_mapping(mapping, real_text, judgements, str(statistics))
    others = [system for system in systems if system not in mapping]
    if others:
        log.info("without a human score, not counted: %s", ", ".join(others))
    return correlate_statistics(
        rows, judgements, mapping, resampling, corpus=rows["corpus"].iloc[0], real_text=real_text
    )


def read_statistics(path: Path) -> pd.DataFrame:
    """Read tidy statistics of any origin: corpus, critic, system, statistic, value, whatever else it has left out."""
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
    known = {name: table.get(name, "") for name in ("corpus", "critic")}
    return table[["system", "statistic"]].assign(**known, value=values)


def _of_corpus(statistics: pd.DataFrame, corpus: str | None, path: Path) -> pd.DataFrame:
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
) -> pd.DataFrame:
    """Correlate every statistic of every critic with the scores of every question.

    Parameters
    ----------
    statistics
        Tidy statistics of one corpus: critic, statistic, system, value.
    mapping
        System -> name in the table; several systems with one name are its seeds (`judgements.seed_groups`).
    real_text
        Name in the table of what the control is compared with, wherever the control has a value.

    Returns
    -------
    data frame
        `COLUMNS`. Both coefficients keep their sign: a distance that people agree with has a negative one. A statistic
        without a value for one of the systems has none, and a reason. p-values are adjusted (Benjamini-Hochberg) over
        all statistics of a question, each coefficient by itself.
    """
    groups = seed_groups(mapping, f"the table '{judgements.name}'")
    values = _by_system(statistics)
    asked = [
        _of_question(values, groups, scores, real_text, resampling).assign(question=question)
        for question, scores in judgements.scores.items()
    ]
    parts = (
        f"macroscope:{__version__}",
        f"intervals:fisher_z,bonett_wright|exact_up_to:{EXACT_SYSTEMS}",
        f"permutations:{resampling.permutations}|confidence:{resampling.confidence}",
    )
    fixed = {"corpus": corpus, "table": judgements.name, "seeds": len(groups), "seed": resampling.seed}
    return pd.concat(asked, ignore_index=True).assign(**fixed, signature="|".join(parts))[list(COLUMNS)]


def _by_system(statistics: pd.DataFrame) -> pd.DataFrame:
    """Values with a row a (critic, statistic), in the order of their appearance, and a column a system."""
    keys = ["critic", "statistic", "system"]
    twice = statistics[statistics.duplicated(keys)]
    if len(twice):
        critic, statistic, system = twice.iloc[0][keys]
        raise MacroscopeError(f"the statistics have two values of {critic} {statistic} for '{system}'; keep one")
    order = pd.MultiIndex.from_frame(statistics[keys[:2]].drop_duplicates())
    return statistics.set_index(keys)["value"].astype(float).unstack("system").reindex(order)


def _of_question(
    values: pd.DataFrame,
    groups: Sequence[Mapping[str, str]],
    scores: Mapping[str, float],
    real_text: str | None,
    resampling: Resampling,
) -> pd.DataFrame:
    """Correlations of all statistics with the scores of one question."""
    names = [name for name in scores if name in groups[0]]
    ours = np.stack([values.reindex(columns=[group[name] for name in names]) for group in groups], axis=1)
    theirs = np.array([scores[name] for name in names])
    whole = ~np.isnan(ours).any(axis=(1, 2))
    has_control = np.zeros(len(values), dtype=bool)
    if real_text in scores and CONTROL in values:
        has_control = values[CONTROL].notna().to_numpy()
    table = values.index.to_frame(index=False).assign(
        systems=len(names) + has_control, reason=_reasons(values, groups, names, whole)
    )
    for coefficient in COEFFICIENTS:
        table[[f"{coefficient}{end}" for end in _OF_COEFFICIENT]] = np.nan
        for some, with_control in ((whole & has_control, True), (whole & ~has_control, False)):
            if not some.any():
                continue
            x, y = ours[some], theirs
            if with_control and real_text is not None:
                control = np.broadcast_to(values[CONTROL].to_numpy()[some, None, None], (*x.shape[:2], 1))
                x, y = np.concatenate([x, control], axis=2), np.append(theirs, scores[real_text])
            _fill(table, some, coefficient, correlate(x, y, coefficient, resampling))
        table[f"{coefficient}_p_adjusted"] = benjamini_hochberg(table[f"{coefficient}_p_value"])
    return table


def _fill(table: pd.DataFrame, some: NDArray[np.bool_], coefficient: str, found: Correlations) -> None:
    """Put correlations into their rows; a reason of one coefficient alone names it."""
    columns: dict[str, Array] = {
        "": found.value,
        "_abs": np.abs(found.value),
        "_low": found.low,
        "_high": found.high,
        "_seed_sd": found.seed_sd,
        "_p_value": found.p_value,
    }
    for end, column in columns.items():
        table.loc[some, f"{coefficient}{end}"] = column
    known = table.loc[some, "reason"]
    table.loc[some, "reason"] = [
        before or (f"{coefficient}: {why}" if why.startswith("infinite") else why)
        for before, why in zip(known, found.reason, strict=True)
    ]


def _reasons(
    values: pd.DataFrame, groups: Sequence[Mapping[str, str]], names: Sequence[str], whole: NDArray[np.bool_]
) -> list[str]:
    """Which systems have no value, of each statistic; "" where all have one."""
    systems = list(dict.fromkeys(group[name] for name in names for group in groups))
    missing = values.reindex(columns=systems).isna().to_numpy()
    return [
        "" if is_whole else _without([system for system, is_missing in zip(systems, row, strict=True) if is_missing])
        for is_whole, row in zip(whole, missing, strict=True)
    ]


def _without(systems: Sequence[str]) -> str:
    more = len(systems) - _NAMED
    return "no value for " + ", ".join(systems[:_NAMED]) + (f" and {more} more" if more > 0 else "")
