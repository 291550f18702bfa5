"""Lines of text (meister2021 §5; the preparation of XLM), and passages of long documents, as documents.

A passage is running text: it begins with a sentence and has an exact number of words, so that real texts and texts that
a system was asked for have the same length. It stays within a section. Lines that do not end a sentence, such as
headings and items of lists, belong to no passage.

Passages of one document are alike. A held-out document therefore gives one passage, so that the texts that systems are
compared with are independent. Training documents give all of theirs.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice

from sacremoses import MosesPunctNormalizer

from macroscope.corpora.options import Corpus
from macroscope.document_keys import number_passage
from macroscope.documents import Count, Document, Section, in_batches, keep
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.tokens import make_tokenizer
from macroscope.natural_language.words import count_words, cut_after_words
from macroscope.readers.splits import assign_split

_SENTENCE_END = re.compile(r"[.!?…。！？।۔؟][\"'”’»)\]]*$")


class PassageCutter:
    """Cutter of documents into passages.

    Parameters
    ----------
    options
        Options of the corpus; `passages` has the number of words.

    Attributes
    ----------
    counts
        Documents without a passage, words outside of passages, and further passages of held-out documents.
    """

    def __init__(self, options: Corpus) -> None:
        self._words, self._language = options.passages.words, options.language
        option = "passages.words"
        self._without = Count(f"no passage of {self._words} words", 0, 0, option=option)
        self._outside = Count(f"text outside of passages of {self._words} words", 0, 0, "words", option)
        self._further = Count("further passage of a held-out document", 0, 0, "passages")
        self.counts = [self._without, self._outside, self._further]

    def cut(self, documents: Iterable[Document]) -> Iterator[Document]:
        """Stream the passages of documents; each is a document of one untitled section, with the label of its own."""
        for document in documents:
            passages = [text for section in document.sections for text in self._passages_of(section)]
            self._count_words(document, len(passages))
            if not keep(self._without, bool(passages)):
                continue
            is_held_out, chosen = document.split != "train", _choose(document.id, len(passages))
            for number, text in enumerate(passages, 1):
                if not is_held_out or keep(self._further, number == chosen):
                    name = number_passage(document.id, number)
                    yield Document(name, document.split, None, (Section(None, text),), label=document.label)

    def _passages_of(self, section: Section) -> Iterator[str]:
        for run in _running_text(section.text):
            passage = ""
            for sentence in split_sentences(run, self._language):
                passage += sentence
                if count_words(passage) >= self._words:
                    yield cut_after_words(passage, self._words)
                    passage = ""

    def _count_words(self, document: Document, passages: int) -> None:
        words = sum(count_words(section.text) for section in document.sections)
        self._outside.kept += passages * self._words
        self._outside.dropped += words - passages * self._words


def _running_text(text: str) -> Iterator[str]:
    """Yield the runs of lines that each end a sentence."""
    lines: list[str] = []
    for line in (*text.split("\n"), ""):
        if _SENTENCE_END.search(line.rstrip()):
            lines.append(line.strip())
        elif lines:
            yield "\n".join(lines)
            lines = []


def _choose(identifier: str, passages: int) -> int:
    """Return the number of a document's passage, from 1, by a hash of its id; 0 if there are none."""
    digest = blake2b(f"passage of {identifier}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return 1 + int.from_bytes(digest, "big") % passages if passages else 0


_AT_ONCE = 1000
LEAD = "abstract"
"""Title that sources give the text before the first heading; it is not a line."""


def split_lines(documents: Iterable[Document], options: Corpus) -> Iterator[Document]:
    """Turn every line into a document of one untitled section, with the label of its document.

    The options `lines` choose which lines there are, in which form, and how they are split.
    """
    tokenize = _make_separator(options.language) if options.lines.tokenize else list
    for batch in in_batches(_stream_lines(documents, options), _AT_ONCE):
        texts = tokenize([text for *_, text in batch])
        for (name, split, label, _), text in zip(batch, texts, strict=True):
            yield Document(name, split, None, (Section(None, fold(text) if options.lines.fold else text),), label=label)


def _stream_lines(documents: Iterable[Document], options: Corpus) -> Iterator[tuple[str, str, str | None, str]]:
    """Return the id, the split, the label and the text of every line."""
    for document in documents:
        for number, line in enumerate(filter(None, map(str.strip, _list_lines(document, options.lines.headings)))):
            name, split = f"{document.id}#{number}", document.split
            if options.lines.split_by == "line":
                split = assign_split(name, options.valid_share, options.test_share)
            yield name, split, document.label, line


def _make_separator(language: str) -> Callable[[Sequence[str]], list[str]]:
    """Make a function that returns texts as their tokens, in lower case, separated by spaces.

    As in the preparation of XLM, the punctuation is normalised first, and control characters are removed.
    """
    normaliser = MosesPunctNormalizer(language, pre_replace_unicode_punct=True, post_remove_control_chars=True)
    tokenizer = make_tokenizer(language)

    def separate(texts: Sequence[str]) -> list[str]:
        batch = tokenizer([normaliser.normalize(text) for text in texts])
        tokens = iter([batch.types[number] for number in batch.ids])
        return [" ".join(islice(tokens, length)) for length in batch.lengths]

    return separate


def fold(text: str) -> str:
    """Return a text in lower case and without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")


def _list_lines(document: Document, headings: bool) -> Iterator[str]:
    if headings and document.title:
        yield document.title
    for number, section in enumerate(document.sections):
        if headings and section.title and not (number == 0 and section.title == LEAD):
            yield section.title
        yield from section.text.split("\n")
