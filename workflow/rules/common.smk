"""What all rules share: the plan, wildcard constraints, and the environment of the jobs. No rules here."""

import os
import sys
from pathlib import Path

PACKAGE = Path(workflow.basedir) / "workflow"
sys.path.insert(0, str(PACKAGE))

from macroscope.errors import MacroscopeError
from macroscope.files import write_text
from macroscope.modules import modules_of
from macroscope.paths import RESOURCES
from macroscope.plan import load_plan
from macroscope.stages import input_flags
from snakemake.exceptions import WorkflowError

try:
    plan = load_plan(config)
except MacroscopeError as error:
    raise WorkflowError(str(error)) from None

# Jobs run this checkout's package, with the interpreter that runs Snakemake unless Snakemake activated another
# environment for the job (--sdm conda).
shell.prefix(
    "set -euo pipefail; "
    f'export PYTHONPATH="{PACKAGE}:${{{{PYTHONPATH:-}}}}"; '
    'case "${{CONDA_PREFIX:-}}" in *.snakemake*) ;; '
    f'*) export PATH="{Path(sys.executable).parent}:$PATH" ;; esac; '
)


wildcard_constraints:
    run=plan.config.run,
    corpus="|".join(plan.config.corpora),
    # Any name: with a thousand systems, a list of all of them takes longer to match than everything else.
    system=r"[A-Za-z0-9_-]+",
    critic=r"[a-z_]+",
    part=r"[A-Za-z0-9-]+",
    shard=r"\d+",
    encoder=r"[A-Za-z0-9_-]+",
    side="own|reference",
    split="valid|test",


def write_effective_config():
    """Keep the config with all its defaults beside the results: the report reads it."""
    write_text(Path(plan.effective_config), plan.effective_json())


def print_where_to_look():
    """Name what a person opens first."""
    if all(Path(target).exists() for target in plan.targets()):
        print(plan.where_to_look(), file=sys.stderr)
