"""Whether two numbers may be compared: by their signatures, and by what the runs' configs say of their corpora.

What may differ is decided here alone (`MAY_DIFFER`, `PLACES`), each with its reason. Everything else may not.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from macroscope.critics import critic_named, is_critic
from macroscope.critics.declaration import statistics_of
from macroscope.errors import MacroscopeError
from macroscope.gate.runs import Key, Number, Run
from macroscope.options import CONTROL
from macroscope.statistics.declaration import Statistic, declared
from macroscope.statistics.tidy import PARTNERS, SMALLEST_P

RUN_SEED = "run_seed"
MAY_DIFFER = {
    PARTNERS: "it counts documents, and sizes may differ",
    SMALLEST_P: "it is about a p-value, which a gate does not use",
    "resamples": "more of them give the same interval, more exactly",
    "permutations": "they give p-values, which a gate does not use",
    "confidence": "a gate brings every interval to the level that it needs",
}
"""Key of a signature -> why two numbers that differ in it compare all the same. `run_seed` may where a critic does not
learn by it."""
PLACES = {
    "files": "where a corpus lies does not change it; tables/corpora.csv tells whether it is another one",
    "path": "the same",
    "mirror": "the same",
    "page_seconds": "it is a limit of the machine's",
}
"""Key of a corpus's config -> why it may differ."""
ABSENT = "(not there)"


def require_comparable(baseline: Run, candidate: Run, first: Key, second: Key) -> None:
    """Check that a number of the baseline and one of the candidate measure the same thing in the same way.

    Raises
    ------
    MacroscopeError
        That names what differs: which key, what here, what there.
    """
    corpus, _, critic, statistic = first
    about = f"{critic} {statistic} on {corpus}: these runs cannot be compared"
    ours, theirs = baseline.numbers[first], candidate.numbers[second]
    for key, here, there in _signatures_differ(critic, ours, theirs):
        raise MacroscopeError(
            f"{about}; the signature's '{key}' is {here} in the baseline and {there} in the candidate"
        )
    if baseline.folder.resolve() == candidate.folder.resolve():
        return
    for place, here, there in _configs_differ(corpus, baseline.config, candidate.config):
        raise MacroscopeError(f"{about}; {place} is {here} in the baseline's config and {there} in the candidate's")
    before, after = baseline.corpora.get(corpus, {}), candidate.corpora.get(corpus, {})
    for key, here, there in _differences(before, after):
        raise MacroscopeError(
            f"{about}, since the corpus has changed; {key} is {here} in the baseline, {there} in the candidate"
        )


def declaration_of(critic: str, statistic: str) -> Statistic | None:
    """What is declared of a statistic; None where no critic makes it (a language model's own perplexity)."""
    if not is_critic(critic):
        return None
    return declared(statistics_of(critic_named(critic)), statistic)


def learns_by_seed(critic: str) -> bool:
    """Whether a critic's stages depend on the run's seed: another seed is then another critic."""
    return is_critic(critic) and any("seed" in stage.value_names for stage in critic_named(critic).data.stages.values())


def _signatures_differ(critic: str, ours: Number, theirs: Number) -> Iterator[tuple[str, str, str]]:
    free = set(MAY_DIFFER) | (set() if learns_by_seed(critic) else {RUN_SEED})
    for key, here, there in _differences(ours.signature, theirs.signature):
        if key not in free:
            yield key, here, there


def _configs_differ(corpus: str, ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Differences in what makes a corpus and the real text that systems are held against."""
    for room, name in (("corpora", corpus), ("systems", CONTROL)):
        sides = [dict(config[room].get(name) or {}) for config in (ours, theirs)]
        for key, here, there in _differences(*sides):
            if key not in PLACES:
                yield f"{room}.{name}.{key}", here, there


def _differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Keys of which the values differ; of groups, the keys inside."""
    for key in dict.fromkeys([*ours, *theirs]):
        here, there = ours.get(key, ABSENT), theirs.get(key, ABSENT)
        if here == there:
            continue
        if isinstance(here, dict) and isinstance(there, dict):
            yield from ((f"{key}.{inner}", one, other) for inner, one, other in _differences(here, there))
        else:
            yield key, str(here), str(there)
