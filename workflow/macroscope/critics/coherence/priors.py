"""All priors of a corpus: the one that counts, the published one, and others to see what the choice changes."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from macroscope.critics.coherence.confusion import aggregated
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
        The one behind every number without a further name.
    published
        That of the published code.
    others
        Name -> prior; `back_off`, `additive_<delta>`, and `aggregated` (deng2022 App. B), without the default one.
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
        """Inverse of `save`."""
        raw = read_json(folder / FILE)
        others = {name: SectionPrior.from_json(some) for name, some in raw["others"].items()}
        return cls(SectionPrior.from_json(raw["default"]), SectionPrior.from_json(raw["published"]), others)


@dataclass(frozen=True)
class Choice:
    """How the default prior came about.

    Attributes
    ----------
    name
        As in `Priors.others`.
    at_edge
        Whether a weight or constant is at the edge of what was tried: then the documents do not tell it.
    validation
        Name -> latent PPL of the validation documents under each prior; None where it is infinite.
    """

    name: str
    at_edge: bool
    validation: dict[str, float | None]


def fit_priors(
    train: Sequences,
    valid: Sequences,
    types: Sequence[str],
    confused: Array,
    options: CoherenceOptions,
) -> tuple[Priors, Choice]:
    """Count on train; choose additive smoothing by the latent PPL of valid, and weights of backing off on train alone.

    Parameters
    ----------
    train, valid
        Indices into `types`; -1 where a validation section's type is none of them.
    confused
        See `confusion`.

    Raises
    ------
    MacroscopeError
        Where smoothing has to be chosen and no candidate gives the validation documents a positive probability.
    """
    names, counts = tuple(types), count_transitions(train, len(types))
    known = [sequence for sequence in valid if min(sequence) >= 0]
    backing_off = fit_back_off(train, len(types))
    priors = {"back_off": SectionPrior(names, counts, backing_off.smoothing)}
    priors |= {f"additive_{delta:g}": SectionPrior(names, counts, Additive(delta)) for delta in options.smoothing}
    priors["aggregated"] = SectionPrior(names, aggregated(counts, confused), backing_off.smoothing)
    published = _best([SectionPrior(names, counts, Additive(d, True), True) for d in PUBLISHED_SMOOTHING], valid)
    validation = {name: _validation(prior, known) for name, prior in priors.items()}
    validation["published"] = _validation(published, valid)
    if options.convention == "published":
        if valid and validation["published"] is None:
            raise MacroscopeError("coherence: the published smoothing finds a validation document impossible")
        return Priors(published, published, {}), Choice("published", False, validation)
    name, at_edge = "back_off", backing_off.at_edge
    if options.prior == "additive":
        name, at_edge = _best_additive(options.smoothing, validation)
    if at_edge:
        log.warning(
            "coherence: the smoothing of the prior is at the edge of what was tried, so %d documents do not tell it;"
            " see the report for what other priors would give",
            len(train),
        )
    others = {other: prior for other, prior in priors.items() if other != name}
    return Priors(priors[name], published, others), Choice(name, at_edge, validation)


def _best_additive(candidates: Sequence[float], validation: Mapping[str, float | None]) -> tuple[str, bool]:
    """Name of the best additive prior, and whether it is the first or the last of several."""
    found = {delta: validation[f"additive_{delta:g}"] for delta in candidates}
    usable = {delta: ppl for delta, ppl in found.items() if ppl is not None}
    if not usable:
        raise MacroscopeError(
            f"coherence: no smoothing of {list(candidates)} can be chosen by the validation documents: there is none"
            " with known section types, or each finds one impossible; give more documents, add a positive value to"
            " critics.coherence.smoothing, or let the prior back off (critics.coherence.prior)"
        )
    best = min(usable, key=lambda delta: usable[delta])
    return f"additive_{best:g}", len(candidates) > 1 and best in (min(candidates), max(candidates))


def _best(priors: Sequence[SectionPrior], valid: Sequences) -> SectionPrior:
    """Prior with the smallest validation latent PPL; without validation documents the last."""
    if not valid:
        return priors[-1]
    return min(priors, key=lambda prior: latent_ppl(prior, valid))


def _validation(prior: SectionPrior, valid: Sequences) -> float | None:
    found = latent_ppl(prior, valid) if len(valid) else np.inf
    return found if np.isfinite(found) else None
