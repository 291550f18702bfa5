"""Lengths of texts in tokens, counted in batches."""

from collections.abc import Callable, Sequence

from macroscope.errors import MacroscopeError

GPT2_PIECES = "gpt2-pieces"
_PIECE = r"'(?:[sdmt]|re|ve|ll)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""A piece, as in GPT-2's published code (encoder.py)."""

CountTokens = Callable[[Sequence[str]], list[int]]


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
    return _count_pieces() if name == GPT2_PIECES else _count_pretrained(name)


def _count_pieces() -> CountTokens:
    import regex

    pieces = regex.compile(_PIECE)

    def count(texts: Sequence[str]) -> list[int]:
        return [len(pieces.findall(text)) for text in texts]

    return count


def _count_pretrained(name: str) -> CountTokens:
    from macroscope.models import resolve
    from macroscope.pretrained import load_pretrained_tokenizer

    source = resolve(name)
    if source.location is None:
        raise MacroscopeError(
            f"filters.length_tokenizer: {name!r} is trained on the corpus itself, so it cannot measure it beforehand;"
            f" use '{GPT2_PIECES}', or a pretrained tokenizer"
        )
    tokenizer = load_pretrained_tokenizer(source)

    def count(texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]]

    return count
