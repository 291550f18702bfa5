"""`macroscope gate`: whether a candidate may take the place of a baseline."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

NO_VERDICT = 3
"""Exit status where there is no verdict: 0, 1 and 2 are PASS, FAIL and INCONCLUSIVE."""
_USAGE = 2
"""Exit status of wrong flags, of other verbs."""


class WithoutVerdict(Exception):
    """The gate could not judge; the cause says why."""

    status = NO_VERDICT


@contextmanager
def _usage_is_no_verdict() -> Iterator[None]:
    """Give errors of usage the status of their own."""
    try:
        yield
    except Exception as error:
        wrong: Any = error
        if getattr(wrong, "exit_code", None) == _USAGE:
            wrong.exit_code = NO_VERDICT
        raise


class GateCommand(TyperCommand):
    """A verb whose wrong flags have a status of their own: a build server must not take them for a verdict."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the flags."""
        with _usage_is_no_verdict():
            return super().make_context(info_name, args, parent, **extra)


class Verbs(TyperGroup):
    """All verbs: a wrong flag before a verb, or a misspelt verb, may have been meant for the gate."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Read the flags before the verb."""
        with _usage_is_no_verdict():
            return super().make_context(info_name, args, parent, **extra)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the verb."""
        with _usage_is_no_verdict():
            return super().resolve_command(ctx, args)


def gate(
    candidate: Annotated[str, typer.Option(help="Finished run to judge: results/RUN, or results/RUN:SYSTEM.")],
    policy: Annotated[Path, typer.Option(help="YAML of the changes that are tolerated.")],
    baseline: Annotated[
        str | None, typer.Option(help="Finished run to hold it against, in the same form; may be the same run.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the answer as JSON, too.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the answer as JUnit XML, too.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a commented POLICY for the candidate, and stop.")] = False,
) -> None:
    """Judge whether a candidate may take the place of a baseline.

    For each statistic that the policy names, the change's confidence interval must lie within what is tolerated. Exit
    status: 0 PASS, 1 FAIL, 2 INCONCLUSIVE (it says which n would decide), 3 where the runs cannot be compared or
    something is wrong with what was given.
    """
    try:
        status = _gate(candidate, policy, baseline, json, junit, init)
    except Exception as error:
        raise WithoutVerdict from error
    raise typer.Exit(status)


def _gate(candidate: str, policy: Path, baseline: str | None, json: Path | None, junit: Path | None, init: bool) -> int:
    """Judge, say what was found, and return the exit status."""
    from macroscope.errors import MacroscopeError
    from macroscope.gate.decision import EXIT_CODES
    from macroscope.gate.evaluate import judge, sides_of
    from macroscope.gate.formats import text_of, write_answer
    from macroscope.gate.policy import read_policy
    from macroscope.gate.policy_template import write_starting_policy
    from macroscope.gate.runs import find_side

    if init:
        write_starting_policy(find_side(candidate), policy)
        then = shlex.join(["macroscope", "gate", "--baseline", "OLD", "--candidate", "NEW", "--policy", str(policy)])
        typer.echo(f"Wrote {policy}; look at it, then: {then}")
        return 0
    if baseline is None:
        raise MacroscopeError("--baseline is required: the run that the candidate is held against (or --init)")
    asked = read_policy(policy)
    answer = judge(sides_of(find_side(baseline), find_side(candidate)), asked)
    write_answer(answer, json, junit)
    typer.echo(text_of(answer))
    return EXIT_CODES[answer.verdict]
