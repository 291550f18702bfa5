"""Environments of jobs: only those whose code imports PyTorch get it (envs/models.yaml, envs/statistics.yaml)."""

from collections.abc import Callable
from typing import Any

from macroscope.extras import EXTRAS
from macroscope.fingerprint import packages
from macroscope.plan.code import Modules, module_names

MODELS = frozenset({*EXTRAS["models"], "sentence_transformers", "tokenizers"})
"""Packages that only the environment of models has: the extra `models` of pyproject.toml, and what it brings."""


def environment(modules: Modules | Callable[[Any], Modules]) -> Callable[[Any], str]:
    """Return a `conda:` function: the file of the environment that a job needs, relative to the folder of the rules.

    Parameters
    ----------
    modules
        Dotted names of the modules that it runs, or a single name, or a function of the wildcards that returns them.
    """

    def path(wildcards: Any) -> str:
        imported = packages(tuple(sorted(set(module_names(modules, wildcards)))))
        return f"../../envs/{'models' if imported & MODELS else 'statistics'}.yaml"

    return path
