"""`macroscope sentences`: how likely each sentence of a text is out of place or out of order."""

from pathlib import Path
from typing import Annotated

import typer

from macroscope.cli.flags import (
    Candidates,
    DeviceFlag,
    Encoder,
    IdField,
    Language,
    ModelField,
    PromptField,
    Seed,
    Separator,
    Straighten,
    TextField,
)
from macroscope.printing import Json, print_table

_SHOWN = 10
_PRINTED = ("system", "document", "sentence", "out_of_place", "out_of_order", "text")
_LEGEND = """out_of_place: probability that the sentence is of another text
out_of_order: gain of log odds if it stood at the best other place of its text; above 0, that place is better"""


def sentences(
    candidate: Candidates,
    reference: Annotated[list[Path], typer.Option(help="Real texts, in the same formats; repeatable.")],
    output: Annotated[Path, typer.Option(metavar="FILE", help="Table to write, as CSV: a row per sentence.")],
    text_field: TextField = None,
    prompt_field: PromptField = None,
    id_field: IdField = None,
    model_field: ModelField = None,
    separator: Separator = None,
    straighten_typography: Straighten = False,
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
    from macroscope.criticize.inputs import GivenFields
    from macroscope.criticize.standard_input import without_standard_input
    from macroscope.execution.limits import device_for_jobs, require_device
    from macroscope.sentences.table import COLUMNS, CRITIC, score_sentences
    from macroscope.tables import require_output, write_output

    require_output(COLUMNS, output)
    require_device(device)
    options = given_options([CRITIC], encoder)
    given = GivenFields(text_field, prompt_field, id_field, None, model_field, separator, straighten_typography)
    with device_for_jobs(device), without_standard_input(candidate, reference) as (judged, real):
        table = score_sentences(real, judged, given, language, seed, options)
    write_output(table, output)
    worst = table.nlargest(_SHOWN, "out_of_place")[list(_PRINTED)]
    print_table(worst, json, float_format="{:.2f}")
    if not json:
        print(f"\n{_LEGEND}")
