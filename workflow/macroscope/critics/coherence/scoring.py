"""Prior, scores of the latents under it and their attribution to sections (deng2022 §2, §4, App. A); known truth.

The expected score is the cross-entropy of the process under the fitted prior, per section like the latent PPL. The
entropy of the process itself is known, too; the difference is the estimation error of the prior.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macroscope.corpora.simulated.articles import sample_section_types
from macroscope.corpora.simulated.process import SectionProcess
from macroscope.critics.attributions import Attribution, Span, attribution_weight, read_nll_rates, write_attributions
from macroscope.critics.coherence.latents import Batch, read_batches, read_info, read_states
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import UNKNOWN, Priors, SectionPrior, fit_priors, flatten, step_probabilities
from macroscope.critics.coherence.sections import BEGIN, END, read_gold_sequences
from macroscope.critics.coherence.smoothing import Array
from macroscope.critics.coherence.validation import invert_confusion, read_confusion
from macroscope.critics.course import CourseInputs, Follow
from macroscope.critics.latents import write_scores
from macroscope.documents import Collection, Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, read_json, write_json
from macroscope.phrases import number


def fit_prior(documents: Path, inference: Path, *, options: CoherenceOptions, output: Path) -> None:
    """Fit the bigram priors on the gold section types of the train split; write `prior.json`, `validation.json`.

    The types are those of the section classifier, so that priors and latents share their axes. The classifier's
    confusion matrix is stored with the priors.
    """
    types = read_json(inference / "section_types.json")["types"]
    index = {name: i for i, name in enumerate(types)}
    train, valid = (
        [[index.get(name, UNKNOWN) for name in sequence] for sequence in read_gold_sequences(documents, split)]
        for split in ("train", "valid")
    )
    confusion = read_confusion(inference / "confusion.json")
    priors, choice = fit_priors(train, valid, types, confusion, options)
    with atomic(output) as folder:
        folder.mkdir()
        priors.save(folder)
        write_json(folder / "confusion.json", confusion.tolist())
        about = {
            "documents": len(valid),
            "documents_with_unseen_types": sum(min(sequence) < 0 for sequence in valid),
        }
        write_json(folder / "validation.json", asdict(choice) | about)


def score(latents: Path, prior: Path, *, options: CoherenceOptions, output: Path) -> None:
    """Score latents under the prior.

    Writes id, opening, nll = T(x), units, entropy, margin (between the two most probable types, summed over sections),
    and, if they are defined:
    kl
        KL(P_c(z|x) || P_c(z)) = T(x) - entropy; under the definition only, since the published T(x) uses MAP states
        only.
    nll_map, nll_seen with units_seen
        -log P_c of the MAP states; the same of those transitions that occur in the training documents.
    nll_gold
        -log P_c of the section titles, null if the document has none or unknown ones; as published, of their
        transitions between known types.
    nll_corrected
        T(x) corrected for classification errors, assuming those of validation sections; see `validation`.
    nll_published with units_published, nll_<prior>
        NLL of the published code; T(x) under the alternative priors; see `prior`.
    count_<name>, of_<name>
        Numerators and denominators of shares. Of the M + 1 MAP transitions: those with a probability below the
        threshold (transition_error), and those that never occur in the training documents (unseen_transition). Of the
        errors: those that repeat a section type (repeating_error). Of the sections with a title of a known type: those
        whose MAP type is this type (title_agreement).
    categories
        Names of the M + 1 MAP transitions, from begin to end, for the divergences.
    """
    priors = Priors.load(prior)
    types = read_info(latents).types
    if tuple(types) != priors.default.types:
        raise MacroscopeError(f"{latents} and {prior}: their section types differ; re-run the stage project")
    correction = invert_confusion(read_confusion(prior / "confusion.json"))
    frames = (_score_batch(batch, priors, correction, options.error_threshold) for batch in read_batches(latents))
    write_scores(frames, output, latents)


def _score_batch(batch: Batch, priors: Priors, correction: Array | None, error_threshold: float) -> pd.DataFrame:
    posterior = _renormalise(batch.posterior)
    prior, states, lengths = priors.default, batch.states, batch.lengths
    gold, titled = _gold_states(batch, prior)
    errors, repetitions = prior.count_marked(states, lengths, np.exp(prior.log_probabilities) < error_threshold)
    unseen, _ = prior.count_marked(states, lengths, prior.counts == 0)
    agrees = _sum_by_document((gold == states) & (gold != UNKNOWN), lengths)
    entropy = _sum_by_document(_entropy(posterior), lengths)
    scores: dict[str, Any] = {
        "id": batch.ids,
        "opening": batch.openings,
        "units": prior.units(lengths),
        "entropy": entropy,
        "margin": _sum_by_document(_margin(posterior), lengths),
        **_score_gold(gold, titled, lengths, prior),
        "count_transition_error": errors,
        "of_transition_error": lengths + 1,
        "count_repeating_error": repetitions,
        "of_repeating_error": errors,
        "count_unseen_transition": unseen,
        "of_unseen_transition": lengths + 1,
        "count_title_agreement": agrees,
        "of_title_agreement": _sum_by_document(gold != UNKNOWN, lengths),
        "categories": _name_transitions(batch, prior.types),
    }
    if prior.published:
        return pd.DataFrame(scores | {"nll": prior.nll(states, lengths)})
    nll = prior.expected_nll(posterior, lengths)
    scores |= {"nll": nll, "kl": nll - entropy, "nll_map": prior.nll(states, lengths)}
    seen = np.where(prior.counts > 0, prior.log_probabilities, 0.0)
    scores |= {"nll_seen": -_sum_along(seen, states, lengths), "units_seen": lengths + 1 - unseen}
    scores |= {
        "nll_published": priors.published.nll(states, lengths),
        "units_published": priors.published.units(lengths),
    }
    if correction is not None and np.isfinite(prior.log_probabilities[:, :-1]).all():
        scores["nll_corrected"] = prior.expected_nll(posterior @ correction, lengths)
    scores |= {
        f"nll_{name}": alternative.expected_nll(posterior, lengths) for name, alternative in priors.others.items()
    }
    return pd.DataFrame(scores)


def _sum_by_document(values: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    return np.add.reduceat(values.astype(float), np.cumsum(lengths) - lengths)


def _sum_along(table: Array, states: np.ndarray, lengths: np.ndarray) -> Array:
    """Sum a table's cells over the transitions of each document; axes as in `SectionPrior.counts`."""
    ends = np.cumsum(lengths) - 1
    starts = ends - lengths + 1
    steps = np.zeros(len(states))
    steps[1:] = table[1 + states[:-1], states[1:]]
    steps[starts] = table[0, states[starts]]
    return np.add.reduceat(steps, starts) + table[1 + states[ends], -1]


