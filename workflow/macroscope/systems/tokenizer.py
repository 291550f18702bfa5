"""Tokenizers that are trained on a corpus, and their ids; words of texts for models over words.

`split_words` gives a word the same form wherever it occurs. A word that follows the previous one without a space
carries a joiner (the convention of OpenNMT): "a (b)." is `a`, `(`, `￭b`, `￭).`. White space other than line breaks
becomes one space.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from macroscope.errors import MacroscopeError
from macroscope.systems.formats import BOUNDARY, SECTION_BREAK

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

UNKNOWN = "<unk>"


def boundary_id(tokenizer: Any) -> int:
    """Return the id of the token that begins and ends a document.

    It is <|endoftext|> if the vocabulary has it, and the model's own end-of-text token otherwise.

    Raises
    ------
    MacroscopeError
        If the tokenizer has neither.
    """
    vocabulary = tokenizer.get_vocab()
    if BOUNDARY in vocabulary:
        return int(vocabulary[BOUNDARY])
    if tokenizer.eos_token_id is None:
        raise MacroscopeError(
            f"the tokenizer {tokenizer.name_or_path!r} has no end-of-text token; use another base model"
        )
    return int(tokenizer.eos_token_id)


def unknown_id(tokenizer: Any) -> int | None:
    """Return the id of the token for words outside the vocabulary, or None if there is none besides the boundary."""
    token = tokenizer.unk_token_id
    return None if token is None or token == boundary_id(tokenizer) else int(token)


def end_ids(tokenizer: Any) -> frozenset[int]:
    """Return the ids of the tokens that end a generated text: the boundary, and every control token.

    A model that was trained on chats may write the beginning of another turn, such as <|im_start|>, in place of an end.
    The token for unknown words is not among them.
    """
    added = (number for number, token in tokenizer.added_tokens_decoder.items() if token.special)
    return frozenset({boundary_id(tokenizer), *tokenizer.all_special_ids, *added} - {unknown_id(tokenizer)})


def train_words(texts: Iterator[str], vocabulary: int) -> "PreTrainedTokenizerFast":
    """Build a closed vocabulary of the most frequent words, numbered by frequency; any other word is <unk>.

    A word includes the space before it, also at the beginning of a section, so that it is the same token everywhere;
    decoding restores the text.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordLevel(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend(" "), normalizers.Replace(SECTION_BREAK, SECTION_BREAK + " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"\n+| ?\w+| ?[^\w\s]+|\s"), "isolated")
    tokenizer.decoder = decoders.Sequence(
        [decoders.Fuse(), decoders.Replace(SECTION_BREAK + " ", SECTION_BREAK), decoders.Strip(" ", 1, 0)]
    )
    special = [BOUNDARY, UNKNOWN]
    tokenizer.train_from_iterator(
        texts, trainers.WordLevelTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=BOUNDARY, eos_token=BOUNDARY, unk_token=UNKNOWN
    )


def train_bpe(texts: Iterator[str], vocabulary: int) -> "PreTrainedTokenizerFast":
    """Train a byte-level BPE tokenizer like that of GPT-2; the same texts give the same tokenizer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[BOUNDARY],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=BOUNDARY, eos_token=BOUNDARY)


JOINER = "￭"
_WORD = re.compile(r"\n+|[ \t\r\f\v]+|\w+|[^\w\s]+|\s")


def split_words(text: str) -> list[str]:
    """Split a text into words, runs of other characters, and line breaks."""
    words: list[str] = []
    free = True  # preceded by white space or by the beginning of the text
    for word in _WORD.findall(text):
        if word[0] == "\n":
            words.append(word)
        elif not word.isspace():
            words.append(word if free else JOINER + word)
        free = word.isspace()
    return words


def join_words(words: Iterable[str]) -> str:
    """Join words into a text: the inverse of `split_words`, except for white space."""
    spaced = " ".join(words).replace(f" {JOINER}", "")
    return re.sub(r" *(\n+) *", r"\1", spaced)
