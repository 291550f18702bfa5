"""Systems of single damages, as a matrix of damages and doses has them."""

from typing import Any


def system_name(damage: str, dose: float) -> str:
    """Return the name of the system with one damage: its rule and its dose in percent."""
    return f"{damage}-{round(100 * dose)}"


def system_options(damage: str, dose: float) -> dict[str, Any]:
    """Return the options of the system with one damage of held-out real text."""
    return {"kind": "perturbation", "perturb": [{"rule": damage, "dose": dose}]}
