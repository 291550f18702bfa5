"""Profiles of a user's texts, made in seconds: their sizes, languages and labels, and the critics that they allow."""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from macroscope.criticize.wrappers import Excerpt, KeptSurroundings, Wrapper, describe_wrappers
from macroscope.document_keys import shared_id, split_key
from macroscope.documents import Count, Document, Provenance
from macroscope.natural_language.detection import UNKNOWN, detect_each, main_language
from macroscope.natural_language.languages import ENGLISH, require_code
from macroscope.natural_language.ngrams import COPY, NO_HASHES, hash_ngrams, hash_words
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.typesetting import Marks, count_marks, different_families
from macroscope.natural_language.words import count_words, has_stop_words, lower_case_words, stop_words
from macroscope.progress import Progress
from macroscope.readers.parsing import (
    CUT,
    HARD_WRAPPED,
    NAMED_BY_PLACE,
    NOT_COMPOSED,
    SAID,
    STATED,
    STRAIGHTENED,
    WITHOUT_TEXT,
)
from macroscope.readers.reading import MODELS, READ_AS, REMARKS, describe_said, read_user_documents
from macroscope.readers.selection import Selection
from macroscope.readers.splits import assign_split

MOST_DOCUMENTS = 20_000
"""Largest number of documents of a collection that are read."""
_BATCH_DOCUMENTS, _BATCH_CHARACTERS = 128, 1 << 22
"""Largest numbers of documents, and of characters before the last one, whose languages are recognized together."""
EXCERPTS, _HEAD, _TAIL = 500, 4000, 40
"""Number of texts of which beginnings and ends are kept, and their characters."""
_MOST_NGRAMS = 1 << 24
"""Number of n-grams that are kept: 128 MB."""
NARRATIVE_SENTENCES = 5
TOPICAL_OCCURRENCES = 10
"""Number of occurrences from which on a word counts as topical (`critics.declaration.COUNTED`)."""
MISSING_VALUES = frozenset(("nan", "none", "null", "na", "n/a", "#n/a", "<na>"))
"""Texts, in lower case, that programs write for a missing value."""
_MANY_OPENINGS = 0.2
"""Share of the texts from which on texts that begin alike may be of one prompt."""
_OTHER_LANGUAGES = 0.1
"""Share of texts that must be in other languages for a difference."""
_FINAL_MARK = re.compile(r"[.!?…。！？][\"'”’»」』)\]*_\s]*$")
_PERSON = re.compile(r"\b(?:he|she)\b", re.IGNORECASE)


