"""Prompts: the first words of held-out documents, which samples continue (pimentel2022, footnote 7).

A language model is given a prompt as tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macroscope.documents import Document, read_documents, require_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.formats import InvalidSample, format_training_text, parse_sample


@dataclass(frozen=True)
class Prompt:
    """The beginning of a sample; empty unless the system has prompts.

    Attributes
    ----------
    text
        Text of the prompt, exactly as the sample begins.
    document
        Id of the document that it is taken from.
    short
        Whether that document has fewer words than requested, so that the prompt is the whole document.
    """

    text: str = ""
    document: str | None = None
    short: bool = False


def read_prompts(documents: Path | None, words: int | None, titles: bool) -> list[Prompt]:
    """Read the prompts of a system's samples; sample i begins with prompt i modulo their number.

    Parameters
    ----------
    documents
        Samples of the control; each gives one prompt, in the order of the file.
    words
        Number of words of a prompt, separated by white space; None or 0: no prompts.
    titles
        Whether the format is W/ Title.

    Returns
    -------
    list of Prompt
        At least one; without prompts, a single empty one.

    Raises
    ------
    MacroscopeError
        If prompts are requested and there are no documents, or the format is W/ Title.
    """
    if not words:
        return [Prompt()]
    if titles:
        raise MacroscopeError("prompt_words: prompts are for untitled texts; set titles: false, or leave them out")
    if documents is None:
        raise MacroscopeError(
            "prompt_words: there are no documents to take prompts from; name them with --input prompts=..."
        )
    held_out = require_documents(list(read_documents(documents)), documents, "test")
    texts = [_plain_text(document) for document in held_out]
    return [
        Prompt(first_words(text, words), document.id, len(text.split()) < words)
        for document, text in zip(held_out, texts, strict=True)
    ]


def first_words(text: str, words: int) -> str:
    """Return the beginning of a text that ends with its `words`-th word; white space between words stays."""
    match = re.match(rf"\s*(?:\S+\s+){{0,{words - 1}}}\S+", text)
    return match.group() if match else ""


def _plain_text(document: Document) -> str:
    """Return a document's text in the form of a parsed sample, so that a prompt survives parsing unchanged."""
    try:
        sections, _ = parse_sample(format_training_text(document, titles=False), titles=False)
    except InvalidSample:
        return ""
    return format_training_text(Document(document.id, document.split, None, sections), titles=False)


@dataclass(frozen=True)
class EncodedPrompt(Prompt):
    """The beginning of a sample, as text and as the tokens that the model is given."""

    tokens: tuple[int, ...] = ()


def encode_prompts(prompts: Sequence[Prompt], tokenizer: Any) -> list[EncodedPrompt]:
    """Encode prompts; an empty prompt has no tokens."""
    encoded = tokenizer([prompt.text for prompt in prompts], add_special_tokens=False, verbose=False)["input_ids"]
    return [
        EncodedPrompt(prompt.text, prompt.document, prompt.short, tuple(tokens) if prompt.text else ())
        for prompt, tokens in zip(prompts, encoded, strict=True)
    ]


def require_room(prompts: list[EncodedPrompt], max_tokens: int) -> None:
    """Raise `MacroscopeError` if a prompt is as long as the longest sample, so that no token is left to generate."""
    longest = max(prompts, key=lambda prompt: len(prompt.tokens))
    if len(longest.tokens) >= max_tokens:
        raise MacroscopeError(
            f"prompt_words: the prompt from document {longest.document!r} has {len(longest.tokens)} tokens, and a"
            f" sample at most {max_tokens}; raise max_tokens, or lower prompt_words"
        )


def decode(tokens: Any, prompt: EncodedPrompt, tokenizer: Any) -> str:
    """Decode generated tokens; the prompt's text is kept exactly, even if decoding would change it."""
    text = tokenizer.decode(tokens)
    return prompt.text + text[len(tokenizer.decode(list(prompt.tokens))) :] if prompt.tokens else text
