"""Level and power of the search for wrappers, on simulated texts: what `docs/own-texts.md` promises of it."""

import numpy as np
import pytest

from macroscope.criticize.wrappers import LEVEL, Excerpt, find_wrappers
from macroscope.statistics.proportions import wilson_interval

pytestmark = pytest.mark.slow
RUNS = 1000
_TOKENS = np.array([*"abcdefgh", *(f"<{mark}>" for mark in "abcdefghijklmnop"), "NASA", "###", "snake_case"])


def simulate_side(rng, texts, per_prompt, popularity, ends=""):
    """Return texts of prompts, each of which likes some tokens: all of its texts have them, or none."""
    prompts = [n // per_prompt for n in range(texts)]
    liked = rng.random((max(prompts) + 1, len(_TOKENS))) < popularity
    words = [*"xyz"]
    bodies = [" ".join([*rng.permutation(_TOKENS[liked[prompt]]), *rng.choice(words, 9)]) for prompt in prompts]
    return [
        Excerpt(f"A {body}.{ends}", f"{body[-20:]}.{ends}", prompt)
        for body, prompt in zip(bodies, prompts, strict=True)
    ]


@pytest.mark.parametrize(("n_reference", "n_candidate", "per_prompt"), [(60, 60, 1), (120, 24, 1), (40, 200, 5)])
def test_the_alarm_keeps_its_level_on_two_samples_of_one_process(
    n_reference, n_candidate, per_prompt, monkeypatch, runs_of
):
    """Without the threshold on shares, too: with it, there is no false alarm at all in these runs."""
    runs = runs_of(RUNS)
    rng = np.random.default_rng([7, n_reference, n_candidate])
    popularity = rng.beta(0.5, 0.5, len(_TOKENS))
    sides = [
        (simulate_side(rng, n_reference, 1, popularity), simulate_side(rng, n_candidate, per_prompt, popularity))
        for _ in range(runs)
    ]
    assert not any(find_wrappers(*each) for each in sides)
    monkeypatch.setattr("macroscope.criticize.wrappers.is_clear", lambda low, high: True)
    alarms = sum(bool(find_wrappers(*each)) for each in sides)
    print(f"{n_reference} and {n_candidate} texts, {per_prompt} of a prompt: {alarms} of {runs}")
    assert wilson_interval(alarms, runs, 0.99)[0] <= LEVEL


@pytest.mark.parametrize(
    ("texts", "share", "least"), [(10, 1.0, 0.9), (20, 1.0, 0.99), (20, 0.95, 0.8), (80, 0.95, 0.9)]
)
def test_a_token_at_the_end_of_nearly_all_texts_is_found(texts, share, least, runs_of):
    runs = runs_of(RUNS)
    rng = np.random.default_rng([8, texts, int(100 * share)])
    popularity = rng.beta(0.5, 0.5, len(_TOKENS))
    named = 0
    for _ in range(runs):
        reference, wrapped = (simulate_side(rng, texts, 1, popularity, ends) for ends in ("", "<|im_end|>"))
        plain = simulate_side(rng, texts, 1, popularity)
        candidate = [
            with_token if rng.random() < share else without for with_token, without in zip(wrapped, plain, strict=True)
        ]
        named += any("<|im_end|>" in wrapper.example for wrapper in find_wrappers(reference, candidate))
    print(f"{texts} texts, {share:.0%}: {named} of {runs}")
    assert named >= least * runs
