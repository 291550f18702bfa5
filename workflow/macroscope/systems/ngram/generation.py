"""Generation of a system of kind `ngram`: documents from an n-gram model of the train split."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from macroscope.documents import Provenance, write_documents
from macroscope.files import scratch_folder
from macroscope.systems.language_model.options import BeamSampling, Nucleus
from macroscope.systems.ngram import NgramSystem
from macroscope.systems.ngram.decoding import NgramBeamSampler, truncate_to_nucleus
from macroscope.systems.ngram.model import NgramModel, estimate
from macroscope.systems.ngram.sampling import NgramSampler
from macroscope.systems.ngram.training import END, NgramCounts
from macroscope.systems.rejection_sampling import SamplingTask, generate_documents

Sampler = NgramSampler | NgramBeamSampler


def sample_ngram(model: Path, output: Path, options: NgramSystem, *, corpus: str, system: str, seed: int) -> None:
    """Estimate the model from the counts and generate the samples.

    Parameters
    ----------
    model
        Folder written by `training.count_train_split`.
    seed
        Seed of the run; the system's own seed is added.
    """
    seed += options.seed
    counts = NgramCounts.read(model)
    with scratch_folder(output) as folder:
        estimated = estimate(counts.trie, options.smoothing, unknown=False, folder=folder)
        sampler = _make_sampler(estimated, options)
        source = {
            "system": system,
            "order": options.order,
            "smoothing": options.smoothing,
            "titles": options.titles,
            "decoding": options.decoding.model_dump(mode="json"),
            "seed": seed,
            "vocabulary": len(counts.words) - 2,
            "orders_with_fallback_discounts": list(estimated.fallback_orders),
        }
        provenance = Provenance(corpus, source, options.model_dump(mode="json"))
        task = SamplingTask(
            system,
            options.samples,
            options.titles,
            options.max_tokens,
            "raise the order, give more training text, or set titles: false",
        )
        generate = partial(_generate, sampler, counts.words)
        write_documents(output, generate_documents(generate, task, provenance, seed), provenance)


def _make_sampler(model: NgramModel, options: NgramSystem) -> Sampler:
    """Return the sampler for the decoding rule of the options."""
    rule = options.decoding
    if isinstance(rule, BeamSampling):
        return NgramBeamSampler(model, END, options.max_tokens, rule.beams)
    if isinstance(rule, Nucleus):
        model = truncate_to_nucleus(model, rule.p, rule.temperature)
    return NgramSampler(model, END, options.max_tokens)


def _generate(
    sampler: Sampler, words: list[str], count: int, rng: np.random.Generator
) -> Iterator[tuple[list[str], bool]]:
    """Generate the words of texts, and whether each was cut off before its end."""
    for numbers in sampler.generate(count, rng):
        cut = bool(numbers[-1] != END)
        yield [words[number] for number in (numbers if cut else numbers[:-1])], cut
