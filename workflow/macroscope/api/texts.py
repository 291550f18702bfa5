"""Texts of any form as a data frame, and their profile, without judging them."""

import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.api.arguments import checked
from macroscope.api.inputs import named_texts, write_collection, write_sides
from macroscope.criticize import run
from macroscope.criticize.checks import LANGUAGES, SURROUNDINGS, TEXTS, describe
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.profile import Profile
from macroscope.criticize.profile_table import table_of
from macroscope.documents import Document, Provenance
from macroscope.readers.reading import read_user_documents
from macroscope.readers.selection import FieldNames, Selection, Side

log = logging.getLogger("macroscope")

_COLUMNS = ("id", "split", "title", "label", "prompt", "text", "sections")


@checked
def read_texts(
    texts: Any,
    *,
    text_field: str | None = None,
    prompt_field: str | None = None,
    id_field: str | None = None,
    separator: str | None = None,
    dialogue: str | None = None,
    join: bool = False,
    straighten_typography: bool = False,
    keep_wrappers: bool = False,
    detokenize: bool = False,
    authors: Side | None = None,
) -> pd.DataFrame:
    """Read texts as they are judged: from a file or folder of any format that is known, or from any form of `compare`.

    Parameters
    ----------
    texts
        A path, or texts in another form of `compare`.
    text_field, prompt_field, id_field
        Names of the fields of the records; default: what the format of the file says.
    separator, dialogue, join, straighten_typography, keep_wrappers, detokenize
        As in `compare`.
    authors
        "people" or "models": the authors of the texts to read, of files that hold both; default: all.

    Returns
    -------
    data frame
        A row per text: `id`, `split`, `title`, `label`, `prompt` (missing if unknown), `text`, and `sections`, a list
        of dicts with `title` and `text`. `compare` takes it in place of the texts.

    Raises
    ------
    MacroscopeError
        If a file cannot be read, or a record is malformed; with file and line.

    Examples
    --------
    >>> macroscope.read_texts("samples.jsonl").text.str.len().describe()  # doctest: +SKIP
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-") as name, named_texts(folder := Path(name).resolve()):
        files = write_collection(texts, folder, "texts")
        shares = (run.VALID_SHARE, run.TEST_SHARE)
        fields = FieldNames(text=text_field, prompt=prompt_field, id=id_field)
        flags = (False, False, separator, straighten_typography, join, keep_wrappers, detokenize, dialogue)
        selection = Selection(fields, None, authors, *flags)
        documents = read_user_documents(files, Provenance("texts"), *shares, selection)
        return pd.DataFrame([_row(document) for document in documents], columns=list(_COLUMNS))


@checked
def profile(
    reference: Any,
    candidates: Any,
    *,
    text_field: str | None = None,
    prompt_field: str | None = None,
    id_field: str | None = None,
    reference_field: str | None = None,
    model_field: str | None = None,
    separator: str | None = None,
    dialogue: str | None = None,
    join: bool = False,
    straighten_typography: bool = False,
    keep_wrappers: bool = False,
    detokenize: bool = False,
) -> pd.DataFrame:
    """Profile real texts and texts to judge, in seconds: sizes, languages, headings, what they share.

    Warnings in the log say what differs apart from structure, and what cannot be found.

    Parameters
    ----------
    reference, candidates, text_field, prompt_field, id_field, reference_field, model_field
    separator, dialogue, join, straighten_typography, keep_wrappers, detokenize
        As in `compare`.

    Returns
    -------
    data frame
        A row per property, a column per collection, as `macroscope criticize --dry-run` prints it.

    Raises
    ------
    MacroscopeError
        If a file cannot be read, or a record is malformed; with file and line.
    """
    with tempfile.TemporaryDirectory(prefix="macroscope-") as name, named_texts(folder := Path(name).resolve()) as word:
        fields = (text_field, prompt_field, id_field, reference_field, model_field, separator)
        flags = (straighten_typography, join, keep_wrappers, detokenize, not isinstance(candidates, Mapping))
        given = GivenFields(*fields, *flags, dialogue)
        real, judged = run.profile_collections(*write_sides(reference, candidates, folder), given)
        warn_of_comparison(real, judged, word)
        return table_of(real, judged).map(word)


def warn_of_comparison(
    reference: Profile,
    candidates: Sequence[Profile],
    word: Callable[[str], str],
    language: str | None = None,
) -> None:
    """Warn in the log of what limits a comparison, as the command line prints it."""
    for sentence in describe((*SURROUNDINGS, *LANGUAGES, *TEXTS), reference, candidates, language):
        log.warning("%s", word(sentence))


def _row(document: Document) -> Mapping[str, Any]:
    row = {name: getattr(document, name) for name in _COLUMNS}
    return row | {"sections": [asdict(section) for section in document.sections]}
