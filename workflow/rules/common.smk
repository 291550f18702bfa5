"""The shared part of all rules: plan and wildcard constraints. It has no effect on an importing workflow."""

import sys
from pathlib import Path

# The package of a checkout is beside the rules. An installed workflow, and one that imports this one, have it installed.
if IS_MAIN:
    sys.path.insert(0, str(Path(str(workflow.current_basedir)).parent))

from macroscope.errors import IN_PART, MacroscopeError
from macroscope.files import require_folder, write_json
from macroscope.gaps import count_attempts
from macroscope.strict_yaml import read_yaml
from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

try:
    for folder in ("results", "logs") if IS_MAIN else ():
        require_folder(Path(folder))
    # The config's schema includes installed plug-ins, so a broken one ends these imports.
    from macroscope.plan import load_plan

    for path in workflow.configfiles if IS_MAIN else ():
        read_yaml(path)  # reports repeated keys, of which Snakemake takes the last
    plan = load_plan(config)
    jobs = plan.jobs()
except MacroscopeError as error:
    raise WorkflowError(str(error)) from None
plan.user_files.flag = ancient


pathvars:
    # Not a wildcard: Snakemake selects candidate rules by the part of a path before the first wildcard.
    run=plan.config.run,


wildcard_constraints:
    **plan.constraints(),


def with_conda():
    """Return whether jobs run in environments that Snakemake makes."""
    return DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method


def flagged(job, name):
    """Return an output of a job, with what Snakemake and its report are to know of it."""
    path = job.outputs[name]
    path = directory(path) if name in job.folders else path
    return report(path, **job.reported[name]) if name in job.reported else path
