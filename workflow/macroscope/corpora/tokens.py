"""Tokens of texts: their number, in batches, and their ends."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from macroscope.errors import MacroscopeError

GPT2_PIECES = "gpt2-pieces"
_PIECE = r"'(?:[sdmt]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""A piece, as in GPT-2's published code (encoder.py)."""

CountTokens = Callable[[Sequence[str]], list[int]]
LocateTokens = Callable[[str], list[int]]


def make_token_counter(name: str) -> CountTokens:
    """Make a function that counts the tokens of each text of a batch.

    Parameters
    ----------
    name
        "gpt2-pieces": the pieces of GPT-2's byte-level pre-tokeniser, within which its BPE merges. They need no
        download, and are never more than GPT-2's tokens. Otherwise a Hugging Face tokenizer by name or folder.

    Raises
    ------
    MacroscopeError
        If the tokenizer cannot be loaded.
    """
    if name == GPT2_PIECES:
        locate = _locate_pieces()
        return lambda texts: [len(locate(text)) for text in texts]
    tokenizer = _load_tokenizer(name)
    return lambda texts: [len(ids) for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]]


@cache
def make_token_locator(name: str) -> LocateTokens:
    """Make a function that returns the ends of a text's tokens, in characters; `name` as in `make_token_counter`."""
    if name == GPT2_PIECES:
        return _locate_pieces()
    tokenizer = _load_tokenizer(name)

    def locate(text: str) -> list[int]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [end for _, end in encoded["offset_mapping"]]

    return locate


def _locate_pieces() -> LocateTokens:
    import regex

    pieces = regex.compile(_PIECE)
    return lambda text: [piece.end() for piece in pieces.finditer(text)]


def _load_tokenizer(name: str) -> Any:
    from macroscope.models import resolve
    from macroscope.pretrained import load_pretrained_tokenizer

    source = resolve(name)
    if source.location is None:
        raise MacroscopeError(
            f"tokenizer {name!r}: it is trained on the corpus itself, so it cannot measure it beforehand; use"
            f" '{GPT2_PIECES}', or a pretrained tokenizer"
        )
    return load_pretrained_tokenizer(source)
