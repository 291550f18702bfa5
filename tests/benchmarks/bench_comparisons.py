"""Seconds and memory of every critic's stages after projection, by the number of texts.

    python tests/benchmarks/bench_comparisons.py [TEXTS] [--critics NAME ...] [--stages NAME ...] [--folder FOLDER]

A critic is trained on its contract case; the latents of TEXTS real texts and of as many of a system are simulated from
those of the case (`_many_texts`). Then each stage runs in its own process, with the default resampling. A line per
stage: wall-clock seconds, seconds of the processor, and the peak of resident memory, files that are mapped included.
FOLDER keeps all files; files that exist there already are used as they are.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from _many_texts import changes, same, write_many
from _report import quiet
from tests.contract import bench
from tests.contract.case import cases
from tests.tiny import write_encoder

from macroscope.critics import critics
from macroscope.documents import Document
from macroscope.options import CONTROL, Resampling

TEXTS, SYSTEM = 1000, "system"
STAGES = ("score", "compare_scores", "compare", "explain", "attribute")
FASTER = {"permutations", "number_of_clusters", "seeds", "cluster_counts", "simulations", "count_permutations"}
"""Options of the contract cases that make comparisons faster than they are by default."""
OPTIONS = {"topics": {"topics": 50}, "clusters": {"number_of_clusters": 500}}
"""Sizes that many texts have."""


class Judged(bench.Bench):
    """A critic, trained on its case, without anything that it says of systems."""

    def __init__(self, name: str, folder: Path) -> None:
        case = cases()[name]
        options = {key: value for key, value in case.options.items() if key not in FASTER} | OPTIONS.get(name, {})
        self.critic, self.case, self.folder = critics()[name], replace(case, options=options), folder
        encoder = folder / "encoder"
        if case.encoder:
            options[case.encoder] = str(encoder if encoder.exists() else write_encoder(encoder))
        self.options = self.critic.options(**options)

    def prepare(self, texts: int) -> None:
        """Train, project a few texts, and make many of them."""
        small = self.folder / "small.parquet"
        if not small.exists():
            drawn = self.case.generate(self.case.train, 1)
            split = [
                Document(d.id, "valid" if n % 10 == 0 else "train", d.title, d.sections) for n, d in enumerate(drawn)
            ]
            self.write(self.path("documents"), split)
            self._write_truth()
            self.write(self.path("texts"), self.case.generate(self.case.judged, 11))
            for stage in ("train", "fit_prior", "project"):
                self.run(stage)
            self.path("latents").rename(small)
            self.path("texts").rename(self.folder / "texts.parquet")
        for number, (system, name) in enumerate(((CONTROL, "real"), (SYSTEM, "made"))):
            if not self.path("latents", system).exists():
                change = changes(self.critic.name, texts)
                write_many(small, self.path("latents", system), texts, name, change, number)
                write_many(self.folder / "texts.parquet", self.path("texts", system), texts, name, same, number)
        if not self.path("scores").exists():
            self.run("score")

    def stage(self, stage: str) -> bool:
        """Run a stage for the system; whether the critic has it."""
        bench.RESAMPLING = Resampling()
        return self.run(stage, SYSTEM) is not None


def measured(name: str, stage: str, folder: Path) -> str:
    """Line of a stage, from a process of its own; "" where the critic does not have it."""
    start = time.perf_counter()
    command = [sys.executable, __file__, "--critics", name, "--stages", stage, "--folder", str(folder), "--alone"]
    done = subprocess.run(command, capture_output=True, text=True)
    wall = time.perf_counter() - start
    if done.returncode:
        return f"{name:12s} {stage:15s} failed after {wall:.0f} s: {done.stderr.strip().splitlines()[-1:]}"
    said = re.search(r"^PEAK (\d+) PROCESSOR ([\d.]+)$", done.stdout, re.MULTILINE)
    if said is None:
        return ""
    return f"{name:12s} {stage:15s} {wall:8.1f} s {float(said[2]):8.1f} s of the processor {int(said[1]) / 1e6:6.2f} GB"


def alone(name: str, stage: str, folder: Path) -> None:
    """Run a stage, and say what it took; nothing where the critic does not have it."""
    with quiet():
        if Judged(name, folder).stage(stage):
            used = os.times()
            peak = re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[0]
            print(f"PEAK {int(peak) * 1024 // 1000} PROCESSOR {used.user + used.system:.2f}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("texts", type=int, nargs="?", default=TEXTS)
    parser.add_argument("--critics", nargs="+", default=list(cases()))
    parser.add_argument("--stages", nargs="+", default=list(STAGES))
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        alone(given.critics[0], given.stages[0], given.folder)
        return
    with tempfile.TemporaryDirectory() as temporary, quiet():
        for name in given.critics:
            folder = (given.folder or Path(temporary)) / name
            Judged(name, folder).prepare(given.texts)
            for stage in given.stages:
                if line := measured(name, stage, folder):
                    print(line, flush=True)


if __name__ == "__main__":
    main()
