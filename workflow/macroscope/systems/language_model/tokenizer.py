"""The tokenizer of a language model: the base model's own, or one trained on the corpus."""

from pathlib import Path
from typing import Any

from transformers import AutoTokenizer

from macroscope.files import atomic
from macroscope.models import ModelSource, load_error, resolve
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.tokenizer import train_bpe, train_words, training_texts


def train_tokenizer(documents: Path, output: Path, options: LanguageModelSystem) -> None:
    """Write the tokenizer of a language model into the folder `output`.

    Parameters
    ----------
    documents
        The corpus; a tokenizer of a model from scratch is trained on its train split.
    options
        `base`: where its registry entry gives a `vocabulary`, a tokenizer of that size is trained: a byte-level BPE, or
        with `tokens: words` a closed vocabulary of words. `titles`: the training text.
    """
    source = resolve(options.base)
    if source.location is None:
        train = train_words if source.configuration.get("tokens") == "words" else train_bpe
        texts = training_texts(documents, "train", options.titles)
        tokenizer: Any = train(texts, source.configuration["vocabulary"])
    else:
        tokenizer = published_tokenizer(source)
    with atomic(output) as folder:
        tokenizer.save_pretrained(folder)


def published_tokenizer(source: ModelSource) -> Any:
    """Load the tokenizer that a base model was published with."""
    try:
        return AutoTokenizer.from_pretrained(source.location, revision=source.revision or "main")
    except (OSError, ValueError) as error:
        raise load_error(source, error) from None
