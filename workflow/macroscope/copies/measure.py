"""`macroscope copies`: the numbers of systems, of their texts, and the spans that stand in other texts."""

import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macroscope import __version__
from macroscope.copies.comparison import make_table, name_copies
from macroscope.copies.search import LENGTHS, Search
from macroscope.criticize.checks import BEGIN_ALIKE, NEW_NAMES
from macroscope.criticize.inputs import GivenFields, Input, make_candidates, make_reference
from macroscope.criticize.reading import check_sides, stream_collection
from macroscope.critics.attributions import Span
from macroscope.document_keys import split_key
from macroscope.documents import Document, Provenance, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, Resampling
from macroscope.phrases import choose_form, format_count
from macroscope.statistics.document_groups import KEYS, prompt_labels

log = logging.getLogger("macroscope")
FEWEST_HELD_OUT = 200
"""Number of real prompts that are held out at least, if half of the reference has them."""
TEXT_COLUMNS = (
    *("system", "id", "words"),
    *(f"{kind}_{length}" for length in LENGTHS for kind in ("ngrams", "found")),
    *("covered", "longest", "copy"),
)
SPAN_COLUMNS = ("system", "id", "section", "start", "end", "words", "source", "texts", "common", "text")


@dataclass(frozen=True)
class Copies:
    """Copies in systems' texts.

    Attributes
    ----------
    table
        A row per system and statistic (`comparison.COLUMNS`); the first system, the control, is held-out real text.
    texts
        A row per text of a system (`TEXT_COLUMNS`): numbers of its n-grams and of those found, words of its longest
        span, and whether it is a "whole" or a "half" copy or none (""). All real texts are searched, or all training
        texts.
    spans
        A row per span (`SPAN_COLUMNS`): the place in the text, in characters of a section, the id of the first text
        that has its rarest words, the number of these texts, and whether it is a common passage, which does not count.
    documents
        Texts of each system, and of the control.
    spans_of_control
        The spans of held-out real text.
    texts_of_control
        The numbers of its texts.
    searched, words
        Numbers of texts, and of their words, in which the table's n-grams are searched.
    """

    table: pd.DataFrame
    texts: pd.DataFrame
    spans: pd.DataFrame
    documents: Mapping[str, Sequence[Document]]
    spans_of_control: pd.DataFrame
    texts_of_control: pd.DataFrame
    searched: int
    words: int


def measure_copies(
    reference: Sequence[Path],
    candidates: Sequence[Path],
    training: Sequence[Path],
    given: GivenFields,
    seed: int = 1,
) -> Copies:
    """Measure how much of systems' texts stands in other texts, beside what held-out real text shares with these.

    Parameters
    ----------
    training
        Texts that are searched. None: those of the reference that are not held out.
    seed
        Seed of the choice of real texts that are held out, and of all resampling.

    Raises
    ------
    MacroscopeError
        If a collection has no texts, or none of `min(LENGTHS)` words.
    """
    called = make_candidates(candidates, given)
    documents = {name: [*stream_collection(name, each)] for name, each in called.items()}
    real = make_reference(reference, candidates, given)
    with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
        path = Path(folder) / "reference.parquet"
        write_documents(path, stream_collection("the real texts", real), Provenance("reference"))
        rows = [(document.id, document.opening) for document in read_documents(path)]
        most = max(map(len, documents.values()))
        is_held_out = _hold_out(pd.DataFrame(rows, columns=list(KEYS)), most, seed, is_searched=not training)
        held_out = [document for document, is_held in zip(read_documents(path), is_held_out, strict=True) if is_held]
        check_sides(held_out, documents, None, called, (*NEW_NAMES, BEGIN_ALIKE))
        search = Search([*held_out, *chain.from_iterable(documents.values())])
        if training:
            selection = given.select("people", text=given.text)
            search.read(stream_collection("the training texts", Input(training, selection)))
        else:
            rest = zip(read_documents(path), is_held_out, strict=True)
            search.read(document for document, is_held in rest if not is_held)
        return _summarise(search, held_out, documents, bool(training), seed)


