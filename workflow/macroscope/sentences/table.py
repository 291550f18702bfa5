"""The probability that a sentence is out of place, for each sentence of a user's texts.

It is the narrative critic's: its detector of discordant sentences learns from real texts that it damages itself. No
mark of a person is used.
"""

import logging
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.corpora.splits import assign_split
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.reading import read_sides, recognize_language
from macroscope.critics import get_critic
from macroscope.critics.attributions import Span
from macroscope.critics.language_fit import language_fit
from macroscope.critics.narrative.attribution import locate_sentences
from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.embedding import embed_unique, load_sentence_encoder
from macroscope.critics.narrative.narratives import split_narratives
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narrative.training import train_judge
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.resampling import Resampling

log = logging.getLogger("macroscope")
CRITIC = "narrative"
TASK: Task = "discordant"
VALID_SHARE = 0.125
"""Share of the real texts that tune the detector and calibrate its probabilities."""
COLUMNS = ("system", "document", "sentence", "section", "start", "end", "out_of_place", "text")


def score_sentences(
    reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields, language: str | None, seed: int
) -> pd.DataFrame:
    """Return a row for each sentence of the candidates' texts: `COLUMNS`.

    Parameters
    ----------
    language
        Code of the language of the texts; None: it is recognized.

    Returns
    -------
    data frame
        `sentence` (its number, from 1), `section` (from 0), `start` and `end` (characters of the section's text),
        `out_of_place` (in [0, 1]; larger is less like real text; NaN in a text of one sentence), `text`.

    Raises
    ------
    MacroscopeError
        If the critic does not fit the language, or the real texts are too few or too short to learn from.
    """
    real, texts = read_sides(reference, candidates, given)
    language = recognize_language(real, texts, language)
    options = make_options(language)
    with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
        detector = train_detector(real, options, language, seed, Path(folder))
    return make_table(texts, detector, options, language)


def make_options(language: str) -> NarrativeOptions:
    """Return the options of the critic in `macroscope criticize`; warn of what the language limits.

    Raises
    ------
    MacroscopeError
        If the critic does not fit the language.
    """
    critic = get_critic(CRITIC)
    options = NarrativeOptions(**(critic.data.criticize or {}))
    fit = language_fit(critic.data, options, language)
    if fit.refusals:
        raise MacroscopeError(f"--language {language}: {'; '.join(fit.refusals)}; give texts in another language")
    for limit in fit.limits:
        log.warning("%s", limit)
    return options


def train_detector(
    real: Sequence[Document], options: NarrativeOptions, language: str, seed: int, folder: Path
) -> Detector:
    """Train the detector on real texts, most to learn from and some to calibrate it; write into a folder."""
    documents = [replace(document, split=assign_split(document.id, VALID_SHARE, 0.0)) for document in real]
    path = folder / "documents.parquet"
    write_documents(path, documents, Provenance("the real texts"))
    resampling = Resampling(100, 100, 0.95, seed)
    train_judge(path, TASK, options, language, seed, folder / "checkpoints", resampling, folder / TASK)
    return Detector.load(folder / TASK)


def make_table(
    texts: Mapping[str, Sequence[Document]], detector: Detector, options: NarrativeOptions, language: str
) -> pd.DataFrame:
    """Return the rows of all sentences of the systems' texts: `COLUMNS`."""
    encoder = load_sentence_encoder(options)
    rows = []
    for system, documents in texts.items():
        narratives = split_narratives(documents, language, from_source=False)
        narratives = narratives.with_vectors(*embed_unique(narratives.sentences, encoder))
        for document, probabilities in zip(documents, read_narratives(detector, narratives), strict=True):
            places = locate_sentences(document, language)
            values = probabilities if len(probabilities) else np.full(len(places), np.nan, dtype=np.float32)
            rows += [
                (system, document.id, number, *place, float(value), _cut(document, place))
                for number, (place, value) in enumerate(zip(places, values, strict=True), start=1)
            ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _cut(document: Document, place: Span) -> str:
    section, start, end = place
    return document.sections[section].text[start:end]
