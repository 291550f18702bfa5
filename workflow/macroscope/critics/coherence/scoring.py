"""Prior and scores: how likely the latents of each document are (deng2022 §2, §4, App. A)."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.coherence.latents import Batch, read_info, read_latents
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import PUBLISHED_SMOOTHING, SectionPrior, fit, flatten
from macroscope.critics.coherence.sections import titled_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, read_json, write_json


def fit_prior(documents: Path, inference: Path, *, options: CoherenceOptions, output: Path) -> None:
    """Fit the bigram prior on the gold section types of the train split; write `prior.json`, `validation.json`.

    The types are the section classifier's, so that prior and latents share their axes.
    """
    types = read_json(inference / "section_types.json")["types"]
    index = {name: i for i, name in enumerate(types)}
    train = _indices(titled_documents(documents, "train"), index)
    titled = titled_documents(documents, "valid")
    valid = _indices(titled, index)
    if not valid:
        raise MacroscopeError(
            f"{documents}: no validation document has section types that occur in training; the smoothing of the"
            " coherence prior cannot be chosen; give more documents"
        )
    candidates = PUBLISHED_SMOOTHING if options.convention == "published" else options.smoothing
    prior, validation = fit(train, valid, types, candidates, options.convention)
    with atomic(output) as folder:
        prior.save(folder)
        write_json(
            folder / "validation.json",
            {
                "latent_ppl_by_smoothing": [{"smoothing": d, "latent_ppl": p} for d, p in validation.items()],
                "documents": len(valid),
                "documents_with_unseen_types": len(titled) - len(valid),
            },
        )


def score(latents: Path, prior: Path, *, options: CoherenceOptions, output: Path) -> None:
    """Score latents under the prior.

    Writes id, nll = T(x), units, entropy, and where they make sense:
    kl
        KL(P_c(z|x) || P_c(z)) = T(x) - entropy; under the definition only, since the published T(x) looks at the MAP
        states alone.
    nll_map
        -log P_c of the MAP states; not under the published convention, where it is `nll` itself.
    nll_gold
        -log P_c of the gold section types, null where the document has none or unknown ones.
    count_<name>, of_<name>
        Transition errors (MAP transitions below the threshold) of the M + 1 transitions, and of these errors those
        that repeat a section type.
    categories
        The M + 1 MAP transitions by name, from the beginning to the end: what the divergences are between.
    """
    chain = SectionPrior.load(prior)
    types = read_info(latents).types
    if tuple(types) != chain.types:
        raise MacroscopeError(f"{latents} and {prior}: their section types differ; project the documents again")
    frames = [_score_batch(batch, chain, options.error_threshold) for batch in read_latents(latents)]
    if not frames:
        raise MacroscopeError(f"{latents}: no documents to score; the system produced none")
    with atomic(output) as temporary:
        pd.concat(frames, ignore_index=True).to_parquet(temporary, index=False)


def _score_batch(batch: Batch, prior: SectionPrior, error_threshold: float) -> pd.DataFrame:
    posterior = _renormalised(batch.posterior)
    starts = np.cumsum(batch.lengths) - batch.lengths
    entropy = np.add.reduceat(_entropy(posterior), starts)
    nll_map = prior.nll(batch.states, batch.lengths)
    scores = {"id": batch.ids, "units": prior.units(batch.lengths), "entropy": entropy}
    if prior.convention == "published":
        scores["nll"] = nll_map
    else:
        scores["nll"] = prior.expected_nll(posterior, batch.lengths)
        scores["kl"] = scores["nll"] - entropy
        scores["nll_map"] = nll_map
    errors, repetitions = prior.errors(batch.states, batch.lengths, error_threshold)
    return pd.DataFrame(
        scores
        | {
            "nll_gold": _gold_nll(batch, prior),
            "count_transition_errors": errors,
            "of_transition_errors": batch.lengths + 1,
            "count_repetition_share_of_errors": repetitions,
            "of_repetition_share_of_errors": errors,
            "categories": _transitions(batch, prior.types),
        }
    )


def _transitions(batch: Batch, types: Sequence[str]) -> list[list[str]]:
    """Name the transitions of each document, from its beginning to its end."""
    found, start = [], 0
    for length in batch.lengths.tolist():
        names = ["<begin>", *(types[state] for state in batch.states[start : start + length]), "<end>"]
        found.append([f"{before} → {after}" for before, after in pairwise(names)])
        start += length
    return found


def _gold_nll(batch: Batch, prior: SectionPrior) -> np.ndarray:
    index = {name: i for i, name in enumerate(prior.types)}
    nll = np.full(len(batch.ids), np.nan)
    known = [d for d, gold in enumerate(batch.gold) if gold is not None]
    if known:
        states, lengths = flatten([[index[name] for name in batch.gold[d] or ()] for d in known])
        nll[known] = prior.nll(states, lengths)
    return nll


def _renormalised(posterior: np.ndarray) -> np.ndarray:
    exact = posterior.astype(float)
    return exact / exact.sum(axis=1, keepdims=True)


def _entropy(posterior: np.ndarray) -> np.ndarray:
    """Entropy of each row in nats, with 0 log 0 = 0."""
    logs = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return -(posterior * logs).sum(axis=1)


def _indices(sequences: list[list[str]], index: dict[str, int]) -> list[list[int]]:
    """Sequences as indices; those with a type that was never seen in training are left out."""
    return [[index[name] for name in sequence] for sequence in sequences if all(name in index for name in sequence)]
