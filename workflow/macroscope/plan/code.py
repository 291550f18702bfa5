"""Code tracking: a job whose code has changed runs again, unless results of older code are accepted.

The fingerprint of a job's code is a parameter of its rule, so that Snakemake sees when it changes. A job that succeeds
writes it to a record; for an accepted rule, the parameter is the record's content, so that Snakemake sees no change.
"""

import shlex
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError, nearest
from macroscope.fingerprint import fingerprint

Modules = str | Iterable[str]
Resources = Iterable[Path | str]

RUN = "run"
"""Wildcard that all jobs share; records leave it out, since the results' folder is named after it."""


class CodeTracking:
    """The fingerprints of the jobs of a run.

    Parameters
    ----------
    results
        Folder of the run's results; the records are in its `code/`.
    accepted
        Names of the rules whose results of older code stay. A job of these that has no record runs with the current
        code. A job that runs again for another reason (a changed input, a changed option) keeps the accepted
        fingerprint: Snakemake compares with the parameter that it saw when the job was planned.

    Examples
    --------
    In a rule, with `{params.code}` after `macroscope --log {log:q}`:

        params:
            code=tracking("finetune", ["macroscope.systems.language_model"]),
    """

    def __init__(self, results: str, accepted: Collection[str] = ()) -> None:
        self.results = results
        self.accepted = frozenset(accepted)
        self._modules: dict[str, Modules | Callable[[Any], Modules]] = {}
        self._older: dict[str, set[str]] = {}

    def __call__(
        self,
        rule: str,
        modules: Modules | Callable[[Any], Modules],
        resources: Resources | Callable[[Any], Resources] = (),
    ) -> Callable[[Any], str]:
        """Return a parameter function: the command line's flags for the code to record, and for the record's path.

        Parameters
        ----------
        rule
            Name of the rule.
        modules
            Dotted names of the modules that it runs, or a single name, or a function of the wildcards that returns
            them; the modules that they import are followed.
        resources
            Data files of this project that it reads and that are not inputs of the rule.
        """
        self._modules[rule] = modules

        def flags(wildcards: Any) -> str:
            names = module_names(modules, wildcards)
            files = resources(wildcards) if callable(resources) else resources
            current = fingerprint(names, files)
            record = self._record(rule, wildcards)
            code = self._accepted_code(rule, record, current) if rule in self.accepted else current
            return f"--code {code} --record {shlex.quote(record)}"

        return flags

    def modules(self, jobs: Iterable[tuple[str, Any]]) -> list[str]:
        """Return the modules that jobs run, in the order in which their rules were defined.

        Parameters
        ----------
        jobs
            (rule, wildcards) of each job; rules whose code is not tracked do not count.
        """
        of_rule: dict[str, dict[str, None]] = {rule: {} for rule in self._modules}
        for rule, wildcards in jobs:
            if rule in of_rule:
                of_rule[rule] |= dict.fromkeys(module_names(self._modules[rule], wildcards))
        return list(dict.fromkeys(name for names in of_rule.values() for name in names))

    def older(self) -> dict[str, int]:
        """Return accepted rule -> number of its results that stay although their code has changed since.

        Only jobs that have been planned count: call it when the workflow starts.
        """
        return {rule: len(records) for rule, records in sorted(self._older.items())}

    def older_flags(self) -> str:
        """Return the counts of `older` as flags of `macroscope reporting report`."""
        return " ".join(f"--older {rule}={number}" for rule, number in self.older().items())

    def check_names(self) -> None:
        """Check that the accepted names are rules; call it after the last rule is defined.

        Raises
        ------
        MacroscopeError
            If a name is not a rule, with the nearest rule.
        """
        for rule in sorted(self.accepted - self._modules.keys()):
            raise MacroscopeError(f"accept_older_code: there is no rule '{rule}'{nearest(rule, self._modules)}")

    def _record(self, rule: str, wildcards: Any) -> str:
        values = [str(value) for name, value in sorted(wildcards.items()) if name != RUN]
        return "/".join([self.results, "code", rule, *values]) + ".txt"

    def _accepted_code(self, rule: str, record: str, current: str) -> str:
        try:
            code = Path(record).read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return current
        if code != current:
            self._older.setdefault(rule, set()).add(record)
        return code


def module_names(modules: Modules | Callable[[Any], Modules], wildcards: Any) -> list[str]:
    """Return the names of the modules of a job."""
    names = modules(wildcards) if callable(modules) else modules
    return [names] if isinstance(names, str) else list(names)
