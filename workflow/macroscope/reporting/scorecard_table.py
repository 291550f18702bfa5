"""The table of the scorecard: a row per corpus, system and critic, with a number, or the reason why there is none."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.declaration import difference_tests
from macroscope.critics.findings import ReportItem
from macroscope.gaps import TOO_FEW, Gap, find_gap
from macroscope.options import CONTROL, SPLIT_HALF, is_matched, matched_system
from macroscope.reporting.critic_stages import select_rows
from macroscope.reporting.formats import format_percent_inline, look_up_estimate
from macroscope.reporting.headline import ChapterKey
from macroscope.reporting.matched_length import matched_columns
from macroscope.reporting.scorecard import (
    COLUMNS,
    FEWEST_PER_HALF,
    INTERVAL_VERDICTS,
    RATIO,
    TOO_FEW_TO_SAY,
    UNLIKE,
    WARNING,
    decide_verdict,
    is_too_few_to_say,
)
from macroscope.runs.results import Results
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC, MINIMUM_DETECTABLE
from macroscope.statistics.decisive_features import MOST, SHARE
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.statistics.word_kinds import CONTENT_WORDS, FUNCTION_WORDS, is_only_content
from macroscope.systems import kinds

_MOSTLY = 0.5
"""Share of the detectability from which on its few decisive words are no subject: a name, a token."""


def chapters_with_warnings(items: Mapping[ChapterKey, Sequence[ReportItem]]) -> set[ChapterKey]:
    return {chapter for chapter, contributed in items.items() if any(item.warning for item in contributed)}


def scorecard_table(
    results: Results, statistics: pd.DataFrame, unusable: Sequence[Gap], warned: set[ChapterKey]
) -> pd.DataFrame:
    """Build the scorecard table: a row per corpus, system and critic, also for cells that have no number.

    Systems are in the order of the config, columns are `COLUMNS`. Rows without a number have its reason from where it
    is known: the plan (`plan.comparisons`), the critic's report, or the two-sample test.

    Parameters
    ----------
    results
        Results of the run.
    statistics
        All statistics of the run, with adjusted p-values.
    unusable
        Gaps of critics, corpora and systems for which the projection is too inaccurate for a verdict.
    warned
        (critic, corpus) chapters with a warning.
    """
    rows = []
    indexed = statistics.set_index(["corpus", "system", "critic", "statistic"])
    config, wrapped = results.config.statistics, results.config.wrapped
    for critic, corpus in results.contents.chapters:
        chapter = select_rows(statistics, critic, corpus)
        tests = difference_tests(get_critic(critic), chapter)
        assessed = {
            row["system"]: row | _assess(row, tests, config.margin)
            for row in chapter[chapter["statistic"] == C2ST_AUC].to_dict("records")
        }
        smallest = chapter[chapter["statistic"] == MINIMUM_DETECTABLE].set_index("system")["value"]
        for system, row in assessed.items():
            if is_matched(system):
                continue
            gap = find_gap(unusable, corpus, system, critic)
            rows.append(
                {
                    **row,
                    **_judge(row, gap, indexed, wrapped.get(system)),
                    **look_up_estimate(indexed, (corpus, system, critic, RATIO), RATIO),
                    "check": _is_check(results, system),
                    "warned": (critic, corpus) in warned,
                    "c2st_auc": row["value"],
                    "smallest": smallest[system],
                }
            )
            if (matched := assessed.get(matched_system(system))) is not None:
                at_matched = (
                    matched
                    | _judge(matched, gap, indexed, wrapped.get(system))
                    | {"smallest": smallest[matched_system(system)]}
                )
                rows[-1] |= matched_columns(row, at_matched, config.confidence)
    rows += _empty_cells(results, {(row["corpus"], row["system"]) for row in rows})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _judge(row: Mapping[str, Any], unusable: Gap | None, indexed: pd.DataFrame, wrapper: str | None) -> dict[str, str]:
    """Return verdict, reason and explanation of a row of `c2st_auc`; the explanation may hint at a false cause."""
    gap = unusable or _find_too_few(row)
    if gap is not None:
        return gap.cell
    warnings = [f"{WARNING} {wrapper}"] if wrapper and row["verdict"] in INTERVAL_VERDICTS else []
    explanation = "; ".join([*warnings, *filter(None, [describe_subjects(row, indexed)])])
    return {"verdict": row["verdict"], "reason": "", "explanation": explanation}


def _find_too_few(row: Mapping[str, Any]) -> Gap | None:
    if is_too_few_to_say(row["system"], row["n_reference"], row["n_candidate"]):
        why = f"halves of fewer than {FEWEST_PER_HALF} real texts differ by chance alone"
    elif pd.isna(row["value"]):
        why = row["reason"] if pd.notna(row["reason"]) else ""
    else:
        return None
    place = {name: row[name] for name in ("corpus", "system", "critic")}
    return Gap(kind=TOO_FEW, **place, reason=TOO_FEW_TO_SAY, explanation=why)


def describe_subjects(row: Mapping[str, Any], indexed: pd.DataFrame) -> str:
    """Return a note if unpaired texts are unlike real text by content words alone, and by many; else "".

    Parameters
    ----------
    row
        Row of `c2st_auc` with its verdict.
    indexed
        Statistics by corpus, system, critic and statistic.
    """
    key = row["corpus"], row["system"], row["critic"]
    if row["verdict"] != UNLIKE or row["system"] == SPLIT_HALF or row["n_paired"]:
        return ""
    if (*key, CONTENT_WORDS) not in indexed.index:
        return ""
    function, content = (indexed.loc[(*key, name)] for name in (FUNCTION_WORDS, CONTENT_WORDS))
    decisive = sum(indexed["value"].get((*key, f"{SHARE}{rank}"), 0.0) for rank in range(1, MOST + 1))
    if not is_only_content(function, content) or decisive >= _MOSTLY:  # a subject has many words, a wrapper few
        return ""
    return (
        f"content words tell them apart ({format_percent_inline(content['value'])}), function words do not"
        f" ({format_percent_inline(function['value'])}): the texts may be on other subjects than the real ones"
    )


def _empty_cells(results: Results, filled: Set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each cell without a number: those of systems that some critic judges, and of real text.

    Parameters
    ----------
    filled
        (corpus, system) of the other rows.
    """
    for (critic, corpus, name), gap in results.empty_cells.items():
        system = SPLIT_HALF if name == CONTROL else name
        if (corpus, system) not in filled:
            continue
        yield {
            "corpus": corpus,
            "system": system,
            "check": _is_check(results, system),
            "critic": critic,
            "warned": False,
            **gap.cell,
        }


def _assess(row: Mapping[str, Any], tests: pd.DataFrame, margin: float) -> dict[str, Any]:
    """Return the verdict on a row of `c2st_auc`, and the numbers of tests of its system and of those that differ."""
    adjusted = tests.loc[tests["system"] == row["system"], "p_adjusted"]
    different = int((adjusted < SIGNIFICANT).sum())
    verdict = decide_verdict(row["value"], row["ci_low"], row["ci_high"], margin, different)
    return {"tests": len(adjusted), "different": different, "verdict": verdict}


def _is_check(results: Results, system: str) -> bool:
    if system == SPLIT_HALF:
        return False
    return kinds()[results.config.system(system).kind].data.check
