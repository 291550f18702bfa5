"""Which code made which result: a job whose code has changed runs again, unless results of older code are accepted.

The fingerprint of a job's code is a parameter of its rule, so that Snakemake sees when it changes. A job that succeeds
leaves it in a record; where a rule is accepted, the parameter is what the record says, and Snakemake sees no change.
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
"""The wildcard that all jobs share: the results' folder says it already."""


class CodeTracking:
    """The fingerprints of the jobs of a run.

    Parameters
    ----------
    results
        Folder of the run's results; the records are in its `code/`.
    accepted
        Names of the rules whose results of older code stay. A job of theirs that has no record runs with the code as it
        is. One that runs again for another reason (a changed input, a changed option) keeps the fingerprint that was
        accepted: Snakemake compares with what it saw when the job was planned.

    Examples
    --------
    In a rule, with `{params.code}` after `macroscope --log {log:q}`:

        params:
            code=tracking("finetune", ["macroscope.systems.language_model"]),
    """

    def __init__(self, results: str, accepted: Collection[str] = ()) -> None:
        self.results = results
        self.accepted = frozenset(accepted)
        self._rules: set[str] = set()
        self._older: dict[str, set[str]] = {}

    def __call__(
        self,
        rule: str,
        modules: Modules | Callable[[Any], Modules],
        resources: Resources | Callable[[Any], Resources] = (),
    ) -> Callable[[Any], str]:
        """Parameter function: the flags that tell the command line what to record, and where.

        Parameters
        ----------
        rule
            Name of the rule.
        modules
            Dotted names of what it runs, or one, or a function of the wildcards that gives them; what they import is
            found.
        resources
            Data files of ours that it reads and that are no inputs of the rule.
        """
        self._rules.add(rule)

        def flags(wildcards: Any) -> str:
            names = modules(wildcards) if callable(modules) else modules
            files = resources(wildcards) if callable(resources) else resources
            current = fingerprint([names] if isinstance(names, str) else names, files)
            record = self._record(rule, wildcards)
            code = self._accepted_code(rule, record, current) if rule in self.accepted else current
            return f"--code {code} --record {shlex.quote(record)}"

        return flags

    def older(self) -> dict[str, int]:
        """Accepted rule -> number of its results that stay though their code has changed since.

        Of the jobs that were planned: call it when the workflow starts.
        """
        return {rule: len(records) for rule, records in sorted(self._older.items())}

    def older_flags(self) -> str:
        """The same as flags of `macroscope reporting report`."""
        return " ".join(f"--older {rule}={number}" for rule, number in self.older().items())

    def check_names(self) -> None:
        """Check that what is accepted are rules; call it after the last of them.

        Raises
        ------
        MacroscopeError
            That names the nearest rule.
        """
        for rule in sorted(self.accepted - self._rules):
            raise MacroscopeError(f"accept_older_code: there is no rule '{rule}'{nearest(rule, self._rules)}")

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
