"""How long Snakemake plans a run over 1,000 systems."""

import subprocess
import sys
import tempfile
from pathlib import Path

import yaml
from _report import say, seconds

from macroscope.paths import REPOSITORY, SNAKEFILE

SYSTEMS = 1000


def main() -> None:
    """Print the time of a dry-run."""
    config = yaml.safe_load((REPOSITORY / "config.yaml").read_text())
    config["systems"] = {f"mine-{n}": {"kind": "files", "files": ["mine.jsonl"]} for n in range(SYSTEMS)}
    config["comparisons"] = [{"corpus": "wiki", "critics": ["coherence", "tendencies"]}]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mine.jsonl").write_text('{"text": "Words."}\n')
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        command = [
            *(sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "all", "--snakefile", str(SNAKEFILE)),
            *("--configfile", str(folder / "config.yaml"), "--directory", str(folder), "--cores", "2"),
        ]
        taken = seconds(lambda: subprocess.run(command, check=True, capture_output=True))
    say(f"dry-run, {SYSTEMS:,} systems (s)", f"{taken:.1f}", "15.0", 15 / taken, "1: under 15 s")


if __name__ == "__main__":
    main()