@dataclass
class Profile:
    """The properties of a collection of texts.

    Attributes
    ----------
    name
        Name of the collection.
    files, selection
        The files and folders that it is read from, and the texts to read of them.
    read_as, remarks, models
        What was taken as what, with the number of files; facts that the user should know; numbers of texts per model.
    words
        Number of words of each document.
    ids, prompts, openings, texts
        Hashes of each document's id, its prompt (see `document_groups.prompt_labels`), its opening (0 if it has none)
        and its text.
    ids_by_place
        Those of `ids` that name a file, or its line: the document has no id of its own.
    ngrams
        Hashes of each document's n-grams of `COPY` words (uint64), in their order; none of those beyond `_MOST_NGRAMS`.
    titled, partly_titled, with_persons, narratives
        Numbers of documents with section titles; of these, with titles on some sections only; with "he" or "she" at
        least twice, if they may be English; with five sentences or more.
    frequencies, occurs_in
        Numbers of occurrences of each word, stop words excluded, and of documents that have it.
    splits, labels, languages, headings
        Number of documents of each; `natural_language.detection` tells languages; headings are the kinds of headings of
        plain texts (`readers.plain_text`).
    marks
        Numbers of quotation marks, dashes and spaces by their kinds.
    has_splits
        Whether any document has a split of its own, other than that which its id or its text would be assigned.
    shortest, longest
        (words, id) of that document.
    counts
        Counts of what reading left out.
    missing
        Number of texts that are what programs write for a missing value.
    not_composed, hard_wrapped
        Numbers of records with characters that reading composed (NFC), and with lines that it joined.
    straightened
        Numbers of the marks that reading straightened, and of their texts.
    excerpts
        First and last characters of the first texts.
    surroundings
        What surrounds the texts, in the place of the excerpts if these are not kept.
    wrappers
        Features that give the texts away beside the reference.
    unfinished
        Number of texts that end without a final mark.
    cut
        Numbers of texts that their records say were cut at a limit, and of those whose records say it or not.
    is_all
        Whether all documents were read.
    requested_language
        Language that the user requests, if any.
    """

    name: str
    files: Sequence[Path] = ()
    selection: Selection = field(default_factory=Selection)
    read_as: Mapping[str, int] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    models: Mapping[str, int] = field(default_factory=dict)
    words: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    ids_by_place: set[int] = field(default_factory=set)
    prompts: list[Hashable] = field(default_factory=list)
    openings: list[Hashable] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    ngrams: list[bytes] = field(default_factory=list, repr=False)
    titled: int = 0
    partly_titled: int = 0
    with_persons: int = 0
    narratives: int = 0
    frequencies: Counter[str] = field(default_factory=Counter)
    occurs_in: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    headings: Counter[str] = field(default_factory=Counter)
    marks: Marks = field(default_factory=Counter)
    has_splits: bool = False
    shortest: tuple[int, str] | None = None
    longest: tuple[int, str] | None = None
    counts: Sequence[Count] = ()
    missing: int = 0
    not_composed: int = 0
    hard_wrapped: int = 0
    straightened: Sequence[int] = (0, 0)
    excerpts: list[Excerpt] = field(default_factory=list)
    surroundings: KeptSurroundings | None = None
    wrappers: Sequence[Wrapper] = ()
    unfinished: int = 0
    cut: tuple[int, int] = (0, 0)
    is_all: bool = True
    requested_language: str | None = None

    @property
    def documents(self) -> int:
        """Return the number of documents that were read."""
        return len(self.words)

    @property
    def without_text(self) -> int:
        """Return the number of records without a text."""
        return sum(count.dropped for count in self.counts if count.filter == WITHOUT_TEXT)

    @property
    def repeated(self) -> int:
        """Return the number of documents with the text of an earlier one."""
        return self.documents - len(set(self.texts))

    @property
    def shared_openings(self) -> tuple[int, int]:
        """Return the number of openings that texts of different prompts share, and of these texts."""
        counts = Counter(opening for opening, _ in {*zip(self.openings, self.prompts, strict=True)} if opening)
        shared = {opening for opening, number in counts.items() if number > 1}
        return len(shared), sum(opening in shared for opening in self.openings)

    @property
    def given_away_by(self) -> str:
        """Return what gives the texts away beside structure, in words; "" for nothing, or if the user accepts it."""
        return "" if self.selection.keep_wrappers else describe_wrappers(self.wrappers)

    @property
    def begins_alike(self) -> bool:
        """Return whether many texts have the same opening, as continuations of one prompt have."""
        _, texts = self.shared_openings
        return bool(texts) and texts >= _MANY_OPENINGS * len(self.openings)

    @property
    def extremes(self) -> dict[str, tuple[int, str] | None]:
        return {"shortest": self.shortest, "longest": self.longest}

    def counted(self) -> dict[str, int]:
        """Return the counts that critics may require (`critics.declaration.COUNTED`)."""
        return {
            "documents": self.documents,
            "titled": self.titled,
            "with_persons": self.with_persons,
            "narratives": self.narratives,
            "topical_words": len(self.topical_words),
        }

    @property
    def topical_words(self) -> list[str]:
        """Return the words that recur, and that fewer than half of the documents have."""
        return [
            word
            for word, number in self.frequencies.items()
            if number >= TOPICAL_OCCURRENCES and self.occurs_in[word] < self.documents / 2
        ]


def profile_texts(
    name: str, paths: Sequence[Path], shares: tuple[float, float] = (0.1, 0.3), selection: Selection | None = None
) -> Profile:
    """Profile the first documents of files and folders.

    Parameters
    ----------
    name
        Name of the collection.
    shares
        Shares of the validation and test splits, for documents without a split.
    selection
        Texts to read; default: all.

    Raises
    ------
    MacroscopeError
        If a file cannot be read, or a record is malformed; with file and line.
    """
    profile, provenance = Profile(name, paths, selection or Selection()), Provenance(name)
    documents = read_user_documents(paths, provenance, *shares, profile.selection)
    frequencies: dict[str, Counter[str]] = defaultdict(Counter)
    occurs_in: dict[str, Counter[str]] = defaultdict(Counter)
    hashed = 0
    with Progress(f"profile {name}", unit="texts") as bar:
        for batch in _batches(_mark_named_by_place(islice(documents, MOST_DOCUMENTS), provenance)):
            languages = detect_each(document.text for document, _ in batch)
            for (document, is_named_by_place), language in zip(batch, languages, strict=True):
                words = _add(profile, document, language)
                ngrams = hash_ngrams(hash_words(words), COPY) if hashed < _MOST_NGRAMS else NO_HASHES
                hashed += len(ngrams)
                profile.ngrams.append(ngrams.tobytes())
                frequencies[language].update(words)
                occurs_in[language].update(set(words))
                if is_named_by_place:
                    profile.ids_by_place.add(profile.ids[-1])
                assigned = {assign_split(key, *shares) for key in (document.id, document.text)}
                profile.has_splits |= document.split not in assigned
                bar.advance(1)
    profile.frequencies, profile.occurs_in = _sum_without_stop_words(frequencies), _sum_without_stop_words(occurs_in)
    profile.headings = Counter(provenance.source["headings"])  # before the next document, which is not counted
    profile.is_all = next(documents, None) is None
    profile.counts = provenance.counts
    profile.read_as = provenance.source.get(READ_AS, {})
    profile.remarks = [*provenance.source.get(REMARKS, []), *describe_said(provenance)]
    profile.models = provenance.source.get(MODELS, {})
    said = provenance.source.get(SAID, {})
    profile.cut = said.get(CUT, 0), said.get(STATED, 0)
    profile.not_composed = provenance.source.get(NOT_COMPOSED, 0)
    profile.straightened = provenance.source.get(STRAIGHTENED, (0, 0))
    profile.hard_wrapped = provenance.source.get(HARD_WRAPPED, 0)
    return profile


