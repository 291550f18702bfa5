"""Policies: a user's file of tolerated changes, validated without unknown keys."""

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from macroscope.errors import MacroscopeError, nearest
from macroscope.options import Options
from macroscope.strict_yaml import describe_errors, read_yaml

HIGHER, LOWER, ANY, FARTHER = "higher", "lower", "any", "farther"
"""Directions that count as worse: a higher value, a lower one, any change, or a greater distance from the control."""
Pattern = Annotated[str, StringConstraints(min_length=1)]


class Rule(Options):
    """The largest tolerated change of a set of statistics."""

    critic: Pattern = Field(description="Critic, or variant of one; * matches anything.")
    statistic: Pattern = Field(description="Statistic of the critic; * matches anything.")
    corpus: Pattern = Field("*", description="Corpus; * matches anything.")
    system: Pattern = Field("*", description="System of the candidate; * matches anything.")
    worse: Literal["higher", "lower", "any", "farther"] = Field(
        description="Direction that counts as worse: higher, lower, any change, or farther from the control's value."
    )
    difference: float | None = Field(None, ge=0, description="Largest tolerated change for the worse.")
    ratio: float | None = Field(
        None, gt=0, description="The same as candidate / baseline: 1.05 with 'higher' or 'any', 0.95 with 'lower'."
    )
    limit: float | None = Field(
        None,
        description="Worst tolerated value of the candidate; with 'farther', its distance from the control.",
    )

    @model_validator(mode="after")
    def _can_be_decided(self) -> "Rule":
        if self.difference is not None and self.ratio is not None:
            raise ValueError("'difference' and 'ratio' exclude each other; keep one of them")
        if self.difference is None and self.ratio is None and self.limit is None:
            raise ValueError("the rule has no limit; give 'difference', 'ratio' or 'limit'")
        if self.ratio is not None:
            if self.worse == FARTHER:
                raise ValueError(
                    "'ratio' is not allowed with 'farther', because a distance may be 0; give 'difference'"
                )
            if (self.ratio > 1) if self.worse == LOWER else (self.ratio < 1):
                bound = "at most 1 (0.95: 5 % lower)" if self.worse == LOWER else "at least 1 (1.05: 5 % higher)"
                raise ValueError(f"with 'worse: {self.worse}' a tolerated ratio is {bound}, not {self.ratio:g}")
        if self.limit is not None and self.worse == ANY:
            raise ValueError(
                "'limit' needs a direction, and 'worse: any' has none; give 'higher', 'lower' or 'farther'"
            )
        return self

    def matches(self, corpus: str, system: str, critic: str, statistic: str) -> bool:
        """Return whether the rule applies to a statistic."""
        pairs = zip((corpus, system, critic, statistic), self.patterns, strict=True)
        return all(fnmatchcase(name, pattern) for name, pattern in pairs)

    def concerns(self, corpus: str, system: str, critic: str | None) -> bool:
        """Return whether the rule may apply to a statistic of a critic, or of any critic if it is None."""
        pairs = [(corpus, self.corpus), (system, self.system), *([(critic, self.critic)] if critic else [])]
        return all(fnmatchcase(name, pattern) for name, pattern in pairs)

    @property
    def patterns(self) -> tuple[str, str, str, str]:
        return self.corpus, self.system, self.critic, self.statistic


class Policy(Options):
    """Tolerated changes, and the required confidence."""

    confidence: float = Field(
        0.95, ge=0.5, le=0.999, description="Simultaneous confidence level of all intervals (Bonferroni)."
    )
    statistics: list[Rule] = Field(min_length=1, description="Rules; at least one.")


def read_policy(path: Path) -> Policy:
    """Read a policy.

    Raises
    ------
    MacroscopeError
        If the file is not YAML, a key is misspelt (the message names the nearest), or a rule cannot be decided.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise MacroscopeError(f"{path}: not a policy; write a mapping with 'statistics' (see macroscope gate --init)")
    models: dict[int, type[Options]] = {1: Policy, 3: Rule}
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError(describe_errors(error, path, models)) from None


def require_matches(policy: Policy, names: Iterable[tuple[str, str, str, str]], excused: Collection[int]) -> None:
    """Check that every rule matches a statistic of at least one run.

    Parameters
    ----------
    policy
        Policy to check.
    names
        (corpus, system, critic, statistic) of all statistics of both runs.
    excused
        Indices of rules about parts of the runs that failed.
    """
    all_names = list(names)
    for number, rule in enumerate(policy.statistics):
        if number in excused:
            continue
        remaining = all_names
        for index, field in ((2, "critic"), (3, "statistic"), (0, "corpus"), (1, "system")):
            pattern = rule.patterns[index]
            matches = [name for name in remaining if fnmatchcase(name[index], pattern)]
            if not matches:
                hint = nearest(pattern, {name[index] for name in remaining})
                critic = f" of '{rule.critic}'" if index != 2 else ""
                raise MacroscopeError(
                    f"policy, statistics.{number}: the runs have no {field} '{pattern}'{critic}{hint}"
                )
            remaining = matches
