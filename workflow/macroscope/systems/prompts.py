"""Prompts: the beginnings of held-out documents, which samples continue (pimentel2022, footnote 7).

A prompt has a number of words, as in the paper, or of tokens, as in its released code. A language model is given it as
tokens.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.documents import Document, read_documents, require_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.formats import InvalidSample, format_training_text, parse_sample
from macroscope.systems.rejection_sampling import Sample, SampleCount

if TYPE_CHECKING:
    from macroscope.systems.language_model.options import LanguageModelSystem


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
    return [
        Prompt(first_words(text, words), name, len(text.split()) < words)
        for name, text in _read_texts(documents, titles, "prompt_words")
    ]


def _read_texts(documents: Path | None, titles: bool, option: str) -> list[tuple[str, str]]:
    """Read id and plain text of the documents that provide prompts; `option` requests these, for messages."""
    if titles:
        raise MacroscopeError(f"{option}: prompts are for untitled texts; set titles: false, or leave them out")
    if documents is None:
        raise MacroscopeError(
            f"{option}: there are no documents to take prompts from; name them with --input prompts=..."
        )
    held_out = require_documents(list(read_documents(documents)), documents, "test")
    return [(document.id, _plain_text(document)) for document in held_out]


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


def read_encoded_prompts(documents: Path | None, options: "LanguageModelSystem", tokenizer: Any) -> list[EncodedPrompt]:
    """Read the prompts of a language model's samples, and encode them; see `read_prompts` and `first_tokens`."""
    if not options.prompt_tokens:
        return encode_prompts(read_prompts(documents, options.prompt_words, options.titles), tokenizer)
    texts = _read_texts(documents, options.titles, "prompt_tokens")
    return [replace(first_tokens(text, options.prompt_tokens, tokenizer), document=name) for name, text in texts]


def first_tokens(text: str, tokens: int, tokenizer: Any) -> EncodedPrompt:
    """Return the beginning of a text of at most `tokens` tokens, encoded as a part of the whole text.

    White space and parts of a character at its end are left out, since a parsed sample would not have them. The prompt
    is `short` if the whole text has fewer tokens.
    """
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ids, places = encoded["input_ids"], encoded["offset_mapping"]
    borders = [*(start for start, _ in places[1:]), len(text)]
    kept = min(tokens, len(ids))
    while kept and (borders[kept - 1] < places[kept - 1][1] or not text[slice(*places[kept - 1])].strip()):
        kept -= 1
    end = places[kept - 1][1] if kept else 0
    return EncodedPrompt(text[:end], None, len(ids) < tokens, tuple(ids[:kept]))


def encode_prompts(prompts: Sequence[Prompt], tokenizer: Any) -> list[EncodedPrompt]:
    """Encode prompts; an empty prompt has no tokens."""
    encoded = tokenizer([prompt.text for prompt in prompts], add_special_tokens=False, verbose=False)["input_ids"]
    return [
        EncodedPrompt(prompt.text, prompt.document, prompt.short, tuple(tokens) if prompt.text else ())
        for prompt, tokens in zip(prompts, encoded, strict=True)
    ]


def count_short_prompts(prompts: Sequence[Prompt], length: str) -> list[SampleCount]:
    """Return the count of prompts that are whole documents, shorter than requested; nothing without prompts ("")."""

    def is_short(sample: Sample[Any]) -> bool:
        return prompts[sample.index % len(prompts)].short

    return [SampleCount(f"prompt shorter than {length}", "whole prompts", is_short, lambda s: 1)] if length else []


def require_room(prompts: list[EncodedPrompt], max_tokens: int) -> None:
    """Raise `MacroscopeError` if a prompt is as long as the longest sample, so that no token is left to generate."""
    longest = max(prompts, key=lambda prompt: len(prompt.tokens))
    if len(longest.tokens) >= max_tokens:
        raise MacroscopeError(
            f"the prompt from document {longest.document!r} has {len(longest.tokens)} tokens, and a sample at most"
            f" {max_tokens}; raise max_tokens, or lower prompt_words or prompt_tokens"
        )


def decode(tokens: Any, prompt: EncodedPrompt, tokenizer: Any) -> str:
    """Decode generated tokens; the prompt's text is kept exactly, even if decoding would change it."""
    text = tokenizer.decode(tokens)
    return prompt.text + text[len(tokenizer.decode(list(prompt.tokens))) :] if prompt.tokens else text
