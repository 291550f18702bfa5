"""Write the locked environments from what is installed (make lock): core.lock.txt, dev.lock.txt, core.yaml."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parent


def closure(requirements: list[str]) -> dict[str, str]:
    """Return the installed version of every distribution that these requirements lead to."""
    versions: dict[str, str] = {}
    done: set[str] = set()
    waiting = [Requirement(requirement) for requirement in requirements]
    while waiting:
        requirement = waiting.pop()
        if str(requirement) in done:
            continue
        done.add(str(requirement))
        installed = distribution(requirement.name)
        # A local label ("+cpu") names the build of one index; the version alone is found on all.
        versions[canonicalize_name(requirement.name)] = installed.version.partition("+")[0]
        extras = requirement.extras or {""}
        for text in installed.requires or []:
            needed = Requirement(text)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(needed)
    return versions


def main() -> None:
    """Write the three files."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    optional = project["project"]["optional-dependencies"]
    core = closure([*project["project"]["dependencies"], *optional["minilm"], *optional["slurm"]])
    dev = closure([*project["dependency-groups"]["dev"], *optional["datasets"]])
    pins = [f"{name}=={version}" for name, version in sorted(core.items())]
    more = [f"{name}=={version}" for name, version in sorted(dev.items()) if name not in core]
    lines = ["# Everything that a run needs, exactly (make lock writes this).", *pins]
    (FOLDER / "core.lock.txt").write_text("\n".join(lines) + "\n")
    lines = ["# What tests and linting need besides (make lock writes this).", "-r core.lock.txt", *more]
    (FOLDER / "dev.lock.txt").write_text("\n".join(lines) + "\n")
    head = [
        "# The environment of a job under --sdm conda: the versions of core.lock.txt (make lock writes this).",
        *("channels:", "  - conda-forge", "  - nodefaults"),
        *("dependencies:", "  - python=3.11", "  - pip", "  - pip:"),
    ]
    (FOLDER / "core.yaml").write_text("\n".join([*head, *(f"      - {pin}" for pin in pins)]) + "\n")


if __name__ == "__main__":
    main()
