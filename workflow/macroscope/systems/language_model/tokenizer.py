"""The tokenizer of a language model: the base model's own, or one trained on the corpus."""

from pathlib import Path
from typing import Any

from macroscope.files import atomic
from macroscope.models import resolve
from macroscope.pretrained import load_pretrained_tokenizer
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
        tokenizer = load_pretrained_tokenizer(source)
    with atomic(output) as folder:
        tokenizer.save_pretrained(folder)
