"""`macroscope gate`: decide whether a candidate may replace a baseline."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from macroscope.printing import Json, print_json

NO_VERDICT = 3
"""Exit status if there is no verdict; `gate.decision.EXIT_CODES` has those of the verdicts, and 2 is wrong usage."""


class WithoutVerdict(Exception):
    """An error of the gate that prevented a verdict; `__cause__` is the original error."""

    status = NO_VERDICT


def gate(
    candidate: Annotated[
        str, typer.Option(metavar="RUN", help="Finished run to judge: results/RUN, or results/RUN:SYSTEM.")
    ],
    policy: Annotated[Path, typer.Option(help="YAML of the changes that are tolerated.")],
    baseline: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Finished run to compare it with, in the same form; may be the same run."),
    ] = None,
    json: Json = False,
    output: Annotated[Path | None, typer.Option(help="JSON file to write as well.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the answer as JUnit XML, too.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Write a commented POLICY for these runs, and stop.")] = False,
) -> None:
    """Judge whether a candidate may replace a baseline.

    For each statistic that the policy names, the change's confidence interval must lie within what is tolerated. Exit
    status: 0 PASS, 1 FAIL, 4 INCONCLUSIVE (with the n that would decide), 3 no verdict (the runs cannot be compared, or
    a file is wrong), 2 wrong usage.
    """
    try:
        status = _gate(candidate, policy, baseline, json, output, junit, init)
    except Exception as error:
        raise WithoutVerdict from error
    raise typer.Exit(status)


def _gate(
    candidate: str,
    policy: Path,
    baseline: str | None,
    json: bool,
    output: Path | None,
    junit: Path | None,
    init: bool,
) -> int:
    """Judge, print the result, and return the exit status."""
    from macroscope.errors import UsageError
    from macroscope.gate.decision import EXIT_CODES
    from macroscope.gate.evaluate import evaluate_policy, match_systems
    from macroscope.gate.formats import as_json, format_text, write_result
    from macroscope.gate.policy import read_policy
    from macroscope.gate.policy_template import choose_pairs, write_starting_policy
    from macroscope.runs.results import find_run

    if init:
        run = find_run(candidate)
        few = write_starting_policy(match_systems(find_run(baseline), run) if baseline else choose_pairs(*run), policy)
        then = ["macroscope", "gate", "--baseline", baseline or "OLD", "--candidate", candidate if baseline else "NEW"]
        command = shlex.join([*then, "--policy", str(policy)])
        if json:
            print_json({"policy": str(policy), "entries_that_need_more_texts": few, "command": command})
            return 0
        needs = f" {few} of its entries {'needs' if few == 1 else 'need'} more texts than these to pass;" if few else ""
        typer.echo(f"Wrote {policy};{needs} check it, then run: {command}")
        return 0
    if baseline is None:
        raise UsageError("--baseline is required: the run to compare the candidate with (or --init)")
    requirements = read_policy(policy)
    answer = evaluate_policy(match_systems(find_run(baseline), find_run(candidate)), requirements)
    write_result(answer, output, junit)
    if json:
        print_json(as_json(answer))
    else:
        typer.echo(format_text(answer))
    return EXIT_CODES[answer.verdict]
