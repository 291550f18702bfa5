"""Lines of text as documents (meister2021 §5; the preparation of XLM)."""

import unicodedata
from collections.abc import Iterable, Iterator

from macroscope.corpora.options import Corpus
from macroscope.corpora.splits import assign_split
from macroscope.documents import Document, Section

LEAD = "abstract"
"""Title that sources give the text before the first heading; it is not a line."""


def split_lines(documents: Iterable[Document], options: Corpus) -> Iterator[Document]:
    """Turn every line into a document of one untitled section, with the label of its document.

    The options `lines` choose which lines there are, in which form, and how they are split.
    """
    for document in documents:
        for number, line in enumerate(filter(None, map(str.strip, _list_lines(document, options.lines.headings)))):
            name, split = f"{document.id}#{number}", document.split
            if options.lines.split_by == "line":
                split = assign_split(name, options.valid_share, options.test_share)
            text = fold(line) if options.lines.fold else line
            yield Document(name, split, None, (Section(None, text),), label=document.label)


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
