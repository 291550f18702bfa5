"""The system of kind `ngram`: documents drawn from an n-gram model of the train split."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from macroscope.documents import Provenance, write_documents
from macroscope.files import scratch_folder
from macroscope.systems.language_model.options import BeamSampling, Nucleus
from macroscope.systems.ngram.decoding import NgramBeamSampler, nucleus
from macroscope.systems.ngram.model import NgramModel, estimate
from macroscope.systems.ngram.options import NgramSystem
from macroscope.systems.ngram.sampling import NgramSampler
from macroscope.systems.ngram.training import END, Counted
from macroscope.systems.rejection_sampling import Wanted, sampled_documents

Sampler = NgramSampler | NgramBeamSampler


def sample_ngram(model: Path, output: Path, options: NgramSystem, *, corpus: str, system: str, seed: int) -> None:
    """Estimate the model from the counts, and draw the samples.

    Parameters
    ----------
    model
        Folder that `training.count_train_split` wrote.
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    counted = Counted.read(model)
    with scratch_folder(output) as folder:
        estimated = estimate(counted.trie, options.smoothing, unknown=False, folder=folder)
        sampler = _sampler(estimated, options)
        source = {
            "system": system,
            "order": options.order,
            "smoothing": options.smoothing,
            "titles": options.titles,
            "decoding": options.decoding.model_dump(mode="json"),
            "seed": seed,
            "vocabulary": len(counted.words) - 2,
            "orders_with_fallback_discounts": list(estimated.fallback_orders),
        }
        provenance = Provenance(corpus, source, options.model_dump(mode="json"))
        wanted = Wanted(
            system,
            options.samples,
            options.titles,
            options.max_tokens,
            "take a higher order, more training text, or titles: false",
        )
        draw = partial(_draw, sampler, counted.words)
        write_documents(output, sampled_documents(draw, wanted, provenance, seed), provenance)


def _sampler(model: NgramModel, options: NgramSystem) -> Sampler:
    """What draws under the rule of the options."""
    rule = options.decoding
    if isinstance(rule, BeamSampling):
        return NgramBeamSampler(model, END, options.max_tokens, rule.beams)
    if isinstance(rule, Nucleus):
        model = nucleus(model, rule.p, rule.temperature)
    return NgramSampler(model, END, options.max_tokens)


def _draw(sampler: Sampler, words: list[str], count: int, rng: np.random.Generator) -> Iterator[tuple[list[str], bool]]:
    """Words of texts, and whether each was cut off before its end."""
    for drawn in sampler.draw(count, rng):
        cut = bool(drawn[-1] != END)
        yield [words[word] for word in (drawn if cut else drawn[:-1])], cut
