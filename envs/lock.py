"""Write the locked environments from what is installed (make lock).

These are {core,dev,docs}.lock.txt and {statistics,models}.yaml.
"""

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
    """Write the locked requirements of a run and of development, and the conda environments of jobs."""
    project = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))
    optional = project["project"]["optional-dependencies"]
    jobs = [*project["project"]["dependencies"], *optional["languages"]]
    statistics = closure(jobs)
    models = closure([*jobs, *optional["models"]])
    core = closure([*jobs, *optional["models"], *optional["slurm"]])
    dev = closure([*project["dependency-groups"]["dev"], *optional["datasets"]])
    docs = closure(project["dependency-groups"]["docs"])
    lines = ["# Everything that a run needs, exactly (make lock writes this).", *pins(core)]
    (FOLDER / "core.lock.txt").write_text("\n".join(lines) + "\n")
    for name, purpose, versions in (("dev", "tests and linting need", dev), ("docs", "the site needs", docs)):
        more = {package: version for package, version in versions.items() if package not in core}
        lines = [f"# What {purpose} besides (make lock writes this).", "-r core.lock.txt", *pins(more)]
        (FOLDER / f"{name}.lock.txt").write_text("\n".join(lines) + "\n")
    write_conda_environment("statistics", "corpora, statistics and the report, without PyTorch", statistics)
    write_conda_environment("models", "language models and encoders", models)


def pins(versions: dict[str, str]) -> list[str]:
    """Return exact requirements."""
    return [f"{name}=={version}" for name, version in sorted(versions.items())]


def write_conda_environment(name: str, purpose: str, versions: dict[str, str]) -> None:
    """Write the environment of a kind of jobs."""
    lines = [
        f"# The environment of jobs under --sdm conda: {purpose}, in the versions of core.lock.txt (make lock).",
        *("channels:", "  - conda-forge", "  - nodefaults"),
        *("dependencies:", "  - python=3.11", "  - pip", "  - pip:"),
        *(f"      - {pin}" for pin in pins(versions)),
    ]
    (FOLDER / f"{name}.yaml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