def _name_transitions(batch: Batch, types: Sequence[str]) -> list[list[str]]:
    """Name the transitions of each document, from begin to end."""
    before, after = [BEGIN, *types], [*types, END]
    names = np.array(
        [[f"{previous_type} → {next_type}" for next_type in after] for previous_type in before], dtype=object
    )
    ends = np.cumsum(batch.lengths + 1)
    previous, following = np.zeros((2, ends[-1]), dtype=np.int64)
    inside = np.ones(ends[-1], dtype=bool)
    inside[ends - 1] = False
    following[inside], following[ends - 1] = batch.states, len(types)
    previous[1:][inside[:-1]] = following[:-1][inside[:-1]] + 1
    return [names_of_document.tolist() for names_of_document in np.split(names[previous, following], ends[:-1])]


def _gold_states(batch: Batch, prior: SectionPrior) -> tuple[np.ndarray, np.ndarray]:
    """Return the state of each section by its title (`UNKNOWN` without one), and flags of documents with titles."""
    index: dict[str | None, int] = {name: i for i, name in enumerate(prior.types)}
    states = [
        [UNKNOWN] * int(length) if gold is None else [index.get(name, UNKNOWN) for name in gold]
        for gold, length in zip(batch.gold, batch.lengths, strict=True)
    ]
    return flatten(states)[0], np.array([gold is not None for gold in batch.gold])


def _score_gold(gold: np.ndarray, titled: np.ndarray, lengths: np.ndarray, prior: SectionPrior) -> dict[str, Array]:
    nll, units = np.full((2, len(lengths)), np.nan)
    chosen = titled if prior.published else _sum_by_document(gold == UNKNOWN, lengths) == 0
    if chosen.any():
        nll[chosen], units[chosen] = prior.known_nll(gold[np.repeat(chosen, lengths)], lengths[chosen])
    return {"nll_gold": nll, "units_gold": units if prior.published else prior.units(lengths)}


def _renormalise(posterior: np.ndarray) -> np.ndarray:
    exact = posterior.astype(float)
    return exact / exact.sum(axis=1, keepdims=True)


def _entropy(posterior: np.ndarray) -> np.ndarray:
    """Compute the entropy of each row in nats, with 0 log 0 = 0."""
    logs = np.log(posterior, out=np.zeros_like(posterior), where=posterior > 0)
    return -(posterior * logs).sum(axis=1)


def _margin(posterior: np.ndarray) -> np.ndarray:
    """Compute the probability of the most probable type minus that of the second."""
    best = np.partition(posterior, -2, axis=1)[:, -2:]
    return best[:, 1] - best[:, 0]


def attribute(
    texts: Collection, latents: Path, scores: Path, prior: Path, *, options: CoherenceOptions, output: Path
) -> None:
    """Write the latent NLL per section of each document, and its erroneous transitions; see `critics.attributions`."""
    chain, nats = Priors.load(prior).default, read_nll_rates(scores)
    rows = (
        Attribution(name, nats[name], list(mark_transitions(document, states, chain, options.error_threshold)))
        for document, (name, states) in zip(texts, read_states(latents), strict=True)
    )
    write_attributions(rows, output)


