"""Diversity of k texts of known classes: on prompts of unequal diversity, across prompts, and of one prompt."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from macroscope.statistics.diversity import (
    DIFFERENCE,
    DISTINCT,
    SELF_BLEU,
    VENDI,
    jackknife_sets,
    make_sets,
    measure_sets,
    vendi_score,
)
from macroscope.statistics.jackknife import Jackknifed, estimate_difference, estimate_jackknifed

from ..setting import Case, Run, Setting

CLASSES = 6
Array = NDArray[np.float64]
Shares = Callable[[np.random.Generator], Array]


def of_prompts(rng: np.random.Generator) -> Array:
    """Return the shares of the classes on a prompt: few classes on half of the prompts."""
    return rng.dirichlet(np.full(CLASSES, 0.2 if rng.random() < 0.5 else 1.5))


def skewed(rng: np.random.Generator) -> Array:
    return np.array([0.5, 0.2, 0.1, 0.1, 0.05, 0.05])


def rare(rng: np.random.Generator) -> Array:
    return np.array([0.97, 0.03, 0, 0, 0, 0])


def _classes(rng: np.random.Generator, shares: Shares, prompts: int, texts: tuple[int, int]) -> tuple[Array, Array]:
    """Simulate texts: their vectors, one of `CLASSES` orthogonal ones, and their prompts."""
    sizes = rng.integers(texts[0], texts[1] + 1, prompts)
    chosen = [rng.choice(CLASSES, size, p=shares(rng)) for size in sizes]
    return np.eye(CLASSES, dtype=np.float32)[np.concatenate(chosen)], np.repeat(np.arange(prompts), sizes)


@cache
def _truth(shares: Shares, k: int, on_prompt: bool, second: Shares) -> dict[str, float]:
    """Compute expectations by many sets; those of differences are of the first collection minus the second one."""
    rng = np.random.default_rng(0)
    truth = []
    for each in (shares, second):
        vectors, _ = _classes(rng, each, 20_000 if on_prompt else 20_000 * k, (k, k) if on_prompt else (1, 1))
        sets = vectors.reshape(-1, k, CLASSES)
        truth.append((float((sets.sum(axis=1) > 0).sum(axis=1).mean()), float(_vendi(sets))))
    values = {DISTINCT: truth[0][0], VENDI: truth[0][1], SELF_BLEU: truth[0][0]}
    return values | {f"{DISTINCT}{DIFFERENCE}": truth[0][0] - truth[1][0]}


def _vendi(sets: Array) -> float:
    return float(vendi_score(sets @ sets.transpose(0, 2, 1)).mean())


def diversity(
    rng: np.random.Generator,
    shares: Shares,
    k: int,
    prompts: int,
    texts: tuple[int, int],
    on_prompt: bool = True,
    second: Shares | None = None,
) -> Run:
    """Simulate two collections; a self-BLEU is a mean over one set per prompt, as this one's number of classes is."""
    measured = [_measure(rng, each, k, prompts, texts, on_prompt) for each in (shares, second or shares)]
    estimates = [estimate_jackknifed(name, term, 0.95) for name, term in measured[0].items()]
    estimates.append(estimate_difference(f"{DISTINCT}{DIFFERENCE}", measured[0][DISTINCT], measured[1][DISTINCT], 0.95))
    return estimates, _truth(shares, k, on_prompt, second or shares)


def _measure(
    rng: np.random.Generator, shares: Shares, k: int, prompts: int, texts: tuple[int, int], on_prompt: bool
) -> dict[str, Jackknifed]:
    vectors, prompt = _classes(rng, shares, prompts, texts)
    text = np.arange(len(prompt))
    strata, parts, units = (prompt, text, prompt) if on_prompt else (np.zeros_like(prompt), prompt, prompt)
    if on_prompt and prompts == 1:
        units = text
    terms = {}
    for per_unit, names in ((20, (DISTINCT, VENDI)), (1, (SELF_BLEU,))):
        if per_unit == 1 and not on_prompt:
            strata = units = prompt // k
        orders, of_sets = make_sets(strata, parts, units, k, per_unit, rng)
        values = measure_sets(vectors, orders, 0.5)
        for name in names:
            of_name = values[DISTINCT if name == SELF_BLEU else name][:, k - 1]
            terms[name] = jackknife_sets(of_name, orders, of_sets, units, (1, k))
    return terms


def _setting(name: str, null: bool = True, power: dict[str, float] | None = None, **arguments: object) -> Setting:
    difference = f"{DISTINCT}{DIFFERENCE}"
    return Setting(name, partial(diversity, **arguments), null=(difference,) if null else (), power=power or {})


CASE = Case(
    "macroscope.statistics.diversity:STATISTICS",
    (
        _setting("10 prompts of 3 to 6 texts, k = 3", shares=of_prompts, k=3, prompts=10, texts=(3, 6)),
        _setting("20 prompts of 5 texts, k = 5", shares=of_prompts, k=5, prompts=20, texts=(5, 5)),
        _setting("40 prompts of 5 to 12 texts, k = 5", shares=of_prompts, k=5, prompts=40, texts=(5, 12)),
        _setting("60 prompts across, k = 5", shares=skewed, k=5, prompts=60, texts=(1, 4), on_prompt=False),
        _setting("20 prompts across, k = 10", shares=skewed, k=10, prompts=20, texts=(1, 1), on_prompt=False),
        _setting("20 prompts across, nearly all alike", shares=rare, k=5, prompts=20, texts=(1, 1), on_prompt=False),
        _setting(
            "40 prompts of 5 texts, one collection of fewer classes",
            null=False,
            power={f"{DISTINCT}{DIFFERENCE}": 0.8},
            shares=skewed,
            second=rare,
            k=5,
            prompts=40,
            texts=(5, 5),
        ),
    ),
    {"*": "if nearly all texts are alike, some collections have no other one, whose variance would be 0"},
)
