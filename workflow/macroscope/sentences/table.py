"""Two numbers for each sentence of a user's texts: whether it is of another text, and whether it stands elsewhere.

They are the narrative critic's: its detector of discordant sentences, and its model of the order of sentences. Both
learn from real texts that they damage themselves. No mark of a person is used.
"""

import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from numpy.polynomial import Polynomial

from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.learned_parts import LearnedPart, Settings
from macroscope.criticize.profile import NARRATIVE_SENTENCES
from macroscope.criticize.reading import read_sides
from macroscope.critics import GivenOptions, get_critic, options_for_texts
from macroscope.critics.attributions import Span
from macroscope.critics.language_fit import language_fit
from macroscope.critics.narrative.detector import Detector, read_narratives
from macroscope.critics.narrative.judges import train
from macroscope.critics.narrative.latents import ORDER_MODEL
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narrative.projection import sentence_embedder
from macroscope.critics.narrative.scoring import locate_sentences
from macroscope.critics.narrative.sentence_order import OrderModel, gains_of_moving
from macroscope.critics.narratives import Narratives, split_narratives
from macroscope.documents import Document, Provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.fields import name_field
from macroscope.natural_language.detection import UNKNOWN, detect_language
from macroscope.natural_language.languages import name_of
from macroscope.natural_language.sentences import split_sentences
from macroscope.options import Resampling
from macroscope.phrases import format_count, list_names
from macroscope.readers.splits import assign_split

log = logging.getLogger("macroscope")
CRITIC = "narrative"
TASK: Task = "discordant"
EXPECTED = "expected.npy"
NO_LINE = Polynomial([np.nan, np.nan])
VALID_SHARE = 0.125
"""Share of the real texts that tune the detector and calibrate its probabilities."""
COLUMNS = (
    *("system", "document", "language", "sentence", "section", "start", "end"),
    *("out_of_place", "out_of_place_expected", "out_of_order", "text", "given_away_by"),
)


def score_sentences(
    reference: Sequence[Path],
    candidates: Sequence[Path],
    given: GivenFields,
    language: str | None,
    seed: int,
    options: GivenOptions | None = None,
) -> pd.DataFrame:
    """Return a row for each sentence of the candidates' texts: `COLUMNS`.

    Parameters
    ----------
    language
        Code of the language of the texts; None: it is recognized, and texts in another one are not judged.
    options
        Options of the critic that the user gave.

    Returns
    -------
    data frame
        `language` (recognized, of the text), `sentence` (its number, from 1), `section` (from 0), `start` and `end`
        (characters of the section's text), `out_of_place` (in [0, 1]; NaN in a text of one sentence),
        `out_of_place_expected` (the same of a sentence of real text at this place; see `expect_at_places`),
        `out_of_order` (log odds; NaN in a text of two sentences; see `sentence_order`), `text`. Larger numbers are less
        like real text. All are NaN in a text that is not judged.

    Raises
    ------
    MacroscopeError
        If the critic does not fit the language, or the real texts are too few or too short to learn from.
    """
    is_requested = language is not None
    sides = read_sides(reference, candidates, given, language, takes_kept=True)
    texts, language = sides.texts, sides.language
    parsed = make_options(language, options)
    judges = PART.obtain(sides.real, sides.kept, Settings(language, seed, options))
    log.info("judge %s", format_count(sum(map(len, texts.values())), "text"))
    table = make_table(texts, judges, parsed, language)
    table["given_away_by"] = [sides.given_away_by.get(system, "") for system in table["system"]]
    return table if is_requested else without_other_languages(table, language)


def make_options(language: str, given: GivenOptions | None = None) -> NarrativeOptions:
    """Return the options of the critic in `macroscope criticize`; warn of what the language limits."""
    critic = get_critic(CRITIC)
    options = NarrativeOptions(**options_for_texts(critic, given))
    fit = language_fit(critic.data, options, language)
    if fit.refusals:
        raise MacroscopeError(
            f"{name_field('language', language)}: {'; '.join(fit.refusals)}; give texts in another language"
        )
    for limit in fit.limits:
        log.warning("%s", limit)
    return options


def without_other_languages(table: pd.DataFrame, language: str) -> pd.DataFrame:
    """Return the table without the numbers of texts in another language than that of the real ones; warn of these."""
    is_other = ~table["language"].isin([language, UNKNOWN])
    others = table[is_other].drop_duplicates(["system", "document"])
    for system, texts in others.groupby("system", sort=False):
        named = [f"{row.document} ({name_of(row.language)})" for row in texts.itertuples()]
        log.warning(
            "%s: texts that are not in %s, and not judged: %s; if they are, give %s",
            system,
            name_of(language),
            list_names(named),
            name_field("language", language),
        )
    numbers = ["out_of_place", "out_of_place_expected", "out_of_order"]
    return table.assign(**{name: table[name].mask(is_other) for name in numbers})


def warn_of_few(real: Sequence[Document], language: str) -> None:
    """Warn if fewer real texts than `macroscope criticize` requires are long enough to learn from."""
    fewest = get_critic(CRITIC).data.fewest["narratives"]
    lengths = (len(split_sentences(document.text, language)) for document in real)
    narratives = sum(1 for _ in islice(filter(lambda length: length >= NARRATIVE_SENTENCES, lengths), fewest))
    if narratives < fewest:
        log.warning(
            "%d of the real texts have %d sentences or more: the numbers are unreliable; give %d such texts or more",
            narratives,
            NARRATIVE_SENTENCES,
            fewest,
        )


