"""Lines of text as documents (meister2021 §5; the preparation of XLM)."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from sacremoses import MosesPunctNormalizer

from macroscope.corpora.options import Corpus
from macroscope.documents import Document, Section, in_batches
from macroscope.natural_language.tokens import make_tokenizer
from macroscope.readers.splits import assign_split

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
