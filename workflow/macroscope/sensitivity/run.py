"""`macroscope sensitivity`: choose critics for real texts, write the config of their damages, and run it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from macroscope.criticize.choice import Choice, choose, default_critics
from macroscope.criticize.inputs import CORPUS, GivenFields, make_texts
from macroscope.criticize.profile import Profile, profile_texts
from macroscope.criticize.run import implied_config
from macroscope.critics import GivenOptions, critics, options_for_texts, parse_options_for_texts
from macroscope.errors import UsageError
from macroscope.extras import missing_extras
from macroscope.registry import require

RUN = "sensitivity"
VALID_SHARE, TEST_SHARE = 0.1, 0.6
"""Shares of the splits if a critic learns: most documents are for the tests."""
QUICK: dict[str, Any] = {
    "damages": [
        *("drop_words", "shuffle_words", "remove_stop_words", "replace_sentences", "shuffle_sentences"),
        *("repeat_sentences", "shuffle_sections", "truncate"),
    ],
    "doses": [0.1, 0.25],
    "sizes": [10, 20, 30, 50, 100, 200],
    "repeats": 100,
}
"""Options of `sensitivity` for minutes instead of an hour."""


def profile_reference(reference: Sequence[Path], given: GivenFields) -> Profile:
    """Profile the real texts, in seconds.

    Raises
    ------
    MacroscopeError
        If a file cannot be read, or lacks a field that the user gave.
    """
    collected = make_texts(reference, given, "people")
    return profile_texts(CORPUS, collected.files, (VALID_SHARE, TEST_SHARE), collected.selection)


def choose_critics(
    profile: Profile, requested: Sequence[str], language: str, given: GivenOptions | None = None
) -> Choice:
    """Choose the critics that can judge the texts, as `criticize.choice` does; none is cross-fitted: texts are many."""
    return replace(choose(profile, [], requested, language, given), cross_fitted=[])


def config_of_texts(profile: Profile, choice: Choice, seed: int, language: str, quick: bool) -> dict[str, Any]:
    """Return the config of a user's real texts."""
    config = implied_config(profile, [], choice, seed, language)
    corpus = config["corpora"][CORPUS]
    if choice.learning:
        corpus |= {"valid_share": VALID_SHARE, "test_share": TEST_SHARE}
    return {
        "run": RUN,
        "seed": seed,
        "profile": config["profile"],
        "corpora": {CORPUS: corpus},
        "critics": config["critics"],
        "sensitivity": _block(CORPUS, choice.critics, quick),
    }


def config_of_corpus(
    kind: str, documents: int, requested: Sequence[str], seed: int, quick: bool, given: GivenOptions | None = None
) -> dict[str, Any]:
    """Return the config of a simulated corpus, which needs no texts.

    Raises
    ------
    UsageError
        If there are no critics whose extras are installed.
    """
    chosen = list(requested) or [
        name
        for name in default_critics()
        if not missing_extras(critics()[name].data.extras, parse_options_for_texts(critics()[name], given))
    ]
    if not chosen:
        raise UsageError("⟨critic⟩: no critic can run without a further extra; install one, or name a critic")
    shares = {"valid_share": VALID_SHARE, "test_share": TEST_SHARE}
    return {
        "run": RUN,
        "seed": seed,
        "corpora": {kind: {"source": "simulated", "kind": kind, "documents": documents, **shares}},
        "critics": {name: options_for_texts(require(name, critics(), "critic"), given) for name in chosen},
        "sensitivity": _block(kind, chosen, quick),
    }


def _block(corpus: str, chosen: Sequence[str], quick: bool) -> dict[str, Any]:
    return {"corpus": corpus, "critics": list(chosen), **(QUICK if quick else {})}
