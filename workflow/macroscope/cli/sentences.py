"""`macroscope sentences`: how likely each sentence of a text is out of place or out of order."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from macroscope.cli.flags import Candidates, DeviceFlag, Encoder, Language, Seed, reads_texts, real_texts
from macroscope.printing import Json, print_table

if TYPE_CHECKING:
    from macroscope.criticize.inputs import GivenFields

_SHOWN = 10
_PRINTED = ("system", "document", "sentence", "out_of_place", "out_of_place_expected", "out_of_order", "text")
_LEGEND = """out_of_place: probability that the sentence is of another text
out_of_place_expected: the same of a sentence of real text at this place
out_of_order: gain of log odds if it stood at the best other place of its text; above 0, that place is better"""


@reads_texts
def sentences(
    *,
    candidate: Candidates,
    reference: Annotated[list[Path] | None, real_texts("those in the candidates' files")] = None,
    output: Annotated[Path, typer.Option(metavar="FILE", help="Table to write, as CSV: a row per sentence.")],
    given: "GivenFields",
    encoder: Encoder = None,
    device: DeviceFlag = "auto",
    language: Language = None,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Score each sentence of a text: how likely it is of another text, and whether it would better stand elsewhere.

    Both numbers are learned from real texts, whose sentences are exchanged and moved. The table also has the place and
    the text of each sentence. Printed are the ten sentences that are most probably of another text.
    """
    from macroscope.criticize.choice import given_options
    from macroscope.criticize.inputs import without_standard_input
    from macroscope.criticize.reading import mark_systems
    from macroscope.execution.limits import device_for_jobs
    from macroscope.sentences.table import COLUMNS, CRITIC, score_sentences
    from macroscope.tables import require_output, write_output

    require_output(COLUMNS, output)
    options = given_options([CRITIC], encoder)
    with device_for_jobs(device), without_standard_input(candidate, reference or []) as (judged, real):
        table = score_sentences(real, judged, given, language, seed, options)
    write_output(table, output)
    worst = table.nlargest(_SHOWN, "out_of_place")
    print_table((worst if json else mark_systems(worst))[list(_PRINTED)], json, float_format="{:.2f}")
    if not json:
        print(f"\n{_LEGEND}")
