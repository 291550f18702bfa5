"""Tokenizers that are trained on a corpus, and what all tokenizers of language models need: ids and training texts."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macroscope.documents import read_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.formats import BOUNDARY, SECTION_BREAK, format_training_text

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
    token = tokenizer.convert_tokens_to_ids(BOUNDARY)
    if token is not None and token != tokenizer.unk_token_id:
        return int(token)
    if tokenizer.eos_token_id is None:
        raise MacroscopeError(
            f"the tokenizer {tokenizer.name_or_path!r} has no end-of-text token; use another base model"
        )
    return int(tokenizer.eos_token_id)


def unknown_id(tokenizer: Any) -> int | None:
    """Return the id of the token for words outside the vocabulary, or None if there is none besides the boundary."""
    token = tokenizer.unk_token_id
    return None if token is None or token == boundary_id(tokenizer) else int(token)


def read_training_texts(documents: Path, split: str, titles: bool) -> Iterator[str]:
    """Yield the training texts of a split, in file order.

    Raises
    ------
    MacroscopeError
        If the format is W/ Title and a section has no title, or the split is empty.
    """
    empty = True
    for document in read_documents(documents, split):
        empty = False
        try:
            yield format_training_text(document, titles)
        except ValueError as error:
            raise MacroscopeError(
                f"{documents}, document {document.id!r}: {error}; set titles: false for this system"
            ) from None
    if empty:
        raise MacroscopeError(f"{documents}: no documents in split '{split}'; give the corpus more documents")


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
