"""Collections of commands without a profile, read whole; warnings say what the profile would show."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from macroscope.criticize.checks import BEGIN_ALIKE, LANGUAGES, NEW_NAMES, describe
from macroscope.criticize.inputs import CORPUS, GivenFields, Input, make_candidates, make_reference
from macroscope.criticize.profile import Profile, choose_language
from macroscope.document_keys import shared_id, split_key
from macroscope.documents import Count, Document, Provenance
from macroscope.errors import MacroscopeError
from macroscope.natural_language.detection import detect_languages
from macroscope.progress import SILENT_SECONDS, Progress
from macroscope.readers.reading import MODELS, REMARKS, read_user_documents
from macroscope.readers.selection import Selection

log = logging.getLogger("macroscope")

_MOST_RECOGNIZED = 200
"""Largest number of texts of a collection whose language is recognized."""


def read_collection(name: str, source: Input) -> list[Document]:
    """Read all documents of a collection; warn of what was left out, of doubtful fields and of unknown prompts.

    Raises
    ------
    MacroscopeError
        If there are none.
    """
    return read_counted(name, source)[0]


def read_counted(name: str, source: Input) -> tuple[list[Document], Sequence[Count]]:
    """Read all documents of a collection, and the counts of what was left out; warn as `read_collection` does."""
    provenance = Provenance(name)
    documents = []
    with Progress(f"read {name}", unit="texts", silent_seconds=SILENT_SECONDS) as bar:
        for document in read_user_documents(source.files, provenance, 0.0, 0.0, source.selection):
            documents.append(document)
            bar.advance(1)
    if dropped := describe_dropped(provenance.counts):
        log.warning("%s: left out: %s", name, dropped)
    for remark in list_remarks(provenance.source.get(REMARKS, []), provenance.source.get(MODELS, {}), source.selection):
        log.warning("%s: %s", name, remark)
    if not documents:
        raise MacroscopeError(f"{name}: no texts in {', '.join(map(str, source.files))}; give files with texts")
    warn_of_shared_openings(name, documents)
    return documents, provenance.counts


def read_sides(
    reference: Sequence[Path], candidates: Sequence[Path], given: GivenFields
) -> tuple[list[Document], dict[str, list[Document]]]:
    """Read the real texts, and those of each candidate by name; see `read_collection`."""
    called = make_candidates(candidates, given)
    warn_of_new_names(called)
    real = read_collection("the real texts", make_reference(reference, candidates, given))
    return real, {name: read_collection(name, each) for name, each in called.items()}


def warn_of_new_names(called: Mapping[str, Input]) -> None:
    """Warn of the candidates that could not keep their names."""
    profiles = [Profile(name, each.files, each.selection) for name, each in called.items()]
    for sentence in describe(NEW_NAMES, Profile(CORPUS), profiles):
        log.warning("%s", sentence)


def warn_of_shared_openings(name: str, documents: Sequence[Document]) -> None:
    """Warn if many texts of a collection begin alike without being of one prompt."""
    keys = [split_key(document.opening) for document in documents]
    openings = [first_words for _, first_words in keys]
    prompts = [prompt or shared_id(document.id) for (prompt, _), document in zip(keys, documents, strict=True)]
    for sentence in describe([BEGIN_ALIKE], Profile(name, openings=[*openings], prompts=[*prompts]), []):
        log.warning("%s", sentence)


def recognize_language(
    reference: Sequence[Document], candidates: Mapping[str, Sequence[Document]], requested: str | None
) -> str:
    """Return the language that the user requests, or that of most real texts; warn if languages differ.

    Parameters
    ----------
    reference
        Real texts. If there are none, the candidates' texts decide.
    """
    profiles = [Profile(name, languages=_count_languages(documents)) for name, documents in candidates.items()]
    if reference:
        real = Profile(CORPUS, languages=_count_languages(reference))
    else:
        real, profiles = Profile("the candidates", languages=sum((each.languages for each in profiles), Counter())), []
    for sentence in describe(LANGUAGES, real, profiles, requested):
        log.warning("%s", sentence)
    return choose_language(real.languages, requested)


def _count_languages(documents: Sequence[Document]) -> Counter[str]:
    return detect_languages(document.text for document in documents[:_MOST_RECOGNIZED])


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
