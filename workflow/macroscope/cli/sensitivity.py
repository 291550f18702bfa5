"""`macroscope sensitivity`: which damages of your kind of text the critics find, in one command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from macroscope.cli.criticize import print_profile
from macroscope.cli.flags import Cores, Critics, DeviceFlag, Encoder, Language, Seed, reads_one_side, real_texts
from macroscope.printing import Json, print_json

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields


@reads_one_side
def sensitivity(
    *,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the config, the results and the page.")],
    reference: Annotated[list[Path] | None, real_texts("")] = None,
    corpus: Annotated[
        str | None, typer.Option(metavar="KIND", help="Kind of a simulated corpus, such as wiki, instead of texts.")
    ] = None,
    documents: Annotated[int, typer.Option(min=20, help="Number of documents of the simulated corpus.")] = 300,
    critic: Critics = None,
    quick: Annotated[bool, typer.Option("--quick", help="8 damages and 2 doses: minutes instead of an hour.")] = False,
    given: "GivenFields",
    encoder: Encoder = None,
    device: DeviceFlag = "auto",
    language: Language = None,
    seed: Seed = 1,
    cores: Cores = "all",
    json: Json = False,
) -> None:
    """Measure which damages of texts each critic finds.

    Real texts are damaged in known ways and doses, each critic reads them once, and its test is repeated on subsamples.
    Run again, it goes on where it stopped. Exit status: 0, 5 if critics failed
    and are missing from the page, 1 if there is no page, 2 wrong usage.
    """
    import pandas as pd

    from macroscope.criticize.checks import LANGUAGES, TEXTS, describe
    from macroscope.criticize.choice import given_options
    from macroscope.criticize.folder import require_output
    from macroscope.criticize.profile import choose_language
    from macroscope.criticize.profile_table import records_of, table_of
    from macroscope.criticize.run import criticize
    from macroscope.errors import UsageError
    from macroscope.fields import as_option, word_all, word_fields
    from macroscope.sensitivity import run

    if (corpus is None) == (reference is None):
        raise UsageError("--reference: give real texts, or --corpus, and not both")
    require_output(output)
    options = given_options(critic or [], encoder)
    if corpus is not None:
        config = run.config_of_corpus(corpus, documents, critic or [], seed, quick, options)
        profiles, table = [], pd.DataFrame()
        answer: dict[str, Any] = {}
    else:
        profile = run.profile_reference(reference or [], given)
        chosen_language = choose_language(profile.languages, language)
        notes = [word_fields(sentence, as_option) for sentence in describe((*LANGUAGES, *TEXTS), profile, [], language)]
        described = table_of(profile, []).map(lambda text: word_fields(text, as_option))
        if not json:
            print_profile(described, notes)
        choice = run.choose_critics(profile, critic or [], chosen_language, options)
        answer = {"collections": word_all(records_of(profile, []), as_option), "notes": [*notes, *choice.reasons]}
        if not json:
            print("\n".join([f"\nCritics: {', '.join(choice.critics)}.", *choice.reasons]))
        config, profiles = run.config_of_texts(profile, choice, seed, chosen_language, quick), [profile]
        table = described.rename_axis("property").reset_index()
    plan = criticize(config, profiles, table, output, cores, device)
    _show_result(output / plan.results / "sensitivity", answer, json)


def _show_result(folder: Path, answer: dict[str, Any], json: bool) -> None:
    """Print what each critic finds, with the paths of page and table; exit with its own status if one failed."""
    from macroscope.errors import IN_PART
    from macroscope.gaps import describe_missing, read_missing
    from macroscope.reporting.sensitivity_summary import describe_critic
    from macroscope.tables import read_csv

    page, matrix = folder / "index.html", folder / "matrix.csv"
    powers, missing = read_csv(matrix), read_missing(folder)
    critics = {name: describe_critic(powers, name, "unpaired") for name in powers["critic"].unique()}
    if json:
        failed = [entry.record for entry in missing]
        print_json(answer | {"critics": critics, "missing": failed, "page": str(page), "table": str(matrix)})
    else:
        for name, described in critics.items():
            print(f"\n{name}: {described}")
        for entry in missing:
            print(f"\nMissing: {entry.name} {entry.note}")
        print(f"\nPage:  {page}\nTable: {matrix}")
        if missing:
            print(f"{describe_missing(missing)}.")
    if missing:
        raise typer.Exit(IN_PART)
