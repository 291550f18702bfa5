"""All priors of a corpus: the default prior, the published one, and alternatives for a sensitivity analysis."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.critics.coherence.confusion import aggregate_counts
from macroscope.critics.coherence.options import CoherenceOptions
from macroscope.critics.coherence.prior import SectionPrior, count_transitions, latent_ppl
from macroscope.critics.coherence.smoothing import Additive, Array, Sequences, fit_back_off
from macroscope.errors import MacroscopeError
from macroscope.files import read_json, write_json

log = logging.getLogger("macroscope")

PUBLISHED_SMOOTHING = (0.0, 1.0)
FILE = "prior.json"


@dataclass(frozen=True)
class Priors:
    """Priors over the same section types.

    Attributes
    ----------
    default
        Prior behind every statistic that does not name another prior.
    published
        Prior of the published code.
    others
        Name -> alternative prior: `back_off`, `additive_<delta>` and `aggregated` (deng2022 App. B), without the
        default.
    """

    default: SectionPrior
    published: SectionPrior
    others: Mapping[str, SectionPrior]

    def save(self, folder: Path) -> None:
        """Write `prior.json`."""
        others = {name: prior.as_json() for name, prior in self.others.items()}
        write_json(
            folder / FILE,
            {"default": self.default.as_json(), "published": self.published.as_json(), "others": others},
        )

    @classmethod
    def load(cls, folder: Path) -> "Priors":
        """Read priors that `save` wrote."""
        raw = read_json(folder / FILE)
        others = {name: SectionPrior.from_json(raw_prior) for name, raw_prior in raw["others"].items()}
        return cls(SectionPrior.from_json(raw["default"]), SectionPrior.from_json(raw["published"]), others)


@dataclass(frozen=True)
class Choice:
    """Selection of the default prior.

    Attributes
    ----------
    name
        Name of the default prior, as in `Priors.others`.
    at_edge
        Whether a weight or constant is at the edge of the search range: the documents do not identify it.
    validation
        Name of each prior -> latent PPL of the validation documents; None if it is infinite.
    """

    name: str
    at_edge: bool
    validation: dict[str, float | None]


def fit_priors(
    train: Sequences,
    valid: Sequences,
    types: Sequence[str],
    confusion: Array,
    options: CoherenceOptions,
) -> tuple[Priors, Choice]:
    """Fit all priors on the train split and select the default one.

    The constant of additive smoothing minimises the latent PPL of the validation documents. The weights of the back-off
    prior are fitted on the train split alone.

    Parameters
    ----------
    train, valid
        Section types of each document, as indices into `types`; -1 for validation sections of other types.
    confusion
        Confusion matrix of the section classifier; see the module `confusion`.

    Raises
    ------
    MacroscopeError
        If smoothing has to be selected and no candidate gives the validation documents a positive probability.
    """
    names, counts = tuple(types), count_transitions(train, len(types))
    fully_typed = [sequence for sequence in valid if min(sequence) >= 0]
    back_off_fit = fit_back_off(train, len(types))
    priors = {"back_off": SectionPrior(names, counts, back_off_fit.smoothing)}
    priors |= {f"additive_{delta:g}": SectionPrior(names, counts, Additive(delta)) for delta in options.smoothing}
    priors["aggregated"] = SectionPrior(names, aggregate_counts(counts, confusion), back_off_fit.smoothing)
    published = _select_best([SectionPrior(names, counts, Additive(d, True), True) for d in PUBLISHED_SMOOTHING], valid)
    validation = {name: _validation_ppl(prior, fully_typed) for name, prior in priors.items()}
    validation["published"] = _validation_ppl(published, valid)
    if options.convention == "published":
        if valid and validation["published"] is None:
            raise MacroscopeError(
                "coherence: a validation document has probability 0 under the published smoothing; set"
                " critics.coherence.convention to 'definition'"
            )
        return Priors(published, published, {}), Choice("published", False, validation)
    name, at_edge = "back_off", back_off_fit.at_edge
    if options.prior == "additive":
        name, at_edge = _select_best_additive(options.smoothing, validation)
    if at_edge:
        log.warning(
            "coherence: the smoothing of the prior is at the edge of its search range: %d documents do not identify it;"
            " compare the latent PPL under other priors in the report",
            len(train),
        )
    others = {key: prior for key, prior in priors.items() if key != name}
    return Priors(priors[name], published, others), Choice(name, at_edge, validation)


def _select_best_additive(candidates: Sequence[float], validation: Mapping[str, float | None]) -> tuple[str, bool]:
    """Return the name of the best additive prior, and whether it is the smallest or largest of several candidates."""
    perplexities = {delta: validation[f"additive_{delta:g}"] for delta in candidates}
    usable = {delta: ppl for delta, ppl in perplexities.items() if ppl is not None}
    if not usable:
        raise MacroscopeError(
            f"coherence: no smoothing of {list(candidates)} can be selected on the validation documents, since none has"
            " only known section types, or each candidate gives one probability 0; give more documents, add a positive"
            " value to critics.coherence.smoothing, or set critics.coherence.prior to 'back_off'"
        )
    best = min(usable, key=lambda delta: usable[delta])
    return f"additive_{best:g}", len(candidates) > 1 and best in (min(candidates), max(candidates))


def _select_best(priors: Sequence[SectionPrior], valid: Sequences) -> SectionPrior:
    """Return the prior with the smallest validation latent PPL; without validation documents, the last."""
    if not valid:
        return priors[-1]
    return min(priors, key=lambda prior: latent_ppl(prior, valid))


def _validation_ppl(prior: SectionPrior, valid: Sequences) -> float | None:
    ppl = latent_ppl(prior, valid) if len(valid) else np.inf
    return ppl if np.isfinite(ppl) else None