@dataclass(frozen=True)
class Judges:
    """Models that were learnt from the real texts.

    Attributes
    ----------
    detector
        Detector of discordant sentences.
    order
        Model of the order of sentences; None if the real texts were too few.
    expected
        See `expect_at_places`.
    """

    detector: Detector
    order: OrderModel | None
    expected: Polynomial

    def save(self, folder: Path) -> None:
        """Write the models into an empty folder."""
        (folder / TASK).mkdir()
        self.detector.save(folder / TASK)
        if self.order is not None:
            self.order.save(folder / ORDER_MODEL)
        np.save(folder / EXPECTED, [self.expected.coef, self.expected.domain])

    @classmethod
    def load(cls, folder: Path) -> "Judges":
        """Read the models."""
        order = OrderModel.load(folder / ORDER_MODEL) if (folder / ORDER_MODEL).exists() else None
        expected = Polynomial(*np.load(folder / EXPECTED)) if (folder / EXPECTED).exists() else NO_LINE
        return cls(Detector.load(folder / TASK), order, expected)


def train_judges(real: Sequence[Document], settings: Settings) -> Judges:
    """Learn from real texts: most to learn from, and some to calibrate probabilities."""
    language, options = settings.language, make_options(settings.language, settings.options)
    warn_of_few(real, language)
    log.info("learn from %s", format_count(len(real), "real text"))
    documents = [replace(document, split=_split(document)) for document in real]
    with tempfile.TemporaryDirectory(prefix="macroscope-") as name:
        folder = Path(name)
        write_documents(folder / "documents.parquet", documents, Provenance("the real texts"))
        train(
            folder / "documents.parquet",
            options=options.model_copy(update={"tasks": [TASK]}),
            language=language,
            seed=settings.seed,
            checkpoints=folder / "checkpoints",
            resampling=Resampling(100, 100, 0.95, settings.seed),
            output=folder / "judges",
        )
        judges = Judges.load(folder / "judges")
    if judges.order is None:
        log.warning("the real texts are too few to learn the order of sentences: 'out_of_order' is empty")
    held_out = [document for document in documents if document.split == "valid"]
    return replace(judges, expected=expect_at_places(make_table({CRITIC: held_out}, judges, options, language)))


def _list_words(settings: Settings) -> list[str]:
    """Return the settings that change the judges."""
    options = NarrativeOptions(**options_for_texts(get_critic(CRITIC), settings.options))
    return [f"language={settings.language}", f"seed={settings.seed}", *map("{0[0]}={0[1]}".format, options)]


PART = LearnedPart(
    "sentences", 1, _list_words, train_judges, lambda judges, folder: judges.save(folder), Judges.load, CRITIC
)
"""Models of sentences, which have no words."""


def _split(document: Document) -> str:
    return assign_split(document.id, VALID_SHARE, 0.0)


def expect_at_places(held_out: pd.DataFrame) -> Polynomial:
    """Return a straight line over the places in the text, from 0 to 1: `out_of_place` of sentences of real texts.

    The rows are of texts that the detector was not fitted to. NaN with fewer than two sentences.
    """
    rows = held_out[held_out["out_of_place"].notna()]
    if len(rows) < 2:
        return NO_LINE
    numbers = rows.groupby("document")["sentence"]
    return Polynomial.fit((rows["sentence"] - 0.5) / numbers.transform("size"), rows["out_of_place"], 1)


def make_table(
    texts: Mapping[str, Sequence[Document]],
    judges: Judges,
    options: NarrativeOptions,
    language: str,
) -> pd.DataFrame:
    """Return the rows of all sentences of the systems' texts: `COLUMNS`."""
    embedder = sentence_embedder(options)
    rows = []
    for system, documents in texts.items():
        narratives = split_narratives(documents, language, from_source=False)
        narratives = narratives.with_vectors(*embedder.embed(narratives.sentences))
        probabilities = read_narratives(judges.detector, narratives)
        for document, out_of_place, gains in zip(
            documents, probabilities, _gains(judges.order, narratives), strict=True
        ):
            places, recognized = locate_sentences(document, language), detect_language(document.text)
            values = out_of_place if len(out_of_place) else np.full(len(places), np.nan)
            lines = np.clip(judges.expected((np.arange(len(places)) + 0.5) / max(1, len(places))), 0, 1) + 0 * values
            scores = np.stack([values, lines, gains], axis=1).tolist()
            rows += [
                (system, document.id, recognized, number, *place, *scored, _cut(document, place))
                for number, (place, scored) in enumerate(zip(places, scores, strict=True), start=1)
            ]
    return pd.DataFrame(rows, columns=list(COLUMNS[:-1])).assign(given_away_by="")


def _gains(order: OrderModel | None, narratives: Narratives) -> Iterator[npt.NDArray[np.float64]]:
    """Yield the gain of moving each sentence of each narrative; NaN without a model."""
    assert narratives.vectors is not None
    for start, end in pairwise(narratives.starts):
        yield gains_of_moving(order, narratives.vectors[start:end]) if order else np.full(end - start, np.nan)


def _cut(document: Document, place: Span) -> str:
    section, start, end = place
    return document.sections[section].text[start:end]
