"""The system of kind `ngram`: documents drawn from an n-gram model of the train split."""

import logging
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from macroscope.documents import Provenance, write_documents
from macroscope.systems.language_model.options import BeamSampling, Nucleus
from macroscope.systems.ngram.counts import count_ngrams
from macroscope.systems.ngram.decoding import NgramBeamSampler, nucleus
from macroscope.systems.ngram.model import NgramModel, estimate
from macroscope.systems.ngram.options import NgramSystem
from macroscope.systems.ngram.sampling import NgramSampler
from macroscope.systems.ngram.words import split_words
from macroscope.systems.tokenizer import training_texts
from macroscope.systems.word_samples import Wanted, sampled_documents

Sampler = NgramSampler | NgramBeamSampler

log = logging.getLogger("macroscope")

_BEGINNING, _END = 0, 1


def sample_ngram(documents: Path, output: Path, options: NgramSystem, *, corpus: str, system: str, seed: int) -> None:
    """Count the train split, estimate the model, draw the samples.

    Words are those of `words.split_words`; the vocabulary is closed: what the train split does not have is not drawn.

    Parameters
    ----------
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    vocabulary = {"": _BEGINNING, " ": _END}  # no word is empty, or a space
    texts = []
    for text in training_texts(documents, "train", options.titles):
        numbers = [vocabulary.setdefault(word, len(vocabulary)) for word in split_words(text)]
        texts.append(np.array([*numbers, _END], dtype=np.int64))
    trie = count_ngrams(texts, options.order, len(vocabulary), _BEGINNING)
    model = estimate(trie, options.smoothing, unknown=False)
    log.info(
        "%s: %d texts, %s words, vocabulary %s, %s %d-grams",
        system,
        len(texts),
        f"{sum(map(len, texts)):,}",
        f"{len(vocabulary) - 2:,}",
        f"{len(trie.levels[-1].keys):,}",
        options.order,
    )
    sampler = _sampler(model, options)
    source = {
        "system": system,
        "order": options.order,
        "smoothing": options.smoothing,
        "titles": options.titles,
        "decoding": options.decoding.model_dump(mode="json"),
        "seed": seed,
        "vocabulary": len(vocabulary) - 2,
        "orders_with_fallback_discounts": list(model.fallback_orders),
    }
    provenance = Provenance(corpus, source, options.model_dump(mode="json"))
    wanted = Wanted(
        system,
        options.samples,
        options.titles,
        options.max_tokens,
        "take a higher order, more training text, or titles: false",
    )
    draw = partial(_draw, sampler, list(vocabulary))
    write_documents(output, sampled_documents(draw, wanted, provenance, seed), provenance)


def _sampler(model: NgramModel, options: NgramSystem) -> Sampler:
    """What draws under the rule of the options."""
    rule = options.decoding
    if isinstance(rule, BeamSampling):
        return NgramBeamSampler(model, _END, options.max_tokens, rule.beams)
    if isinstance(rule, Nucleus):
        model = nucleus(model, rule.p, rule.temperature)
    return NgramSampler(model, _END, options.max_tokens)


def _draw(sampler: Sampler, words: list[str], count: int, rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """Words of texts, and whether each was cut off before its end."""
    for drawn in sampler.draw(count, rng):
        cut = bool(drawn[-1] != _END)
        yield [words[word] for word in (drawn if cut else drawn[:-1])], cut
