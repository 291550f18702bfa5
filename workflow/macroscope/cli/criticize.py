"""`macroscope criticize`: compare your texts with real ones, in one command."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from macroscope.cli.flags import (
    By,
    Candidates,
    Cores,
    Critics,
    DeviceFlag,
    Encoder,
    Language,
    Seed,
    reads_texts,
    real_texts,
)
from macroscope.errors import UsageError
from macroscope.printing import Json, print_json, records_of

if TYPE_CHECKING:
    import pandas as pd

    from macroscope.criticize.choice import Choice
    from macroscope.criticize.inputs import GivenFields
    from macroscope.plan import Plan

_MOST_COLUMNS = 5
"""Largest number of collections that have a column each in the profile."""
_LONGEST_CELL = 60
"""Largest number of characters of a cell of the profile's table; longer ones are lines below it."""
_SHORT_PROPERTIES = (
    *("documents", "words", "language", "left out"),
    *("differs from the reference in", "openings of the reference", "copies of real texts"),
)
"""Properties that more collections have, a row each; `profile.csv` and --json have all."""


@reads_texts
def criticize(
    *,
    candidate: Candidates,
    reference: Annotated[list[Path] | None, real_texts("those in the candidates' files")] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the config, the results and the report; needed to judge."),
    ] = None,
    given: "GivenFields",
    critic: Critics = None,
    encoder: Encoder = None,
    device: DeviceFlag = "auto",
    language: Language = None,
    matched_length: Annotated[
        bool,
        typer.Option("--matched-length", help="Compare at matched length, too: texts of the longer side are cut."),
    ] = False,
    by: By = None,
    sensitivity: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="matrix.csv of `macroscope sensitivity` on such texts, for the report to cite."
        ),
    ] = None,
    without_texts: Annotated[
        bool,
        typer.Option("--without-texts", help="Leave no sentence, title or id of a text in the output."),
    ] = False,
    seed: Seed = 1,
    cores: Cores = "all",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Profile the texts, and stop.")] = False,
    json: Json = False,
) -> None:
    """Judge whether your texts have the structure of real ones.

    It first profiles the texts, in seconds, and prints which critics can judge them. Then it writes OUTPUT/config.yaml,
    runs the workflow on it and prints the scorecard. Run again, it goes on where it stopped; a config that you have
    edited is used as it is. Exit status: 0, 5 if critics failed and are missing from the report, 1 if there is no
    report, 2 wrong usage.
    """
    from macroscope.criticize import run
    from macroscope.criticize.checks import LANGUAGES, SURROUNDINGS, TEXTS, describe
    from macroscope.criticize.choice import choose, given_options
    from macroscope.criticize.folder import require_output
    from macroscope.criticize.inputs import store_standard_input
    from macroscope.criticize.kept_profile import without_ids
    from macroscope.criticize.profile import choose_language
    from macroscope.criticize.profile_table import records_of as records_of_profiles
    from macroscope.criticize.profile_table import table_of
    from macroscope.criticize.run import criticize_without_texts
    from macroscope.fields import as_option, word_all, word_fields
    from macroscope.natural_language.languages import require_code

    if language is not None:
        require_code(language)
    if output is not None:
        require_output(output)
    elif not dry_run:
        raise UsageError("no folder for the report: give --output FOLDER, or --dry-run to profile the texts alone")
    output = output or Path("judged")  # of a dry run: the name of what came from the standard input
    options = given_options(critic or [], encoder)
    paths = store_standard_input([*candidate, *(reference or [])], output)
    candidate, real = paths[: len(candidate)], paths[len(candidate) :]
    profile, profiles = run.profile_collections(real, candidate, replace(given, label=by))
    if without_texts:
        profile, profiles = without_ids(profile), [without_ids(each) for each in profiles]
    chosen_language = choose_language(profile.languages, language)
    as_shown = partial(word_fields, words=as_option)
    first, then = (
        [*map(as_shown, describe(checks, profile, profiles, language))]
        for checks in ((*SURROUNDINGS, *LANGUAGES), TEXTS)
    )
    table = table_of(profile, profiles).map(as_shown)
    if not json:
        print_profile(table, first, then)
    choice = choose(profile, profiles, critic or [], chosen_language, options)
    if not json:
        _print_choice(choice, choice.compared(profile))
    config = run.implied_config(profile, profiles, choice, seed, chosen_language, matched_length)
    if sensitivity is not None:
        config["cited_sensitivity"] = _require_matrix(sensitivity)
    answer: dict[str, Any] = {
        "collections": word_all(records_of_profiles(profile, profiles), as_option),
        "critics": choice.compared(profile),
        "notes": [*first, *then, *choice.reasons],
    }
    if dry_run:
        run.plan_of(config)  # reports the errors with which a run would begin
        if json:
            print_json(answer)
        return
    described = table.rename_axis("property").reset_index()
    judge = criticize_without_texts if without_texts else run.criticize
    plan = judge(config, (profile, *profiles), described, output, cores, device)
    _finish(plan, output, answer if json else None)


