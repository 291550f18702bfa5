"""The contents of a run: what it judges, and its files by name, written beside its config for all who read the run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import read_json

WHOLE, FINISHED = "config.json", "finished.json"
"""Files of a run with its effective config: of the whole run, and of what finished if something failed."""
Pair = tuple[str, str]
"""(corpus, system)"""
Judged = tuple[str, str, str]
"""(critic, corpus, system)"""


@dataclass(frozen=True)
class Contents:
    """Contents of a run: what it judges, and its files, relative to its folder.

    Attributes
    ----------
    corpora
        Names of the corpora that any critic reads.
    pairs
        Every (corpus, system) that is judged, the control first.
    comparisons
        Every (critic, corpus, system) that is judged.
    chapters
        (critic, corpus) -> systems judged there.
    sampled
        Every (corpus, system) whose texts critics read, derived ones included.
    language_models, measured_systems, trained_models
        Every (corpus, system) that makes a language model, that has a perplexity without one, and that trains one.
    known_log_q
        Every (corpus, system) whose log q(x) is known and also estimated by a critic.
    matched
        Every (corpus, system) that is compared at matched length.
    models
        System -> the system whose model it samples.
    signatures, folds
        Critic -> everything that changes its numbers, and number of folds of the real texts that it is fitted to.
    empty_cells, unmatched
        Why the scorecard has no number at (critic, corpus, system), and why critics compare nothing at matched length:
        fields of a `Gap`.
    statistics, pairs_files, two_sample_tests, powers
        Tables of all statistics, of pairs of systems, of two-sample tests, and of power.
    latents, scores, attributions, known_truths
        Files of the critics' outputs.
    """

    corpora: Sequence[str]
    pairs: Sequence[Pair]
    comparisons: Sequence[Judged]
    chapters: Mapping[Pair, Sequence[str]]
    sampled: Sequence[Pair]
    language_models: Sequence[Pair]
    measured_systems: Sequence[Pair]
    trained_models: Sequence[Pair]
    known_log_q: Sequence[Pair]
    matched: Sequence[Pair]
    models: Mapping[str, str]
    signatures: Mapping[str, str]
    folds: Mapping[str, int]
    empty_cells: Mapping[Judged, Mapping[str, Any]]
    unmatched: Sequence[Mapping[str, Any]]
    statistics: Sequence[str]
    pairs_files: Sequence[str]
    two_sample_tests: Sequence[str]
    powers: Sequence[str]
    latents: Mapping[Judged, str]
    scores: Mapping[Judged, str]
    attributions: Mapping[Judged, str]
    known_truths: Mapping[Judged, str]

    @property
    def document_scores(self) -> Mapping[Judged, str]:
        """Files of scores of critics with a prior that make attributions."""
        return {key: path for key, path in self.scores.items() if key in self.attributions}

    def to_json(self) -> str:
        """Return the contents as JSON: a mapping is a list of [key, value]."""
        return json.dumps(
            {
                name: [[key, value] for key, value in given.items()] if isinstance(given, Mapping) else given
                for name, given in vars(self).items()
            },
            ensure_ascii=False,
        )


def remove_finished(folder: Path) -> None:
    """Remove the config and the contents of what finished from a run's folder, since all has finished."""
    for name in (FINISHED, contents_file(FINISHED)):
        (folder / name).unlink(missing_ok=True)


def contents_file(config: str) -> str:
    """Return the path of the contents that belong to an effective config."""
    return f"{config.removesuffix('.json')}.contents.json"


def read_contents(path: Path) -> Contents:
    """Read the contents of a run."""
    advice = "run the same command again with this version"
    if not path.exists():
        raise MacroscopeError(f"{path}: no such file, which says what the run has made; {advice}")
    raw = read_json(path)
    if not isinstance(raw, dict) or set(raw) != {field.name for field in fields(Contents)}:
        raise MacroscopeError(f"{path}: not the contents of a run of this version; {advice}")
    mappings = {field.name for field in fields(Contents) if "Mapping" in str(field.type).partition("[")[0]}
    rows = {name: [*map(_hashable, value)] for name, value in raw.items()}
    given: dict[str, Any] = {name: dict(value) if name in mappings else value for name, value in rows.items()}
    return Contents(**given)


def _hashable(value: Any) -> Any:
    """Return a value of JSON with tuples in the place of keys: [key, value], or a key itself."""
    match value:
        case [[*key], other]:
            return tuple(key), other
        case list():
            return tuple(value)
    return value
