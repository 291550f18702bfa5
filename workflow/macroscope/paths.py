"""Where the files that ship with the package are."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SNAKEFILE = REPOSITORY / "Snakefile"
PROFILE = REPOSITORY / "profiles" / "default"
RESOURCES = REPOSITORY / "resources"
SCHEMAS = REPOSITORY / "workflow" / "schemas"
CAPTIONS = REPOSITORY / "workflow" / "report"
