"""The result of a run in two plain sentences: the verdict, and the clearest difference in the reader's words."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from macroscope.critics import get_critic
from macroscope.gaps import UNUSABLE
from macroscope.phrases import choose_form, group_names, list_names
from macroscope.reporting.by_label import MOST_SHOWN, render_labels, show_labels
from macroscope.reporting.course import course_table, describe_short_texts, summarise_courses
from macroscope.reporting.differences import describe_difference, find_clearest, find_differences, sort_critics
from macroscope.reporting.formats import format_percent_inline
from macroscope.reporting.matched_length import describe_lengths, read_matched_lengths
from macroscope.reporting.reasons import read_reasons, render_reasons
from macroscope.reporting.scorecard import (
    INCONCLUSIVE,
    INTERVAL_VERDICTS,
    LIKE,
    UNLIKE,
    WARNING,
    Scorecard,
    Verdict,
    build_scorecards,
    read_scorecard,
)
from macroscope.reporting.sensitivity_summary import cite_sensitivity, list_found_damages
from macroscope.runs.results import Results, read_statistics, read_warnings
from macroscope.systems import kinds

YOURS = "your texts"
"""Label of the kind of systems that are texts of the user's own."""


def summarise_run(results: Results, scorecard: pd.DataFrame, statistics: pd.DataFrame) -> str:
    """Return the result of a run in plain sentences, a line per corpus; "" without a scorecard."""
    answers = summarise_corpora(results, scorecard, statistics)
    return "\n".join(f"{corpus}: {answer}" if len(answers) > 1 else answer for corpus, answer in answers.items())


def summarise_corpora(results: Results, scorecard: pd.DataFrame, statistics: pd.DataFrame) -> dict[str, str]:
    """Return corpus -> the result on it in plain sentences.

    Corpora with checks alone are left out if another corpus has candidates.

    Parameters
    ----------
    results
        Results of the run.
    scorecard
        Scorecard table.
    statistics
        All statistics, with adjusted p-values.
    """
    every = list(build_scorecards(scorecard))
    answers = {}
    for each in [each for each in every if set(each.candidates) - each.declared] or every:
        wrapped = {name: text for name, text in results.config.wrapped.items() if name in each.candidates}
        warnings = [
            f"{WARNING} More than structure gives {list_names(names)} away: {text}."
            for text, names in group_names(wrapped).items()
        ]
        damages = _damages_sentence(results, scorecard, each) if len(each.candidates) == 1 else ""
        sentences = [
            *warnings,
            *summarise_scorecard(each, subjects_of(results, each)),
            damages,
            _clearest_sentence(each, statistics),
        ]
        answers[each.corpus] = " ".join(filter(None, sentences))
    return answers


def list_remarks(results: Results, tables: Path) -> list[str]:
    """Return blocks of text to show below the scorecard: by label, what decided verdicts, notes, warnings."""
    by_label = render_labels(show_labels(results, read_statistics(tables), tables), tables)
    blocks = [
        *by_label,
        render_reasons(read_reasons(tables)),
        *list_notes(results, tables),
        *list_warnings(results, tables),
    ]
    return [*filter(None, blocks)]


def list_notes(results: Results, tables: Path) -> list[str]:
    """Return sentences about a run's numbers: at matched length, damages that would be found, courses, labels."""
    statistics, scorecard = read_statistics(tables), read_scorecard(tables)
    courses, views = course_table(statistics), show_labels(results, statistics, tables)
    key = ["corpus", "system", "critic"]
    unusable = pd.MultiIndex.from_frame(scorecard.loc[scorecard["verdict"] == UNUSABLE, key])
    courses = courses[~pd.MultiIndex.from_frame(courses[key]).isin(unusable)]
    return [
        *describe_lengths(read_matched_lengths(tables), scorecard, results.unmatched),
        *cite_sensitivity(results.config.cited_sensitivity, scorecard),
        *summarise_courses(courses, results.contents.pairs),
        *describe_short_texts(statistics, results.contents.pairs),
        *dict.fromkeys(note for view in [*views.values()][:MOST_SHOWN] for note in view.sentences),
    ]


def list_warnings(results: Results, tables: Path) -> list[str]:
    """Return the warnings of a run, and what is missing, without those that stand in notes on the scorecard."""
    in_notes = set(read_scorecard(tables)["explanation"])
    rows = [row for row in read_warnings(tables).itertuples() if row.warning not in in_notes]
    return [
        *(f"Warning ({row.critic}): {row.warning}" for row in rows),
        *(f"Missing: {entry.name} {entry.note}" for entry in results.missing if not entry.is_in_scorecard),
    ]


def subjects_of(results: Results, scorecard: Scorecard) -> dict[str, str]:
    """Return candidate -> words for its texts: "the texts of gpt2-xl", or "your texts" for a user's only ones."""
    labels = {system: kinds()[results.config.system(system).kind].data.label for system in scorecard.candidates}
    is_only_yours = list(labels.values()) == [YOURS]
    return {system: YOURS if is_only_yours else f"the texts of {system}" for system in labels}


