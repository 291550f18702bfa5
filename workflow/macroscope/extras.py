"""The installation: its name, and its optional parts, the extras that critics and kinds of systems declare."""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import Any

DISTRIBUTION = "macroscope-text"
"""Name of the distribution: `macroscope` is another author's, with a module and a command of that name."""
_SCRIPT = "macroscope.cli:main"
EXTRAS: Mapping[str, tuple[str, ...]] = {
    "models": ("accelerate", "bert_score", "bm25s", "nltk", "safetensors", "sklearn", "torch", "transformers"),
    "languages": ("tomotopy",),
    "kenlm": ("kenlm",),
    "spacy": ("spacy",),
    "datasets": ("datasets",),
}
"""Name of an extra -> packages that it brings and that this package imports."""


@cache
def is_installed(extra: str) -> bool:
    """Return whether every package of an extra is installed."""
    return all(find_spec(package) for package in EXTRAS[extra])


def missing_extras(needs: Mapping[str, str], options: Any) -> list[str]:
    """Return the extras that are needed under these options and are not installed.

    Parameters
    ----------
    needs
        Name of an extra -> "option=value", the option under which it is needed; "" if it always is.
    """
    return [extra for extra, condition in needs.items() if _holds(condition, options) and not is_installed(extra)]


def name_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def describe_clash() -> str | None:
    """Describe another distribution that has a command `macroscope`, and what to do; None if none is installed."""
    scripts = entry_points(group="console_scripts", name="macroscope")
    others = sorted({f"{s.dist.name} {s.dist.version}" for s in scripts if s.dist and s.value != _SCRIPT})
    if not others:
        return None
    return (
        f"the package {', '.join(others)} of other authors also has a command macroscope; uninstall both, and install"
        f" {DISTRIBUTION} again"
    )


def extra_with(package: str) -> str | None:
    """Return the extra that brings a package; None if none does."""
    return next((extra for extra, packages in EXTRAS.items() if package in packages), None)


def _holds(condition: str, options: Any) -> bool:
    name, _, value = condition.partition("=")
    return not name or str(getattr(options, name)) == value
