"""Cases of critics: a small corpus with known structure, a damage to detect, and a harmless change to ignore.

Each critic has a module in `cases/` whose `CASE` is its case. The environment variable MACROSCOPE_CASES names a folder
with the cases of critics in other packages.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from macroscope.documents import Document

from ..tiny import simulated_documents

Texts = list[Document]
FOLDERS = [
    Path(__file__).parent / "cases",
    *filter(None, [Path(p) if (p := os.environ.get("MACROSCOPE_CASES")) else None]),
]


def process(n: int, seed: int) -> Texts:
    """Generate articles of the simulated encyclopaedia."""
    return simulated_documents("process", n, seed)


@dataclass(frozen=True)
class Case:
    """Test case of a critic.

    Attributes
    ----------
    damage
        Function that changes real texts so that the critic must detect it.
    harmless
        Function that changes real texts so that the critic must not detect it.
    options
        Options of the critic, small enough to run in seconds.
    generate
        (number, seed) -> real texts.
    train, judged
        Numbers of training texts and of texts of each system.
    encoder
        Name of the option that is set to a small encoder with random weights; "" if there is none.
    kind_of_process
        Kind of the simulated corpus that `generate` uses.
    """

    damage: Callable[[Texts], Texts]
    harmless: Callable[[Texts], Texts]
    options: dict[str, Any] = field(default_factory=dict)
    generate: Callable[[int, int], Texts] = process
    train: int = 220
    judged: int = 100
    encoder: str = ""
    kind_of_process: str = "wiki"


def perturbed(*rules: str) -> Callable[[Texts], Texts]:
    """Return a function that applies rules of perturbation to texts."""

    def change(texts: Texts) -> Texts:
        from macroscope.systems.perturbation import PerturbationSystem
        from macroscope.systems.perturbation.generation import apply_step

        system = PerturbationSystem(kind="perturbation", perturb=list(rules))
        changed: Sequence[Document] = texts
        for number, step in enumerate(system.perturb):
            changed = apply_step(changed, step, "en", (7, number))
        return list(changed)

    return change


def cases() -> dict[str, Case]:
    """Return all cases by the names of their critics."""
    by_critic = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("[a-z]*.py")):
            spec = spec_from_file_location(f"{__package__}.cases.{path.stem}", path)
            assert spec is not None
            assert spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            by_critic[path.stem] = module.CASE
    return by_critic
