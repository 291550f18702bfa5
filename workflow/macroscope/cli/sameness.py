"""`macroscope sameness`: how alike the texts of a system, and of several systems, are."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import Candidates, Language, Seed, reads_texts, real_texts
from macroscope.phrases import format_count, list_names
from macroscope.printing import Json, print_json, print_table, records_of

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields

_SHOWN_PHRASES = 20
"""Largest number of repeated phrases that are printed."""


@reads_texts
def sameness(
    *,
    candidate: Candidates,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the page and the tables.")],
    reference: Annotated[list[Path] | None, real_texts("none")] = None,
    words: Annotated[
        int | None,
        typer.Option(
            min=10,
            help="Number of first words that are compared; shorter texts are left out."
            " Default: 400, or fewer that nine texts in ten have.",
        ),
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            metavar="NAME|FOLDER",
            help="Encoder of the texts' meaning: a folder, a name in resources/models.yaml or on Hugging Face.",
        ),
    ] = "minilm",
    threshold: Annotated[
        float | None,
        typer.Option(
            min=-1,
            max=1,
            help="Cosine above which two texts are not different. Default: what 5 % of the pairs of real texts on a"
            " prompt exceed or, if fewer than 10 prompts have several, of people's messages on a subject (0.73).",
        ),
    ] = None,
    ratings: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Scores of the texts, a CSV of system, document (id), score: good texts by themselves."
        ),
    ] = None,
    quality: Annotated[
        float | None,
        typer.Option(help="Smallest score of a good text. Default: the median of the real texts, or of all."),
    ] = None,
    given: "GivenFields",
    language: Language = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure how alike the texts of a system, and of several systems, are.

    Texts with the same prompt or id are on the same prompt. The page has the number of different texts among k of a
    prompt, the Vendi score and self-BLEU, similarities by structure, words and openings, and repeated phrases.
    """
    from macroscope.criticize.inputs import without_standard_input
    from macroscope.sameness.measure import measure_sameness
    from macroscope.sameness.page import (
        PHRASES,
        describe_diversity,
        list_differing,
        list_first_phrases,
        mark_differing,
        require_replaceable_folder,
        summarize,
        summarize_diversity,
        write_page,
    )

    require_replaceable_folder(output)
    with without_standard_input(candidate, reference or []) as (judged, real):
        measured = measure_sameness(real, judged, given, language, words, seed, encoder, threshold, ratings, quality)
    write_page(measured, output)
    page, differing, phrases = output / "index.html", list_differing(measured), list_first_phrases(measured)
    counts = [
        {"collection": each.name, "texts": len(each.documents), "too_short": each.short, "further_prompts": each.unused}
        for each in measured.texts
    ]
    if json:
        diversity = measured.diversity.table.drop(columns="signature")
        tables = {"diversity": diversity, "summary": summarize(differing), "differing": differing, "phrases": phrases}
        records = {name: records_of(table) for name, table in tables.items()}
        print_json(
            {
                "counts": counts,
                "words": measured.words,
                "threshold": measured.diversity.threshold,
                "given_away_by": measured.given_away_by,
                **records,
                "page": str(page),
            }
        )
        return
    for each in measured.texts:
        left_out = f"left out: {each.short} with fewer words, {each.unused} of further prompts"
        print(f"{each.name}: {format_count(len(each.documents), 'text')}; {left_out}")
    for caption, table in summarize_diversity(measured.diversity):
        print(f"\n{caption}")
        print_table(table, as_json=False)
    for sentence in describe_diversity(measured.diversity):
        print(sentence)
    if measured.has_real:
        print(
            f"\nNumber of systems, of {len(measured.systems) - 1}, that differ from real text beyond chance, by view:"
        )
        print_table(summarize(differing), as_json=False)
        print()
        for view, difference, systems in mark_differing(measured, differing).itertuples(index=False):
            if systems:
                print(f"{view}, {difference}: {list_names(systems)}")
    if len(phrases):
        print(f"\nMost repeated phrases and openings ({output / PHRASES} has all):")
        print_table(phrases.head(_SHOWN_PHRASES), as_json=False)
    print(f"\nPage: {page}")
