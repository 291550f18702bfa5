"""Collections of commands without a profile, read whole; warnings say what the profile would show."""

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from macroscope.criticize.checks import BEGIN_ALIKE, LANGUAGES, NEW_NAMES, SURROUNDINGS, Check, describe
from macroscope.criticize.inputs import CORPUS, GivenFields, Input, make_candidates, make_reference
from macroscope.criticize.kept_profile import read_profile
from macroscope.criticize.profile import EXCERPTS, Profile, choose_language, make_excerpt, name_prompt
from macroscope.criticize.wrappers import find_wrappers
from macroscope.documents import Count, Document, Provenance
from macroscope.engine.kept_references import KeptReference, find_kept
from macroscope.errors import MacroscopeError
from macroscope.natural_language.detection import detect_languages
from macroscope.progress import Progress
from macroscope.readers.reading import MODELS, REMARKS, read_user_documents
from macroscope.readers.selection import Selection
from macroscope.reporting.scorecard import mark_names

log = logging.getLogger("macroscope")

_MOST_RECOGNIZED = 200
"""Largest number of texts of a collection whose language is recognized."""


def read_counted(name: str, source: Input) -> tuple[list[Document], Sequence[Count]]:
    """Read all documents of a collection, and the counts of what was left out; warn of these and of doubtful fields.

    Raises
    ------
    MacroscopeError
        If there are none.
    """
    provenance = Provenance(name)
    documents = [*stream_collection(name, source, provenance)]
    return documents, provenance.counts


def stream_collection(name: str, source: Input, provenance: Provenance | None = None) -> Iterator[Document]:
    """Stream the documents of a collection; then warn of what was left out, and of doubtful fields.

    Parameters
    ----------
    provenance
        Receives the counts of what was left out.

    Raises
    ------
    MacroscopeError
        If there are none.
    """
    provenance = Provenance(name) if provenance is None else provenance
    number = 0
    with Progress(f"read {name}", unit="texts") as bar:
        for document in read_user_documents(source.files, provenance, 0.0, 0.0, source.selection):
            yield document
            number += 1
            bar.advance(1)
    if dropped := describe_dropped(provenance.counts):
        log.warning("%s: left out: %s", name, dropped)
    for remark in list_remarks(provenance.source.get(REMARKS, []), provenance.source.get(MODELS, {}), source.selection):
        log.warning("%s: %s", name, remark)
    if not number:
        raise MacroscopeError(f"{name}: no texts in {', '.join(map(str, source.files))}; give files with texts")


@dataclass(frozen=True)
class Sides:
    """Texts of systems and real ones, with what warnings said of them.

    Attributes
    ----------
    real
        Real texts; none if they are not there, or if the systems are compared with each other.
    texts
        Texts of each system, by its name.
    language
        Language of the texts: that which the user requests, or that of most real texts.
    given_away_by
        System -> what gives its texts away beside structure, in words, unless the user accepts it.
    kept
        Kept reference in the place of the real texts.
    """

    real: Sequence[Document]
    texts: Mapping[str, Sequence[Document]]
    language: str
    given_away_by: Mapping[str, str]
    kept: KeptReference | None = None

    @property
    def has_real(self) -> bool:
        """Return whether systems are compared with real texts."""
        return bool(self.real) or self.kept is not None


def read_sides(
    reference: Sequence[Path],
    candidates: Sequence[Path],
    given: GivenFields,
    requested: str | None = None,
    is_reference_required: bool = True,
    takes_kept: bool = False,
) -> Sides:
    """Read the real texts, and those of each candidate by name; see `read_counted` and `check_sides`.

    Parameters
    ----------
    takes_kept
        Whether a kept reference may stand in the place of the real texts.
    """
    called = make_candidates(candidates, given)
    kept = find_kept(reference) if takes_kept and len(reference) == 1 else None
    has_texts = kept is None and (is_reference_required or reference or given.reference)
    real = read_counted("the real texts", make_reference(reference, candidates, given))[0] if has_texts else []
    texts = {name: read_counted(name, each)[0] for name, each in called.items()}
    return check_sides(real, texts, requested, called, kept=kept)


def check_sides(
    reference: Sequence[Document],
    candidates: Mapping[str, Sequence[Document]],
    requested: str | None,
    inputs: Mapping[str, Input] | None = None,
    checks: Sequence[Check] = (*SURROUNDINGS, *NEW_NAMES, *LANGUAGES, BEGIN_ALIKE),
    kept: KeptReference | None = None,
) -> Sides:
    """Warn of what makes texts hard to compare, recognize their language, and find what gives candidates away.

    Parameters
    ----------
    reference
        Real texts. If there are none, the candidates' texts decide the language.
    requested
        Language that the user requests, if any.
    inputs
        Files of the candidates, by name.
    kept
        Kept reference in the place of the real texts.
    """
    real = read_profile(kept.path) if kept else _profile(CORPUS, reference)
    profiles = [_profile(name, documents, (inputs or {}).get(name)) for name, documents in candidates.items()]
    profiles = [
        replace(each, wrappers=find_wrappers(real.excerpts, each.excerpts, real.surroundings)) for each in profiles
    ]
    if not (reference or kept):
        real = Profile("the candidates", languages=sum((each.languages for each in profiles), Counter()))
        checks = [check for check in checks if check not in LANGUAGES or check.collections == "reference"]
    for sentence in describe(checks, real, profiles, requested):
        log.warning("%s", sentence)
    given_away_by = {each.name: each.given_away_by for each in profiles if each.given_away_by}
    return Sides(reference, candidates, choose_language(real.languages, requested), given_away_by, kept)


def mark_systems(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with a warning sign at the systems that more gives away than the table measures."""
    reasons = dict(zip(table["system"], table["given_away_by"], strict=True))
    marked = mark_names(table["system"], {name: reason for name, reason in reasons.items() if reason})
    return table.assign(system=marked)


def _profile(name: str, documents: Sequence[Document], source: Input | None = None) -> Profile:
    """Return the properties of a collection of which `check_sides` warns."""
    keys = [name_prompt(document) for document in documents]
    return Profile(
        name,
        source.files if source else (),
        source.selection if source else Selection(),
        prompts=[prompt for prompt, _ in keys],
        openings=[opening for _, opening in keys],
        languages=detect_languages(document.text for document in documents[:_MOST_RECOGNIZED]),
        excerpts=[make_excerpt(documents[n].text, keys[n][0]) for n in range(min(EXCERPTS, len(documents)))],
    )


def describe_dropped(counts: Sequence[Count]) -> str:
    """Return how many records, files or sections each filter dropped; "" if none did."""
    dropped = {count.filter: count.dropped for count in counts if count.dropped}
    return "; ".join(f"{name} ({number:,})" for name, number in dropped.items())


def list_remarks(remarks: Sequence[str], models: Mapping[str, int], selection: Selection) -> list[str]:
    """List what users should know of how their files were read, such as several models in one candidate."""
    if len(models) < 2 or selection.only_model is not None or selection.authors != "models":
        return list(remarks)
    names = ", ".join(f"{name} ({number:,})" for name, number in models.items())
    return [*remarks, f"texts of several models are one candidate: {names}; ⟨model_field⟩ judges each"]
