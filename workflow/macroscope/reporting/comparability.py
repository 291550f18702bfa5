"""Comparability of two statistics: checks of their signatures, and of the corpora in the runs' configs.

`MAY_DIFFER` and `PLACES` list the keys that may differ, with reasons. All other keys must be equal.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.critics import get_critic, is_critic
from macroscope.critics.declaration import statistics_of
from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL
from macroscope.runs.numbers import Key, Number
from macroscope.runs.results import Results
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
KEPT = "kept"
"""Key of a corpus's config: the digest of its kept reference, if it has one. It gives the numbers of its texts."""


def require_comparable(baseline: Results, candidate: Results, baseline_key: Key, candidate_key: Key) -> None:
    """Check that a statistic of the baseline and one of the candidate are defined and computed in the same way.

    Raises
    ------
    MacroscopeError
        If they differ; the message names the key and both values.
    """
    corpus, _, critic, statistic = baseline_key
    problem = f"{critic} {statistic} on {corpus}: these runs cannot be compared"
    baseline_number, candidate_number = baseline.numbers[baseline_key], candidate.numbers[candidate_key]
    for key, baseline_value, candidate_value in _compare_signatures(critic, baseline_number, candidate_number):
        if key == VERSIONS:
            raise MacroscopeError(f"{problem}; {_describe_versions(baseline_value, candidate_value)}")
        raise MacroscopeError(
            f"{problem}; the signature's '{key}' is {baseline_value} in the baseline and {candidate_value} in the"
            " candidate"
        )
    if baseline.folder.resolve() == candidate.folder.resolve():
        return
    configs = baseline.written_config, candidate.written_config
    for place, baseline_value, candidate_value in _compare_configs(corpus, *configs):
        raise MacroscopeError(
            f"{problem}; {place} is {baseline_value} in the baseline's config and {candidate_value} in the candidate's"
        )
    baseline_corpus, candidate_corpus = baseline.corpora.get(corpus, {}), candidate.corpora.get(corpus, {})
    for key, baseline_value, candidate_value in _compare_mappings(baseline_corpus, candidate_corpus):
        raise MacroscopeError(
            f"{problem}, because the corpus has changed; {key} is {baseline_value} in the baseline,"
            f" {candidate_value} in the candidate"
        )


def find_declaration(critic: str, statistic: str) -> Statistic | None:
    """Return the declaration of a statistic; None if it is not a critic's (such as a model's perplexity)."""
    if not is_critic(critic):
        return None
    return match_declaration(statistics_of(get_critic(critic)), statistic)


def depends_on_seed(critic: str) -> bool:
    """Return whether any stage of a critic depends on the run's seed, so that another seed is another critic."""
    return is_critic(critic) and any("seed" in stage.value_names for stage in get_critic(critic).data.stages.values())


def _compare_signatures(critic: str, baseline: Number, candidate: Number) -> Iterator[tuple[str, str, str]]:
    free = set(MAY_DIFFER) | (set() if depends_on_seed(critic) else {RUN_SEED})
    if VERSIONS in baseline.signature and VERSIONS in candidate.signature:
        free.add(RELEASE)
    for key, baseline_value, candidate_value in _compare_mappings(baseline.signature, candidate.signature):
        if key not in free:
            yield key, baseline_value, candidate_value


def _describe_versions(baseline: str, candidate: str) -> str:
    """Return a clause about different versions of stages: which one, and what to do."""
    for run, text in (("baseline", baseline), ("candidate", candidate)):
        if text == ABSENT:
            return f"the {run} was made before stages had versions; make it again with this version of macroscope"
    versions = (dict(pair.split("=") for pair in text.split(",")) for text in (baseline, candidate))
    stage, baseline_version, candidate_version = next(_compare_mappings(*versions))
    return (
        f"the stage '{stage}' has version {baseline_version} in the baseline and {candidate_version} in the candidate,"
        " so the code differs, and not only the texts; make the older run again"
    )


def _compare_configs(
    corpus: str, baseline: Mapping[str, Any], candidate: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    for group, name in (("corpora", corpus), ("systems", CONTROL)):
        sections = [dict(config[group].get(name) or {}) for config in (baseline, candidate)]
        for key, baseline_value, candidate_value in _compare_mappings(*sections):
            has_texts = key == KEPT and not (sections[0].get(KEPT) and sections[1].get(KEPT))
            if key not in PLACES and not has_texts:
                yield f"{group}.{name}.{key}", baseline_value, candidate_value


def _compare_mappings(baseline: Mapping[str, Any], candidate: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (key, first value, second value) for differing values; nested keys are joined by dots."""
    for key in dict.fromkeys([*baseline, *candidate]):
        baseline_value, candidate_value = baseline.get(key, ABSENT), candidate.get(key, ABSENT)
        if baseline_value == candidate_value:
            continue
        if isinstance(baseline_value, dict) and isinstance(candidate_value, dict):
            yield from (
                (f"{key}.{inner}", inner_baseline, inner_candidate)
                for inner, inner_baseline, inner_candidate in _compare_mappings(baseline_value, candidate_value)
            )
        else:
            yield key, str(baseline_value), str(candidate_value)
