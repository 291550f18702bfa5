"""Write the notes of a release from its section in CHANGELOG.md (make release)."""

import re
import sys
from pathlib import Path

from macroscope import __version__

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def read_notes(changelog: str, version: str) -> str:
    """Return the section of a version, without its heading; exit if there is none."""
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    matching = [section.partition("\n")[2].strip() for section in sections if section.split()[0] == version]
    if not matching:
        sys.exit(f"CHANGELOG.md: no section '## {version}'; rename the section 'Unreleased', or change the version")
    return matching[0] + "\n"


if __name__ == "__main__":
    print(read_notes(CHANGELOG.read_text(encoding="utf-8"), __version__), end="")
