"""The system of kind `ngram`: documents drawn from an n-gram model of the train split."""

import logging
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.documents import Count, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidDraw, parse_draw, reasons
from macroscope.systems.language_model.options import BeamSampling, Nucleus
from macroscope.systems.ngram.counts import Integers, count_ngrams
from macroscope.systems.ngram.decoding import NgramBeamSampler, nucleus
from macroscope.systems.ngram.model import NgramModel, estimate
from macroscope.systems.ngram.options import NgramSystem
from macroscope.systems.ngram.sampling import NgramSampler
from macroscope.systems.ngram.words import join_words, split_words
from macroscope.systems.tokenizer import training_texts

Sampler = NgramSampler | NgramBeamSampler

log = logging.getLogger("macroscope")

BLOCK = 4096
"""Samples that are drawn together, from random numbers of their own."""
_BEGINNING, _END = 0, 1


@dataclass
class _Tally:
    """What happened while sampling."""

    invalid: Counter[str]
    cut: int = 0
    empty_sections: int = 0
    sections: int = 0
    given_up: int = 0


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
    write_documents(output, _documents(sampler, list(vocabulary), options, provenance, seed), provenance)


def _sampler(model: NgramModel, options: NgramSystem) -> Sampler:
    """What draws under the rule of the options."""
    rule = options.decoding
    if isinstance(rule, BeamSampling):
        return NgramBeamSampler(model, _END, options.max_tokens, rule.beams)
    if isinstance(rule, Nucleus):
        model = nucleus(model, rule.p, rule.temperature)
    return NgramSampler(model, _END, options.max_tokens)


def _documents(
    sampler: Sampler, words: list[str], options: NgramSystem, provenance: Provenance, seed: int
) -> Iterator[Document]:
    """All samples, block by block; the counts go into the provenance."""
    tally, system = _Tally(Counter()), str(provenance.source["system"])
    with Progress(f"sample {system}", options.samples, "samples") as bar:
        for block, start in enumerate(range(0, options.samples, BLOCK)):
            indices = range(start, min(start + BLOCK, options.samples))
            for index, sections in _block(sampler, words, options.titles, indices, (seed, system, block), tally):
                yield Document(f"{system}-{index:07d}", "test", None, sections)
            bar.advance(len(indices))
    if tally.given_up > options.samples / 2:
        raise MacroscopeError(
            f"system {system}: {tally.given_up} of {options.samples} samples had {ATTEMPTS} invalid draws in a row;"
            " take a higher order, more training text, or titles: false"
        )
    provenance.counts.extend(_counts(tally, options))


def _counts(tally: _Tally, options: NgramSystem) -> list[Count]:
    valid = options.samples - tally.given_up
    return [
        *(Count(reason, valid, tally.invalid[reason], "draws") for reason in reasons(options.titles)),
        Count(f"{ATTEMPTS} invalid draws in a row", valid, tally.given_up, "samples"),
        Count("section without text", tally.sections, tally.empty_sections, "sections"),
        Count(f"end of a sample beyond {options.max_tokens} tokens", valid - tally.cut, tally.cut, "ends of samples"),
    ]


def _block(
    sampler: Sampler,
    words: list[str],
    titles: bool,
    indices: range,
    key: tuple[int, str, int],
    tally: _Tally,
) -> Iterator[tuple[int, tuple[Section, ...]]]:
    """Valid samples of a block, in their order; invalid draws are drawn again."""
    seed, system, block = key
    found: dict[int, tuple[Section, ...]] = {}
    for attempt in range(ATTEMPTS):
        wanted = [index for index in indices if index not in found]
        if not wanted:
            break
        rng = np.random.default_rng([seed, zlib.crc32(system.encode()), block, attempt])
        for index, drawn in zip(wanted, sampler.draw(len(wanted), rng), strict=True):
            sections = _read(drawn, words, titles, tally)
            if sections:
                found[index] = sections
    tally.given_up += len(indices) - len(found)
    yield from sorted(found.items())


def _read(drawn: Integers, words: list[str], titles: bool, tally: _Tally) -> tuple[Section, ...]:
    """Sections of a draw; none where it is invalid."""
    cut = drawn[-1] != _END
    text = join_words(words[word] for word in (drawn if cut else drawn[:-1]))
    try:
        sections, empty = parse_draw(text, titles)
    except InvalidDraw as error:
        tally.invalid[str(error)] += 1
        return ()
    tally.cut += bool(cut)
    tally.empty_sections += empty
    tally.sections += len(sections)
    return sections
