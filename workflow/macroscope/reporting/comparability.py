"""Comparability of two statistics: checks of their signatures, and of the corpora in the runs' configs.

`MAY_DIFFER` and `PLACES` list the keys that may differ, with reasons. All other keys must be equal.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.critics import get_critic, is_critic
from macroscope.critics.declaration import statistics_of
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL
from macroscope.reporting.finished_runs import Key, Number, Run
from macroscope.statistics.declaration import Statistic, match_declaration

RUN_SEED, RELEASE, VERSIONS = "run_seed", "macroscope", "versions"
MAY_DIFFER = {
    "resamples": "more of them give the same interval more precisely",
    "permutations": "they give p-values, which a gate does not use",
    "confidence": "a gate rescales every interval to the level that it needs",
}
"""Key of a signature -> reason why statistics that differ in it are comparable. `run_seed` may differ if no stage of
the critic depends on it, and `RELEASE` if both have the versions of stages."""
PLACES = {
    "files": "the path of a corpus does not change it; tables/corpora.csv shows changes",
    "path": "the same",
    "mirror": "the same",
    "page_seconds": "it is a limit of the machine",
}
"""Key of a corpus's config -> reason why it may differ."""
ABSENT = "(not there)"


def require_comparable(baseline: Run, candidate: Run, first: Key, second: Key) -> None:
    """Check that a statistic of the baseline and one of the candidate are defined and computed in the same way.

    Raises
    ------
    MacroscopeError
        If they differ; the message names the key and both values.
    """
    corpus, _, critic, statistic = first
    problem = f"{critic} {statistic} on {corpus}: these runs cannot be compared"
    number_before, number_after = baseline.numbers[first], candidate.numbers[second]
    for key, first_value, second_value in _compare_signatures(critic, number_before, number_after):
        if key == VERSIONS:
            raise MacroscopeError(f"{problem}; {_describe_versions(first_value, second_value)}")
        raise MacroscopeError(
            f"{problem}; the signature's '{key}' is {first_value} in the baseline and {second_value} in the candidate"
        )
    if baseline.folder.resolve() == candidate.folder.resolve():
        return
    for place, first_value, second_value in _compare_configs(corpus, baseline.config, candidate.config):
        raise MacroscopeError(
            f"{problem}; {place} is {first_value} in the baseline's config and {second_value} in the candidate's"
        )
    before, after = baseline.corpora.get(corpus, {}), candidate.corpora.get(corpus, {})
    for key, first_value, second_value in _compare_mappings(before, after):
        raise MacroscopeError(
            f"{problem}, because the corpus has changed; {key} is {first_value} in the baseline, {second_value} in the"
            " candidate"
        )


def find_declaration(critic: str, statistic: str) -> Statistic | None:
    """Return the declaration of a statistic; None if it is not a critic's (such as a model's perplexity)."""
    if not is_critic(critic):
        return None
    return match_declaration(statistics_of(get_critic(critic)), statistic)


def depends_on_seed(critic: str) -> bool:
    """Return whether any stage of a critic depends on the run's seed, so that another seed is another critic."""
    return is_critic(critic) and any("seed" in stage.value_names for stage in get_critic(critic).data.stages.values())


def _compare_signatures(critic: str, first: Number, second: Number) -> Iterator[tuple[str, str, str]]:
    free = set(MAY_DIFFER) | (set() if depends_on_seed(critic) else {RUN_SEED})
    if VERSIONS in first.signature and VERSIONS in second.signature:
        free.add(RELEASE)
    for key, first_value, second_value in _compare_mappings(first.signature, second.signature):
        if key not in free:
            yield key, first_value, second_value


def _describe_versions(first: str, second: str) -> str:
    """Return a clause about different versions of stages: which one, and what to do."""
    for run, text in (("baseline", first), ("candidate", second)):
        if text == ABSENT:
            return f"the {run} was made before stages had versions; make it again with this version of macroscope"
    versions = (dict(pair.split("=") for pair in text.split(",")) for text in (first, second))
    stage, before, after = next(_compare_mappings(*versions))
    return (
        f"the stage '{stage}' has version {before} in the baseline and {after} in the candidate, so the code differs,"
        " and not only the texts; make the older run again"
    )


def _compare_configs(
    corpus: str, first: Mapping[str, Any], second: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield differences in the configs of a corpus and of the control."""
    for group, name in (("corpora", corpus), ("systems", CONTROL)):
        sections = [dict(config[group].get(name) or {}) for config in (first, second)]
        for key, first_value, second_value in _compare_mappings(*sections):
            if key not in PLACES:
                yield f"{group}.{name}.{key}", first_value, second_value


def _compare_mappings(first: Mapping[str, Any], second: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (key, first value, second value) for differing values; nested keys are joined by dots."""
    for key in dict.fromkeys([*first, *second]):
        first_value, second_value = first.get(key, ABSENT), second.get(key, ABSENT)
        if first_value == second_value:
            continue
        if isinstance(first_value, dict) and isinstance(second_value, dict):
            yield from (
                (f"{key}.{inner}", inner_first, inner_second)
                for inner, inner_first, inner_second in _compare_mappings(first_value, second_value)
            )
        else:
            yield key, str(first_value), str(second_value)
