"""`macroscope sameness`: how alike the texts of a system, and of several systems, are."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.flags import Candidates, IdField, Language, ModelField, PromptField, Seed, Separator, TextField
from macroscope.phrases import format_count
from macroscope.printing import Json, print_json, print_table, records_of


def sameness(
    candidate: Candidates,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the page and the tables.")],
    reference: Annotated[
        list[Path] | None, typer.Option(help="Real texts, in the same formats; repeatable. Default: none.")
    ] = None,
    words: Annotated[
        int, typer.Option(min=30, help="Number of first words that are compared; shorter texts are left out.")
    ] = 400,
    text_field: TextField = None,
    prompt_field: PromptField = None,
    id_field: IdField = None,
    model_field: ModelField = None,
    separator: Separator = None,
    language: Language = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure how alike the texts of a system, and of several systems, are.

    Texts with the same prompt or id are on the same prompt. The page has similarities by structure, words and openings,
    beside those of real texts, and the phrases that a system repeats.
    """
    from macroscope.criticize.inputs import GivenFields
    from macroscope.sameness.measure import measure_sameness
    from macroscope.sameness.page import require_replaceable_folder, summarize, write_page

    require_replaceable_folder(output)
    given = GivenFields(text_field, prompt_field, id_field, None, model_field, separator)
    measured = measure_sameness(reference or [], candidate, given, language, words, seed)
    write_page(measured, output)
    page = output / "index.html"
    summary = summarize(measured)
    counts = [
        {"collection": each.name, "texts": len(each.documents), "too_short": each.short, "further_prompts": each.unused}
        for each in measured.texts
    ]
    if json:
        print_json({"counts": counts, "summary": records_of(summary), "page": str(page)})
        return
    for each in measured.texts:
        left_out = f"left out: {each.short} with fewer words, {each.unused} of further prompts"
        print(f"{each.name}: {format_count(len(each.documents), 'text')}; {left_out}")
    if len(summary):
        print(
            f"\nNumber of systems, of {len(measured.systems) - 1}, that differ from real text beyond chance, by view:"
        )
        print_table(summary, as_json=False)
    print(f"\nPage: {page}")