def _mark_named_by_place(documents: Iterable[Document], provenance: Provenance) -> Iterator[tuple[Document, bool]]:
    """Yield each document as it is read, and whether it has no id of its own."""
    before = 0
    for document in documents:
        now = provenance.source.get(NAMED_BY_PLACE, 0)
        yield document, now > before
        before = now


def _batches(marked: Iterable[tuple[Document, bool]]) -> Iterator[list[tuple[Document, bool]]]:
    batch: list[tuple[Document, bool]] = []
    characters = 0
    for document, is_named_by_place in marked:
        batch.append((document, is_named_by_place))
        characters += len(document.text)
        if len(batch) == _BATCH_DOCUMENTS or characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _add(profile: Profile, document: Document, language: str) -> list[str]:
    """Add a document to the profile, and return its words in lower case."""
    text = document.text
    words = count_words(text)
    profile.words.append(words)
    profile.ids.append(_hash(document.id))
    prompt, opening = name_prompt(document)
    profile.prompts.append(_hash(prompt))
    profile.openings.append(_hash(opening) if opening else 0)
    profile.texts.append(_hash(" ".join(text.split())))
    titles = [bool(section.title) for section in document.sections]
    profile.titled += any(titles)
    profile.partly_titled += any(titles) and not all(titles)
    profile.with_persons += language in (ENGLISH, UNKNOWN) and len(_PERSON.findall(text)) > 1
    profile.narratives += len(split_sentences(text, language)) >= NARRATIVE_SENTENCES
    profile.splits[document.split] += 1
    if document.label is not None:
        profile.labels[document.label] += 1
    profile.languages[language] += 1
    profile.missing += text.casefold() in MISSING_VALUES
    profile.marks.update(count_marks(text))
    profile.unfinished += _FINAL_MARK.search(text) is None
    if len(profile.excerpts) < EXCERPTS:
        profile.excerpts.append(make_excerpt(text, profile.prompts[-1]))
    size = (words, document.id)
    profile.shortest = size if profile.shortest is None else min(profile.shortest, size)
    profile.longest = size if profile.longest is None else max(profile.longest, size)
    return lower_case_words(text)


def name_prompt(document: Document) -> tuple[str, str]:
    """Return the prompt of a document, or what stands for it, and its opening; "" if it has none."""
    prompt, first_words = split_key(document.opening)
    return prompt or shared_id(document.id), first_words or prompt


def make_excerpt(text: str, prompt: Hashable) -> Excerpt:
    return Excerpt(text[:_HEAD], text[-_TAIL:], prompt)


def _sum_without_stop_words(counts: Mapping[str, Counter[str]]) -> Counter[str]:
    """Return the sums over languages of numbers per word, without the stop words of each language."""
    total: Counter[str] = Counter()
    for language, numbers in counts.items():
        for word in stop_words(language) if language != UNKNOWN and has_stop_words(language) else ():
            del numbers[word]
        total.update(numbers)
    return total


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def differences(reference: Profile, candidate: Profile) -> list[str]:
    """Return what differs between two collections apart from structure: languages, and kinds of marks."""
    languages = ["languages"] if languages_differ(reference.languages, candidate.languages) else []
    return [*languages, *different_families(reference.marks, candidate.marks)]


def choose_language(reference: Counter[str], requested: str | None) -> str:
    """Return the language that the user requests, or that of most texts of the reference, or else English.

    Parameters
    ----------
    reference
        Numbers of texts by language.

    Raises
    ------
    MacroscopeError
        If the requested language is unknown.
    """
    if requested is not None:
        return require_code(requested)
    main = main_language(reference)
    return ENGLISH if main == UNKNOWN else main


def languages_differ(reference: Counter[str], candidate: Counter[str]) -> bool:
    """Return whether two collections differ in the languages of their texts, by those that are recognized."""
    of_reference, of_candidate = _shares(reference), _shares(candidate)
    distance = (
        sum(abs(of_reference.get(code, 0) - of_candidate.get(code, 0)) for code in of_reference | of_candidate) / 2
    )
    return bool(of_reference and of_candidate) and distance >= _OTHER_LANGUAGES


def _shares(languages: Counter[str]) -> dict[str, float]:
    recognized = {code: number for code, number in languages.items() if code != UNKNOWN}
    return {code: number / sum(recognized.values()) for code, number in recognized.items()}
