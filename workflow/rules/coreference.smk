"""Coreference by resolvers with their own environments: documents -> mentions.

Inputs: samples of the systems, documents of the corpora.
Outputs: results/<run>/critics/{critic}/{corpus}/mentions/.
"""

from importlib.util import find_spec

from snakemake.settings.types import DeploymentMethod

from macroscope.critics.coreference.plan import EXTERNAL_RESOLVERS
from macroscope.files import SCRIPTS

resolvers = plan.critics.own["coreference"]


def with_conda():
    """Return whether jobs run in environments that Snakemake makes."""
    return DeploymentMethod.CONDA in workflow.deployment_settings.deployment_method


def check_resolvers():
    """Stop at once if the package of a chosen resolver is not available to jobs."""
    for resolver in resolvers.external_resolvers():
        if not with_conda() and find_spec(resolver) is None:
            raise WorkflowError(
                f"resolver '{resolver}' of the coreference critic: not installed here; run with --software-deployment-method"
                f" conda, which makes the environment envs/{resolver}.yaml, or set it to 'rules'"
            )


for resolver in EXTERNAL_RESOLVERS:

    rule:
        name:
            f"resolve_{resolver}"
        input:
            documents=resolvers.documents,
        output:
            "results/<run>/critics/{critic}/{corpus}/mentions/{collection}.parquet",
        log:
            f"logs/<run>/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.log",
        benchmark:
            f"logs/<run>/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.tsv"
        wildcard_constraints:
            critic=resolvers.critics_with(resolver),
            collection=r"[^/]+(/\d+)?",
        conda:
            f"../../envs/{resolver}.yaml"
        threads: 2
        resources:
            mem_mb=lambda wildcards, attempt: 8000 * attempt,
            runtime=lambda wildcards, attempt: 480 * attempt,
            gpu=resolvers.gpus(resolver),
        params:
            code=resolvers.code(resolver),
            resolver=resolver,
            flags=resolvers.flags,
            # A function of the inputs does not re-run the rule if the workflow was moved.
            scripts=lambda wildcards, input: str(SCRIPTS),
        shell:
            """
            python {params.scripts:q}/resolve_{params.resolver}.py --documents {input.documents:q} \
                --output {output:q} {params.flags:q} 2> >(tee {log:q} >&2)
            """
