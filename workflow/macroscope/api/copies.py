"""`macroscope.find_copies`: how much of a system's texts stands in other texts, word for word."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from macroscope.api.arguments import checked
from macroscope.api.inputs import named_texts, write_collection, write_sides
from macroscope.copies.measure import Copies, measure_copies
from macroscope.criticize.inputs import GivenFields


@checked
def find_copies(
    reference: Any,
    candidates: Any,
    *,
    training: Any = None,
    text_field: str | None = None,
    prompt_field: str | None = None,
    id_field: str | None = None,
    reference_field: str | None = None,
    model_field: str | None = None,
    separator: str | None = None,
    seed: int = 1,
) -> Copies:
    """Measure how much of systems' texts stands in other texts, beside what held-out real texts share with them.

    Parameters
    ----------
    reference, candidates, text_field, prompt_field, id_field, reference_field, model_field, separator
        As in `compare`.
    training
        Texts to search, such as those that a model was tuned on, in any form of `reference`. None: real texts.
    seed
        Seed of the choice of real texts that are held out, and of all resampling.

    Returns
    -------
    Copies
        Its `table` has the numbers of systems, `texts` those of single texts, and `spans` the spans: data frames.

    Raises
    ------
    MacroscopeError
        If a collection has no texts, or none of five words.

    Examples
    --------
    >>> macroscope.find_copies(real, mine, training="tuned-on.jsonl").table  # doctest: +SKIP
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-") as name, named_texts(folder := Path(name).resolve()):
        fields = (text_field, prompt_field, id_field, reference_field, model_field, separator)
        given = replace(GivenFields(*fields), split_models=not isinstance(candidates, Mapping))
        searched = [] if training is None else write_collection(training, folder, "training")
        return measure_copies(*write_sides(reference, candidates, folder), searched, given, seed)