def _hold_out(keys: pd.DataFrame, most: int, seed: int, is_searched: bool) -> NDArray[np.bool_]:
    """Choose the prompts whose real texts are held out: `most`, but at most half if the others are searched."""
    labels = prompt_labels(keys)
    number = int(labels.max()) + 1
    if is_searched and number < 2:
        raise MacroscopeError(
            "the reference is a single text: none can be held out; give several, or the texts to search as ⟨training⟩"
        )
    wanted = min(max(most, FEWEST_HELD_OUT), number // 2 if is_searched else number)
    chosen = np.random.default_rng(seed).permutation(number)[:wanted]
    return np.isin(labels, chosen)


def _summarise(
    search: Search, held_out: list[Document], documents: Mapping[str, Sequence[Document]], has_training: bool, seed: int
) -> Copies:
    """Compare, and search what is held out, too, unless there are training texts."""
    every = [*held_out, *chain.from_iterable(documents.values())]
    systems = np.repeat([CONTROL, *documents], [len(held_out), *map(len, documents.values())])
    compared = search.table().assign(system=systems, opening=[split_key(document.opening)[0] for document in every])
    _require_words(compared)
    control = _leave_out_contained(compared[systems == CONTROL], has_training)
    resampling = Resampling(seed=seed)
    of_candidates = {name: compared[systems == name] for name in documents}
    signature = f"macroscope:{__version__}|copies:3|seed:{seed}|{resampling.signature}"
    table = make_table(control, of_candidates, resampling, signature)
    size = search.searched, search.words
    of_control = _spans(search, systems, every, range(len(held_out)))
    if not has_training:
        search.read(held_out)
    texts = search.table().assign(system=systems)
    texts["copy"] = name_copies(texts)
    spans = _spans(search, systems, every, range(len(held_out), len(every)))
    texts = texts.loc[systems != CONTROL, list(TEXT_COLUMNS)].reset_index(drop=True)
    named = {CONTROL: held_out, **documents}
    return Copies(table, texts, spans, named, of_control, compared[systems == CONTROL], *size)


def _leave_out_contained(held_out: pd.DataFrame, has_training: bool) -> pd.DataFrame:
    """Leave out the real texts that stand in the searched texts, with a warning: they would hide as much copying."""
    is_contained = np.array(name_copies(held_out)) == "whole"
    number = int(is_contained.sum())
    where = "the training texts" if has_training else "its others"
    if 2 * number > len(held_out):
        advice = "real texts that the model was not trained on" if has_training else "each text once"
        raise MacroscopeError(
            f"the reference: {number:,} of {len(held_out):,} texts stand in {where}, word for word; give {advice}"
        )
    if number:
        stand, do = choose_form(number, "stands", "stand"), choose_form(number, "does", "do")
        log.warning("%s of the reference %s in %s, and %s not count", format_count(number, "text"), stand, where, do)
    return held_out[~is_contained]


def _require_words(texts: pd.DataFrame) -> None:
    for system, ngrams in texts.groupby("system", sort=False)[f"ngrams_{min(LENGTHS)}"].sum().items():
        if not ngrams:
            name = "the held-out real texts" if system == CONTROL else system
            raise MacroscopeError(f"{name}: no text has {min(LENGTHS)} words of letters; give longer texts")


def _spans(search: Search, systems: NDArray[np.str_], documents: Sequence[Document], wanted: range) -> pd.DataFrame:
    rows = [
        (systems[number], documents[number].id, *span, *numbers, _cut(documents[number], span))
        for number, span, *numbers in search.spans()
        if number in wanted
    ]
    types = dict.fromkeys(("section", "start", "end", "words", "texts"), int) | {"common": bool}  # without rows, too
    return pd.DataFrame(rows, columns=list(SPAN_COLUMNS)).astype(types)


def _cut(document: Document, span: Span) -> str:
    section, start, end = span
    return document.sections[section].text[start:end]
