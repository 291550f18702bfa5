"""`macroscope criticize`: compare your texts with real ones, in one command."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.flags import Seed


def criticize(
    candidate: Annotated[
        list[Path],
        typer.Option(help="Texts to judge: a file or folder of any format that is known, or -; repeatable."),
    ],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the config, the results and the report.")],
    reference: Annotated[
        list[Path] | None,
        typer.Option(help="Real texts, in the same formats; repeatable. Default: those in the candidates' files."),
    ] = None,
    text_field: Annotated[str | None, typer.Option(metavar="NAME", help="Field of the text to judge.")] = None,
    prompt_field: Annotated[
        str | None, typer.Option(metavar="NAME", help="Field of the prompt, which pairs texts and is not judged.")
    ] = None,
    id_field: Annotated[str | None, typer.Option(metavar="NAME", help="Field of the id, which pairs texts.")] = None,
    reference_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Field of the real text, in the reference or in the candidates' files."),
    ] = None,
    model_field: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Field of the model, each of which is a candidate of its own."),
    ] = None,
    critic: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Critic to run; repeatable. Default: the critics that declare it."),
    ] = None,
    language: Annotated[
        str | None, typer.Option(metavar="CODE", help="Language of the texts (ISO 639-1). Default: it is recognized.")
    ] = None,
    matched_length: Annotated[
        bool,
        typer.Option("--matched-length", help="Compare at matched length, too: texts of the longer side are cut."),
    ] = False,
    sensitivity: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="matrix.csv of `macroscope sensitivity` on such texts, for the report to cite."
        ),
    ] = None,
    seed: Seed = 1,
    cores: Annotated[str, typer.Option(metavar="NUMBER", help="Number of cores, or 'all'.")] = "all",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Profile the texts, and stop.")] = False,
) -> None:
    """Judge whether your texts have the structure of real ones.

    It first profiles the texts, in seconds, and prints which critics can judge them. Then it writes OUTPUT/config.yaml,
    runs the workflow on it and prints the scorecard. Run again, it goes on where it stopped; a config that you have
    edited is used as it is. Exit status: 0, 5 if critics failed and are missing from the report, 1 if there is no
    report, 2 wrong usage.
    """
    from macroscope.criticize import run
    from macroscope.criticize.inputs import GivenFields
    from macroscope.criticize.languages import choose_language, describe_differences
    from macroscope.criticize.profile import READ_AS_ROW, table_of
    from macroscope.criticize.standard_input import store_standard_input
    from macroscope.criticize.typesetting import describe_typesetting
    from macroscope.natural_language.languages import require_code

    require_cores(cores)
    if language is not None:
        require_code(language)
    run.require_output(output)
    given = GivenFields(text_field, prompt_field, id_field, reference_field, model_field)
    paths = store_standard_input([*candidate, *(reference or [])], output)
    candidate, real = paths[: len(candidate)], paths[len(candidate) :]
    profile, profiles = run.profile_collections(real, candidate, given)
    table = table_of(profile, profiles)
    for name, described in table.loc[READ_AS_ROW].items():
        print(f"{name}: read as {described}")
    spoken = choose_language(profile.languages, language)
    for sentence in describe_differences(
        profile.languages, {each.name: each.languages for each in profiles}, spoken, language
    ):
        print(f"\n{sentence}")
    print(f"\n{table.drop(READ_AS_ROW).to_string(max_colwidth=None)}")
    for sentence in describe_typesetting(profile.marks, {each.name: each.marks for each in profiles}):
        print(f"\n{sentence}")
    choice = run.choose(profile, profiles, critic or [], spoken)
    compared = ", ".join(f"{name} ({number:,})" for name, number in choice.compared(profile).items())
    print(f"\nCritics, with the number of real texts that each compares: {compared}.")
    if choice.learning:
        print(f"From the other real texts, {', '.join(choice.learning)} learn.")
    print("\n".join(choice.reasons))
    config = run.implied_config(profile, profiles, choice, seed, spoken, matched_length)
    if sensitivity is not None:
        from macroscope.reporting.cited_sensitivity import read_matrix

        read_matrix(sensitivity)
        config["cited_sensitivity"] = str(sensitivity.resolve())
    if dry_run:
        run.plan_of(config)  # reports the errors with which a run would begin
        return
    shown = table.rename_axis("property").reset_index()
    plan = run.criticize(config, (profile, *profiles), shown, output, cores)
    # Imported only now: the imports take as long as the profile.
    from macroscope.errors import IN_PART
    from macroscope.missing import describe_missing, read_missing
    from macroscope.reporting.cited_sensitivity import cite_sensitivity
    from macroscope.reporting.matched_length import describe_lengths, read_matched_lengths
    from macroscope.reporting.scorecard_text import render_legend, render_scorecard
    from macroscope.reporting.tables import read_scorecard, read_warnings

    tables = output / plan.results / "tables"
    missing = read_missing(tables, tables.with_name("figures"))
    print(f"\n{render_scorecard(read_scorecard(tables), missing)}\n\n{render_legend(plan.config.statistics.margin)}")
    for sentence in describe_lengths(read_matched_lengths(tables), read_scorecard(tables), plan.critics.unmatched):
        print(f"\n{sentence}")
    for sentence in cite_sensitivity(plan.config.cited_sensitivity, read_scorecard(tables)):
        print(f"\n{sentence}")
    for critic_of, _, title, warning in read_warnings(tables).itertuples(index=False):
        print(f"\nWarning ({critic_of}, {title}): {warning}")
    for entry in missing:
        print(f"\nMissing: {entry.name} {entry.explanation}")
    texts = output / plan.results / "reader" / "index.html"
    print(f"\nReport: {output / plan.results / 'report.html'}\nTexts:  {texts}\nConfig: {output / 'config.yaml'}")
    if missing:
        print(f"{describe_missing(missing)}.")
        raise typer.Exit(IN_PART)


def require_cores(cores: str) -> None:
    """Check that `--cores` is a number above 0, or 'all'."""
    from macroscope.errors import UsageError

    if cores != "all" and not (cores.isdecimal() and int(cores)):
        raise UsageError(f"--cores {cores}: give a whole number above 0, or 'all'")
