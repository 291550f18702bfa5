"""What a gate tolerates: a closed, checked file of a user's own."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_yaml
from macroscope.options import Options

HIGHER, LOWER, ANY, FARTHER = "higher", "lower", "any", "farther"
"""What is worse: a higher value, a lower one, any change, or one that lies farther from the control's value."""
Pattern = Annotated[str, StringConstraints(min_length=1)]


class Rule(Options):
    """The largest change of some statistics that is tolerated."""

    critic: Pattern = Field(description="Critic, or variant of one; * stands for anything.")
    statistic: Pattern = Field(description="Its statistic; * stands for anything.")
    corpus: Pattern = Field("*", description="Corpus; * stands for anything.")
    system: Pattern = Field("*", description="System of the candidate; * stands for anything.")
    worse: Literal["higher", "lower", "any", "farther"] = Field(
        description="What is worse: higher, lower, any change, or farther from the control's value."
    )
    difference: float | None = Field(None, ge=0, description="Largest change for the worse that is tolerated.")
    ratio: float | None = Field(
        None, gt=0, description="The same as candidate / baseline: 1.05 with 'higher' or 'any', 0.95 with 'lower'."
    )
    limit: float | None = Field(
        None,
        description="Worst value of the candidate that is tolerated; with 'farther', its distance from the control.",
    )

    @model_validator(mode="after")
    def _can_be_decided(self) -> "Rule":
        if self.difference is not None and self.ratio is not None:
            raise ValueError("'difference' and 'ratio' are two ways to say one thing; keep one of them")
        if self.difference is None and self.ratio is None and self.limit is None:
            raise ValueError("nothing is asked; give 'difference', 'ratio' or 'limit'")
        if self.ratio is not None:
            if self.worse == FARTHER:
                raise ValueError("a distance from the control may be 0; give 'difference' in place of 'ratio'")
            if (self.ratio > 1) if self.worse == LOWER else (self.ratio < 1):
                side = "at most 1 (0.95: 5 % lower)" if self.worse == LOWER else "at least 1 (1.05: 5 % higher)"
                raise ValueError(f"with 'worse: {self.worse}' a tolerated ratio is {side}, not {self.ratio:g}")
        if self.limit is not None and self.worse == ANY:
            raise ValueError("a limit needs a direction; 'worse: any' has none")
        return self

    def fits(self, corpus: str, system: str, critic: str, statistic: str) -> bool:
        """Whether it is about a number."""
        pairs = zip((corpus, system, critic, statistic), self.patterns, strict=True)
        return all(fnmatchcase(name, pattern) for name, pattern in pairs)

    @property
    def patterns(self) -> tuple[str, str, str, str]:
        """Of corpus, system, critic, statistic."""
        return self.corpus, self.system, self.critic, self.statistic


class Policy(Options):
    """What a gate tolerates, and how sure it has to be."""

    confidence: float = Field(
        0.95, ge=0.5, le=0.999, description="That all intervals together hold what they should (Bonferroni)."
    )
    statistics: list[Rule] = Field(min_length=1, description="At least one.")


def read_policy(path: Path) -> Policy:
    """Read a policy.

    Raises
    ------
    MacroscopeError
        Where it is no YAML, a key is misspelt (the nearest is named), or a rule cannot be decided.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise MacroscopeError(f"{path}: not a policy; it is a mapping with 'statistics' (macroscope gate --init)")
    try:
        return Policy.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError("; ".join(f"{path}: {_sentence(one)}" for one in error.errors())) from None


def require_matches(policy: Policy, names: Iterable[tuple[str, str, str, str]]) -> None:
    """Check that every rule is about a number that one of the runs has.

    Parameters
    ----------
    names
        (corpus, system, critic, statistic) of all numbers.

    Raises
    ------
    MacroscopeError
        That names the rule, the name that nothing has, and the nearest.
    """
    everything = list(names)
    for number, rule in enumerate(policy.statistics):
        left = everything
        for place, what in ((2, "critic"), (3, "statistic"), (0, "corpus"), (1, "system")):
            pattern = rule.patterns[place]
            some = [name for name in left if fnmatchcase(name[place], pattern)]
            if not some:
                hint = nearest(pattern, {name[place] for name in left})
                about = f" of '{rule.critic}'" if place != 2 else ""
                raise MacroscopeError(f"policy, statistics.{number}: the runs have no {what} '{pattern}'{about}{hint}")
            left = some


def _sentence(found: Any) -> str:
    place = ".".join(str(part) for part in found["loc"])
    start = f"{place}: " if place else ""
    if found["type"] == "value_error":
        return f"{start}{found['ctx']['error']}"
    if found["type"] == "missing":
        return f"{start}this key is required"
    if found["type"] == "extra_forbidden":
        group = Policy if len(found["loc"]) == 1 else Rule
        return f"{start}there is no such key{nearest(str(found['loc'][-1]), group.model_fields)}"
    return f"{start}{found['msg'][0].lower()}{found['msg'][1:]}, not {found['input']!r}"
