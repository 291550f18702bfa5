"""The second pass of a run: what failed is left out, and everything else is reported.

In the first pass, Snakemake makes all that does not depend on a failed job. The report does depend on it. The second
pass has the same config and a list of what failed (`Config.failed`), so its plan has none of that. The next call
begins with the first pass again, in which only the failed jobs are left to do.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from macroscope.config.schema import Config
from macroscope.execution.failures import FailedJob
from macroscope.gaps import FAILED, Gap
from macroscope.options import CONTROL, matched_system, original_system
from macroscope.plan import Plan


@dataclass(frozen=True, order=True)
class Part:
    """A part of a run that can be left out: a corpus, or a system or a critic on it."""

    corpus: str
    system: str = ""
    critic: str = ""


def without_failed(plan: Plan, failed: Sequence[FailedJob], targets: Sequence[str] | None = None) -> Config | None:
    """Return the config with the parts of the run that failed jobs took along as gaps.

    A job takes along the corpora and systems that cannot be made without it, or else the critics. A part that depends
    on a missing corpus in another way, such as a critic that learns from it, is found in the next pass.

    Parameters
    ----------
    targets
        Files that the run was to make; a job on which none of them depends takes nothing along. Default: the report.

    Returns
    -------
    Config or None
        None if nothing more can be left out, or nothing would be left.
    """
    config = plan.config
    ends = tuple(plan.targets() if targets is None else targets)
    for job in failed:
        if not any(path.endswith(ends) for path in job.unmade):
            continue
        parts = {part for path in job.unmade if (part := part_of(path, plan.results)) is not None}
        for level in (_parts_made(parts), {part for part in parts if part.critic}):
            if present := _present(level, plan.config):
                # Another job of this pass, such as one of another shard, may have left them out already.
                entries = [
                    Gap(
                        kind=FAILED,
                        corpus=part.corpus,
                        system=part.system or None,
                        critic=part.critic or None,
                        explanation=job.reason,
                        log=job.log,
                    )
                    for part in _present(present, config)
                ]
                config = config.model_copy(update={"gaps": [*config.gaps, *entries]})
                break
    return config if config is not plan.config and Plan(config).critics.comparisons else None


def _present(parts: Iterable[Part], config: Config) -> list[Part]:
    return [part for part in sorted(parts) if not config.lacks(part.corpus, part.system or None, part.critic or None)]


def part_of(path: str, results: str) -> Part | None:
    """Return the part of a run that a file below the folder `results` belongs to; None for other files."""
    _, _, inside = path.partition(f"{results}/")
    match inside.split("/"):
        case ["corpora", corpus, _, *_]:
            return Part(corpus)
        case ["systems", corpus, system, *_]:
            return Part(corpus, _left_out_with(system))
        case ["statistics", "length", corpus, file]:
            return Part(corpus, matched_system(file.removesuffix(".csv")))
        case ["statistics", "perplexity", corpus, file]:
            return Part(corpus, file.removesuffix(".csv"))
        case ["critics", critic, corpus, _, *_]:
            return Part(corpus, critic=critic)
        case ["statistics", critic, corpus, _]:
            return Part(corpus, critic=critic)
        case ["statistics", critic, file]:  # <corpus>.pairs.csv
            return Part(file.removesuffix(".csv").rpartition(".")[0], critic=critic)
    return None


def _left_out_with(system: str) -> str:
    """Return the system that is left out without a system's texts; real texts at matched length belong to a system."""
    is_derived = original_system(system) != system
    return matched_system(original_system(system)) if is_derived else system


def _parts_made(parts: Iterable[Part]) -> set[Part]:
    """Return the corpora and systems among parts; a corpus without control cannot be judged."""
    made = {part for part in parts if not part.critic}
    corpora = {part.corpus for part in made if part.system in ("", CONTROL)}
    return {Part(corpus) for corpus in corpora} | {part for part in made if part.corpus not in corpora}
