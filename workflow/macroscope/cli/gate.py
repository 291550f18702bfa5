"""`macroscope gate`: decide whether a candidate may replace a baseline."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

NO_VERDICT = 3
"""Exit status if there is no verdict: 0, 1 and 2 are PASS, FAIL and INCONCLUSIVE."""
_USAGE = 2
"""Exit status of wrong flags of all other verbs."""


class WithoutVerdict(Exception):
    """An error of the gate that prevented a verdict; `__cause__` is the original error."""

    status = NO_VERDICT


@contextmanager
def _usage_is_no_verdict() -> Iterator[None]:
    """Give errors of usage their own exit status."""
    try:
        yield
    except Exception as error:
        wrong: Any = error
        if getattr(wrong, "exit_code", None) == _USAGE:
            wrong.exit_code = NO_VERDICT
        raise


class GateCommand(TyperCommand):
    """A verb whose wrong flags have their own exit status: a build server must not take them for a verdict."""

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
        str | None, typer.Option(help="Finished run to compare it with, in the same form; may be the same run.")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the answer as JSON, too.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the answer as JUnit XML, too.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a commented POLICY for these runs, and stop.")] = False,
) -> None:
    """Judge whether a candidate may replace a baseline.

    For each statistic that the policy names, the change's confidence interval must lie within what is tolerated. Exit
    status: 0 PASS, 1 FAIL, 2 INCONCLUSIVE (with the n that would decide), 3 if the runs cannot be compared or an
    argument is wrong.
    """
    try:
        status = _gate(candidate, policy, baseline, json, junit, init)
    except Exception as error:
        raise WithoutVerdict from error
    raise typer.Exit(status)


def _gate(candidate: str, policy: Path, baseline: str | None, json: Path | None, junit: Path | None, init: bool) -> int:
    """Judge, print the result, and return the exit status."""
    from macroscope.errors import MacroscopeError
    from macroscope.gate.decision import EXIT_CODES
    from macroscope.gate.evaluate import evaluate_policy, match_systems
    from macroscope.gate.formats import format_text, write_result
    from macroscope.gate.policy import read_policy
    from macroscope.gate.policy_template import choose_pairs, write_starting_policy
    from macroscope.gate.runs import find_run

    if init:
        run = find_run(candidate)
        few = write_starting_policy(match_systems(find_run(baseline), run) if baseline else choose_pairs(*run), policy)
        then = ["macroscope", "gate", "--baseline", baseline or "OLD", "--candidate", candidate if baseline else "NEW"]
        needs = f" {few} of its entries need more texts than these to pass;" if few else ""
        typer.echo(f"Wrote {policy};{needs} check it, then run: {shlex.join([*then, '--policy', str(policy)])}")
        return 0
    if baseline is None:
        raise MacroscopeError("--baseline is required: the run to compare the candidate with (or --init)")
    requirements = read_policy(policy)
    answer = evaluate_policy(match_systems(find_run(baseline), find_run(candidate)), requirements)
    write_result(answer, json, junit)
    typer.echo(format_text(answer))
    return EXIT_CODES[answer.verdict]
