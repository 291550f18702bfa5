"""`macroscope copies`: how much of a system's texts stands in real texts, or in those that it was trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import Candidates, Seed, reads_texts, real_texts
from macroscope.phrases import format_count
from macroscope.printing import Json, print_json, print_table, records_of

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields

_SHOWN = 10
"""Largest number of spans that are printed."""
_CHARACTERS = 80


@reads_texts
def copies(
    *,
    candidate: Candidates,
    reference: Annotated[list[Path] | None, real_texts("those in the candidates' files")] = None,
    training: Annotated[
        list[Path] | None,
        typer.Option(help="Texts to search, such as those that a model was tuned on; repeatable. Default: real texts."),
    ] = None,
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the tables and the marked texts.")],
    given: "GivenFields",
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Measure how much of a system's texts stands in real texts, or in its training texts, word for word.

    Held-out real texts share some sequences of words with them, too: the differences have intervals and p-values. The
    folder has tables of texts and of spans, and the texts with their spans marked.
    """
    from macroscope.copies.measure import measure_copies
    from macroscope.copies.page import make_summary, require_replaceable_folder, write_page
    from macroscope.criticize.inputs import without_standard_input
    from macroscope.natural_language.ngrams import COPY, HALF, WHOLE

    require_replaceable_folder(output)
    with without_standard_input(candidate, reference or []) as (judged, real):
        measured = measure_copies(real, judged, training or [], given, seed)
    write_page(measured, output)
    summary, page = make_summary(measured), output / "index.html"
    longest = measured.spans[~measured.spans["common"]].nlargest(_SHOWN, "words")
    if json:
        print_json(
            {
                "searched": {"texts": measured.searched, "words": measured.words},
                "statistics": records_of(measured.table),
                "longest": records_of(longest),
                "page": str(page),
            }
        )
        return
    print(f"Searched: {format_count(measured.searched, 'text')}, {format_count(measured.words, 'word')}.\n")
    print_table(summary, as_json=False)
    print(
        f"\nwhole, half: texts with {WHOLE:.0%} and {HALF:.0%} of their words in sequences of {COPY} that were found."
    )
    if len(longest):
        shown = longest.assign(text=longest["text"].str.split().str.join(" ").str.slice(0, _CHARACTERS))
        print("\nLongest spans:")
        print_table(shown[["system", "id", "words", "source", "text"]], as_json=False)
    print(f"\nPage: {page}")
