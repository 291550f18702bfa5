"""A critic's case: a small corpus with known structure, a damage that it must see, and one that it must not.

Each critic has a module in `cases/` whose `CASE` is its case; of critics of other packages, the environment variable
MACROSCOPE_CASES names a folder with more.
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
    """Articles of the simulated encyclopaedia."""
    return simulated_documents("process", n, seed)


@dataclass(frozen=True)
class Case:
    """What the contract tests need to know of a critic.

    Attributes
    ----------
    damage
        Makes of real texts such as the critic must tell from real ones.
    harmless
        Makes of real texts such as it must not tell.
    options
        Under which it is done in seconds.
    draw
        (number, seed) -> real texts.
    train, judged
        Number of texts to learn from, and of each system.
    encoder
        Option that is given a small encoder with random weights; "" for none.
    kind_of_process
        Kind of simulated corpus that `draw` draws from.
    """

    damage: Callable[[Texts], Texts]
    harmless: Callable[[Texts], Texts]
    options: dict[str, Any] = field(default_factory=dict)
    draw: Callable[[int, int], Texts] = process
    train: int = 220
    judged: int = 100
    encoder: str = ""
    kind_of_process: str = "wiki"


def perturbed(*rules: str) -> Callable[[Texts], Texts]:
    """What rules of perturbation make of texts."""

    def change(texts: Texts) -> Texts:
        from macroscope.systems.perturbation import rules as perturbation
        from macroscope.systems.perturbation.options import PerturbationSystem

        system = PerturbationSystem(kind="perturbation", perturb=list(rules))
        found: Sequence[Document] = texts
        for number, step in enumerate(system.perturb):
            found = perturbation.perturbed(found, step, "en", (7, number))
        return list(found)

    return change


def cases() -> dict[str, Case]:
    """Every case, by the name of its critic."""
    found = {}
    for folder in FOLDERS:
        for path in sorted(folder.glob("[a-z]*.py")):
            spec = spec_from_file_location(f"{__package__}.cases.{path.stem}", path)
            assert spec is not None
            assert spec.loader is not None
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            found[path.stem] = module.CASE
    return found
