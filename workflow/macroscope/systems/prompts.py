"""Prompts: the first words of held-out documents, from which samples go on (pimentel2022, footnote 7)."""

import re
from dataclasses import dataclass
from pathlib import Path

from macroscope.documents import Document, read_documents, require_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.formats import InvalidDraw, parse_draw, training_text


@dataclass(frozen=True)
class Prompt:
    """What a sample begins with; nothing, unless the system has prompts.

    Attributes
    ----------
    text
        As it stands at the beginning of the sample.
    document
        Id of the document that it is taken from.
    short
        Whether that document has fewer words than were asked for, and is the prompt as a whole.
    """

    text: str = ""
    document: str | None = None
    short: bool = False


def read_prompts(documents: Path | None, words: int | None, titles: bool) -> list[Prompt]:
    """Prompts of a system's samples: sample i has number i modulo their number.

    Parameters
    ----------
    documents
        The control's samples, of which each gives a prompt, in the order of the file.
    words
        Words of a prompt, as white space separates them; none: samples begin with nothing.

    Returns
    -------
    list, at least one prompt; where there are none, a single empty one.

    Raises
    ------
    MacroscopeError
        Where there are no documents, or the format is W/ Title.
    """
    if not words:
        return [Prompt()]
    if titles:
        raise MacroscopeError("prompt_words: prompts are for untitled texts; set titles: false, or leave them out")
    if documents is None:
        raise MacroscopeError(
            "prompt_words: there are no documents to take prompts from; name them with --input prompts=..."
        )
    found = require_documents(list(read_documents(documents)), documents, "test")
    texts = [_plain_text(document) for document in found]
    return [
        Prompt(first_words(text, words), document.id, len(text.split()) < words)
        for document, text in zip(found, texts, strict=True)
    ]


def first_words(text: str, words: int) -> str:
    """Return the beginning of a text that ends with its `words`-th word; white space between words stays."""
    found = re.match(rf"\s*(?:\S+\s+){{0,{words - 1}}}\S+", text)
    return found.group() if found else ""


def _plain_text(document: Document) -> str:
    """Text in the form that samples have: a sample that begins with its first words begins so when it is read again."""
    try:
        sections, _ = parse_draw(training_text(document, titles=False), titles=False)
    except InvalidDraw:
        return ""
    return training_text(Document(document.id, document.split, None, sections), titles=False)