def summarise_scorecard(scorecard: Scorecard, subjects: Mapping[str, str]) -> list[str]:
    """Return the verdict on the candidates of a corpus: on one, or on the worst, the best and those like real text.

    Parameters
    ----------
    subjects
        Candidate -> words for its texts.
    """
    systems = scorecard.candidates
    if len(systems) == 1:
        return [_capitalized(_judge_one(scorecard, systems[0], subjects[systems[0]]))]
    named = {verdict: [name for name in systems if scorecard.overall_verdict(name) == verdict] for verdict in _GROUPS}
    unlike = named[UNLIKE]
    if not unlike:
        first = f"None of {len(systems)} systems differs from real text."
    elif len(unlike) == 1:
        first = f"1 of {len(systems)} systems differs from real text: {unlike[0]}, in {_aspects(scorecard, unlike[0])}."
    else:
        share = (
            "Both"
            if len(unlike) == len(systems) == 2
            else f"All {len(systems)}"
            if len(unlike) == len(systems)
            else f"{len(unlike)} of {len(systems)}"
        )
        aspects = {name: _aspects(scorecard, name) for name in unlike}
        worst, best = unlike[0], unlike[-1]
        first = (
            f"{share} systems differ from real text, each in {aspects[worst]}: {worst} most, {best} least."
            if len(set(aspects.values())) == 1
            else f"{share} systems differ from real text: {worst} most (in {aspects[worst]}),"
            f" {best} least (in {aspects[best]})."
        )
    return [
        first,
        *(f"{words}: {list_names(named[verdict])}." for verdict, words in _GROUPS.items() if words and named[verdict]),
    ]


_GROUPS: dict[Verdict, str] = {
    UNLIKE: "",
    LIKE: "Like real text",
    INCONCLUSIVE: "Too few texts to tell",
    UNUSABLE: "Judged by no usable critic",
}


def _judge_one(scorecard: Scorecard, system: str, subject: str) -> str:
    verdict = scorecard.overall_verdict(system)
    warned = ", by critics with a warning alone" if scorecard.is_only_warned(system) else ""
    if verdict == UNLIKE:
        return f"{subject} differ from real text in {_aspects(scorecard, system)}{warned}."
    if verdict == LIKE:
        return f"{subject} are like real text in {_aspects(scorecard, system)}{warned}."
    if verdict == UNUSABLE:
        return f"no critic is accurate enough on {subject} for a verdict."
    if like := scorecard.critics_with_verdict(system, LIKE):
        of_all = len(_judging(scorecard, system))
        others = choose_form(of_all - len(like), "other", "others")
        return f"{subject} are like real text in {len(like)} of {of_all} aspects, and too few to tell in the {others}."
    return f"{subject} are not told from real text, but too few to be called like it."


def _aspects(scorecard: Scorecard, system: str) -> str:
    """Return in how many aspects the overall verdict holds: "5 of 6 aspects"; the aspect itself if there is one."""
    judging, deciding = (
        _judging(scorecard, system),
        scorecard.critics_with_verdict(system, scorecard.overall_verdict(system)),
    )
    if len(judging) == 1:
        return get_critic(judging[0]).data.observes or judging[0]
    if len(deciding) < len(judging):
        return f"{len(deciding)} of {len(judging)} aspects"
    return "both aspects" if len(judging) == 2 else f"all {len(judging)} aspects"


def _judging(scorecard: Scorecard, system: str) -> list[str]:
    return [critic for critic, cell in scorecard.rows[system].items() if cell["verdict"] in INTERVAL_VERDICTS]


def _damages_sentence(results: Results, table: pd.DataFrame, scorecard: Scorecard) -> str:
    (system,) = scorecard.candidates
    if scorecard.overall_verdict(system) != LIKE:
        return ""
    rows = table[(table["corpus"] == scorecard.corpus) & (table["system"] == system)]
    damages = list_found_damages(results.config.cited_sensitivity, rows)
    return f"Among as many texts, these damages would have been found: {damages}." if damages else ""


def _clearest_sentence(scorecard: Scorecard, statistics: pd.DataFrame) -> str:
    """Return a sentence about the clearest difference of the worst candidate; "" if none is unlike real text."""
    system = next((name for name in scorecard.candidates if scorecard.overall_verdict(name) == UNLIKE), None)
    if system is None:
        return ""
    critics = scorecard.deciding_critics(system) or scorecard.critics_with_verdict(system, UNLIKE)
    clearest = {
        critic: difference
        for critic in critics
        if (difference := find_clearest(find_differences(statistics, critic, scorecard.corpus, system))) is not None
    }
    named = "" if len(scorecard.candidates) == 1 else f", in the texts of {system}"
    if clearest:
        return f"Clearest{named}: they {describe_difference(clearest[sort_critics(clearest)[0]])}."
    aucs = {critic: scorecard.rows[system][critic]["c2st_auc"] for critic in critics}
    surest = max(aucs, key=lambda critic: float(aucs[critic]))
    aspect, share = get_critic(surest).data.observes or surest, format_percent_inline(aucs[surest])
    return f"Clearest{named}: a classifier tells them from real texts by {aspect}, in {share} of pairs."


def _capitalized(text: str) -> str:
    return text[:1].upper() + text[1:]
