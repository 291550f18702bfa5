"""Processor time per job of planning a run over many systems and all critics, at two sizes: planning must be linear."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from _report import processor_seconds, say

from macroscope.files import REPOSITORY, SNAKEFILE

SYSTEMS = 250, 1000
MILLISECONDS_A_JOB = 2.5
COMPARED = {
    "wiki": ["coherence", "tendencies", "clusters", "strings", "topics"],
    "stories": ["coreference"],
    "scripts": ["narrative"],
    "letters": ["synthetic"],
    "tongues": ["languages"],
}


def plan_in(folder: Path, systems: int) -> tuple[float, int]:
    """Return the processor seconds of a dry-run, and the number of its jobs."""
    config = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
    config["systems"] = {f"mine-{n}": {"kind": "files", "files": ["mine.jsonl"]} for n in range(systems)}
    config["comparisons"] = [{"corpus": corpus, "critics": critics} for corpus, critics in COMPARED.items()]
    (folder / "mine.jsonl").write_text('{"text": "Words."}\n')
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [
        *(sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "rules", "--snakefile", str(SNAKEFILE)),
        *("--configfile", str(folder / "config.yaml"), "--directory", str(folder), "--cores", "2"),
    ]
    said: list[str] = []
    taken = processor_seconds(
        lambda: said.append(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    )
    jobs = re.findall(r"^total\s+(\d+)$", said[0], re.MULTILINE)
    return taken, int(jobs[-1])


def main() -> None:
    """Print the time of dry-runs a job."""
    taken = []
    for systems in SYSTEMS:
        with tempfile.TemporaryDirectory() as name:
            taken.append(plan_in(Path(name), systems))
        a_job = 1000 * taken[-1][0] / taken[-1][1]
        what = f"dry-run, {systems:,} systems, all critics: {taken[-1][1]:,} jobs (ms a job)"
        say(what, f"{a_job:.2f}", f"{MILLISECONDS_A_JOB}", MILLISECONDS_A_JOB / a_job, "1: under 2.5 ms a job")
    growth = (taken[1][0] - taken[0][0]) / (taken[1][1] - taken[0][1]) / (taken[0][0] / taken[0][1])
    say("dry-run, a further job against the first ones", f"{growth:.2f}", "1.00", 1 / growth, "1: linear")


if __name__ == "__main__":
    main()
