"""`macroscope rank`: rank systems by the monotony of their texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import Candidates, Language, reads_texts, real_texts
from macroscope.printing import Json, print_table

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields

_MEANINGS = {
    "best": "best rank that the system may have; with 'worst', the ranks that chance allows",
    "monotony": "mean of the components, in standard deviations of {scale}",
    "words": "component: repetition within 100 words",
    "sentences": "component: an even rhythm of the lengths of sentences",
    "within": "component: phrases that return in a text",
    "between": "component: phrases that return in the system's other texts",
    "short": "texts with fewer than 100 words, which are left out",
}
"""Columns of the table -> their meanings, for a terminal."""
_SCALES = {
    True: "real texts; 0 is as monotonous as real text",
    False: "texts within systems; 0 is the mean of the systems",
}
"""Whether there are real texts -> scale of monotony."""


@reads_texts
def rank(
    *,
    candidate: Candidates,
    reference: Annotated[list[Path] | None, real_texts("none; 0 is the mean of the systems")] = None,
    given: "GivenFields",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Table to write, as CSV.")] = None,
    language: Language = None,
    json: Json = False,
) -> None:
    """Rank systems by how monotonous their texts are.

    It needs no judge; the least monotonous system is first. Monotony is compared with real texts, at equal length; 0 is
    as monotonous as real text. Without real texts, systems are compared with each other.
    """
    from macroscope.criticize.inputs import without_standard_input
    from macroscope.criticize.reading import mark_systems
    from macroscope.ranking.rank import rank as rank_files
    from macroscope.tables import write_output

    with without_standard_input(candidate, reference or []) as (judged, real):
        table = rank_files(real, judged, given, language)
    if output is not None:
        write_output(table, output)
    print_table(table if json else mark_systems(table), json, left_out=["given_away_by"], float_format="{:.2f}")
    if not json:
        shown = table.dropna(axis=1, how="all")
        means = "\n".join(f"{name}: {meaning}" for name, meaning in _MEANINGS.items() if name in shown)
        print(f"\n{means}".format(scale=_SCALES[bool(reference or given.reference)]))