def _require_matrix(path: Path) -> str:
    """Return the absolute path of a matrix of sensitivity, which must be readable."""
    from macroscope.reporting.sensitivity_summary import read_matrix

    read_matrix(path)
    return str(path.resolve())


def print_profile(table: "pd.DataFrame", first: Sequence[str], then: Sequence[str] = ()) -> None:
    """Print the profiles of all collections, with sentences before and after the table."""
    from macroscope.criticize.profile_table import READ_AS_ROW
    from macroscope.phrases import group_names, list_names

    for described, names in group_names(table.loc[READ_AS_ROW].to_dict()).items():
        print(f"{list_names(names)}: read as {described}")
    for sentence in first:
        print(f"\n{sentence}")
    print(f"\n{_as_text(table.drop(READ_AS_ROW))}")
    for sentence in then:
        print(f"\n{sentence}")


def _as_text(table: "pd.DataFrame") -> str:
    """Return the profiles as text: a column per collection, or a row per collection with few properties; long cells."""
    import pandas as pd

    from macroscope.criticize.profile_table import drop_empty_rows
    from macroscope.phrases import group_names, list_names

    long = [name for name, cells in table.iterrows() if cells.str.len().max() > _LONGEST_CELL]
    grouped = {name: group_names(table.loc[name].to_dict()) for name in long}
    lines = [f"{name}, {list_names(of)}: {cell}" for name, cells in grouped.items() for cell, of in cells.items()]
    table = table.drop(long)
    if table.shape[1] > _MOST_COLUMNS:
        table = table.loc[[name for name in _SHORT_PROPERTIES if name in table.index]].T
    else:
        table = drop_empty_rows(table)
    with pd.option_context("display.unicode.east_asian_width", True):
        return "\n".join([table.to_string(max_colwidth=None), *lines])


def _print_choice(choice: "Choice", compared: dict[str, int]) -> None:
    """Print the critics that will run, and why others are left out."""
    from macroscope.phrases import choose_form

    numbers = ", ".join(f"{name} ({number:,})" for name, number in compared.items())
    print(f"\nCritics, with the number of real texts that each compares: {numbers}.")
    if choice.splitting:
        learn = choose_form(len(choice.splitting), "learns", "learn")
        print(f"From the other real texts, {', '.join(choice.splitting)} {learn}.")
    if choice.cross_fitted:
        print(f"Fitted to each third of the real texts, and compared on the others: {', '.join(choice.cross_fitted)}.")
    print("\n".join(choice.reasons))


def _finish(plan: "Plan", output: Path, answer: dict[str, Any] | None) -> None:
    """Print the result for people, or with the answer so far as JSON; exit with its own status if a part failed."""
    # Imported only now: the imports take as long as the profile.
    from macroscope.errors import IN_PART
    from macroscope.gaps import SKIPPED, describe_missing
    from macroscope.reporting.by_label import read_label_table
    from macroscope.reporting.reasons import read_reasons
    from macroscope.reporting.scorecard import build_scorecards, read_scorecard
    from macroscope.reporting.scorecard_text import render_legend, render_scorecards
    from macroscope.reporting.summary import list_notes, list_remarks, summarise_run
    from macroscope.runs.results import read_run, read_statistics, read_warnings

    folder = output / plan.results
    results, tables = read_run(folder), folder / "tables"
    missing, scorecard = results.missing, read_scorecard(tables)
    summary = summarise_run(results, scorecard, read_statistics(tables))
    places = {
        "Report": folder / "report.html",
        "Texts": folder / "reader" / "index.html",
        "Config": output / "config.yaml",
    }
    if answer is not None:
        answer["notes"] += list_notes(results, tables)
        answer |= {"scorecard": records_of(scorecard), "reasons": records_of(read_reasons(tables))}
        answer |= {"by_label": records_of(read_label_table(tables))}
        answer |= {"warnings": records_of(read_warnings(tables))}
        answer["missing"] = [entry.record for entry in missing]
        print_json({"summary": summary} | answer | {name.lower(): str(path) for name, path in places.items()})
    else:
        # The reasons of critics that are skipped altogether stand above.
        judges = (scorecard["verdict"] != SKIPPED).groupby(scorecard["critic"]).transform("any")
        scorecards = list(build_scorecards(scorecard[judges]))
        print(f"\n{render_scorecards(scorecards)}\n\n{render_legend(scorecards, plan.config.statistics.margin)}")
        for remark in list_remarks(results, tables):
            print(f"\n{remark}")
        print("\n" + "\n".join(f"{name + ':':7} {path}" for name, path in places.items()))
        if missing:
            print(f"{describe_missing(missing)}.")
        if summary:
            print(f"\n{summary}")
    if missing:
        raise typer.Exit(IN_PART)