def mark_transitions(
    document: Document, states: np.ndarray, prior: SectionPrior, threshold: float
) -> Iterator[tuple[Span, float, str]]:
    """Yield each transition with a prior probability below the threshold, the transition to the end included.

    Yields
    ------
    (place, weight, note)
        The place is the section that the transition leads to; for the end, the position behind the last section.
    """
    names = [BEGIN, *(prior.types[state] for state in states), END]
    for step, ((before, after), p) in enumerate(zip(pairwise(names), step_probabilities(states, prior), strict=True)):
        section = min(step, len(document.sections) - 1)
        length = len(document.sections[section].text)
        if p < threshold and length:
            weight = attribution_weight(np.inf if p == 0 else -np.log(p), -np.log(threshold))
            place = (section, length if after == END else 0, length)
            yield place, weight, f"{describe_transition(before, after)}: probability {number(p, 2)}"


def describe_transition(before: str, after: str) -> str:
    """Describe a transition in words, for the report."""
    if before == BEGIN:
        return f"begins with a section classified as {after}"
    return f"after {before}, " + ("the end" if after == END else f"a section classified as {after}")


SAMPLED_DOCUMENTS = 20_000


def write_known_truth(process: Path, prior: Path, *, order: str, seed: int, output: Path) -> None:
    """Write the theoretical latent PPL of a system with this order of sections.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    order
        Order of sections: "process", "shuffled" or "independent"; see `macroscope.corpora.simulated.articles`.
    output
        JSON file to write. latent_ppl: expected value under the fitted prior; basis: how it is computed; for the
        process itself also process_latent_ppl: value under its own probabilities.
    """
    truth, chain = SectionProcess.load(process), Priors.load(prior).default
    result = {
        "latent_ppl": expected_latent_ppl(truth, chain, order, seed),
        "basis": "expected cost under the fitted prior",
    }
    if order == "process":
        result |= {"process_latent_ppl": truth.latent_ppl(chain.published)}
    write_json(output, result)


def expected_latent_ppl(process: SectionProcess, prior: SectionPrior, order: str, seed: int) -> float:
    """Compute exp(E[T] / E[units]) of a system with known section types, under a prior.

    Exact for "process" and "independent". For "shuffled", the mean over all orders of a multiset of sections is exact,
    and the multisets are those of 20,000 sampled documents: their Monte Carlo error is far below any interval here.
    """
    costs = _costs(process, prior)
    first, then, last = costs[0, :-1], costs[1:, :-1], costs[1:, -1]
    sections = process.expected_sections()
    if order == "process":
        nll = _expected(process.expected_transitions, costs)
    elif order == "independent":
        marginal = process.section_marginal()
        nll = float(marginal @ first + (sections - 1) * (marginal @ then @ marginal) + marginal @ last)
    else:
        nll, sections = _shuffled(process, first, then, last, seed)
    return float(np.exp(nll / prior.units(np.array(sections))))


def _shuffled(process: SectionProcess, first: Array, then: Array, last: Array, seed: int) -> tuple[float, float]:
    """Estimate the mean NLL over documents and all orders of their sections, and the mean number of sections.

    In a random order, each section is first (and last) with probability 1/M, and each ordered pair of sections is
    adjacent with probability 1/M.
    """
    rng = np.random.default_rng([seed, 0x5F])
    index = {name: i for i, name in enumerate(process.states)}
    nll = sections = 0.0
    for _ in range(SAMPLED_DOCUMENTS):
        counts = np.bincount([index[t] for t in sample_section_types(process, "process", rng)], minlength=len(index))
        m = counts.sum()
        pairs = counts @ then @ counts - counts @ np.diag(then)
        nll += (counts @ first + counts @ last + pairs) / m
        sections += m
    return nll / SAMPLED_DOCUMENTS, sections / SAMPLED_DOCUMENTS


def _costs(process: SectionProcess, prior: SectionPrior) -> Array:
    """Compute the costs in nats of all transitions between the process's states: begin first, end last.

    Transitions to and from states that the prior never saw have infinite cost.
    """
    index = {name: i for i, name in enumerate(prior.types)}
    costs = np.full((len(process.states) + 1, len(process.states) + 1), np.inf)
    shared = [k for k, name in enumerate(process.states) if name in index]
    prior_states = [index[process.states[k]] for k in shared]
    rows, columns = np.array([0, *(1 + k for k in shared)]), np.array([*shared, len(process.states)])
    prior_rows, prior_columns = (
        np.array([0, *(1 + i for i in prior_states)]),
        np.array([*prior_states, len(prior.types)]),
    )
    costs[np.ix_(rows, columns)] = -prior.log_probabilities[np.ix_(prior_rows, prior_columns)]
    return costs


def _expected(weights: Array, costs: Array) -> float:
    """Sum weights x costs, with 0 x inf = 0."""
    happens = weights > 0
    return float(weights[happens] @ costs[happens])


def follow(inputs: CourseInputs) -> Follow:
    """Return the function that marks the sections that rarely follow the previous one; see `critics.course`."""
    assert inputs.prior is not None
    prior, threshold = Priors.load(inputs.prior).default, inputs.options.error_threshold

    def values(documents: Iterable[Document], latents: Path) -> Iterator[Array]:
        for _, states in read_states(latents):
            is_rare = step_probabilities(states, prior)[:-1] < threshold  # without the end of the text
            yield is_rare[np.newaxis].astype(float)

    return values
