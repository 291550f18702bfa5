"""Environments of a user: what this one has, and room for packages of their own."""

import sys
import venv
from pathlib import Path

from macroscope.files import REPOSITORY

COMMANDS = ("macroscope", "pip")


def make_environment(folder: Path) -> Path:
    """Make an environment that sees all that this one has, and return its folder of commands.

    `python`, `macroscope` and `pip` there see what is installed into it as well.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    paths = [path for path in sys.path if path.endswith("site-packages")]
    (site_packages(folder) / "outer.pth").write_text("\n".join([*paths, str(REPOSITORY / "workflow")]) + "\n")
    commands = folder / "bin"
    for name in COMMANDS:
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec "{commands / "python"}" -m {name} "$@"\n')
        script.chmod(0o755)
    return commands


def site_packages(folder: Path) -> Path:
    """Return the folder of an environment's own packages."""
    return next((folder / "lib").glob("python*/site-packages"))
