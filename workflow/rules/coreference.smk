"""Coreference by resolvers with their own environments: documents -> mentions.

Inputs: samples of the systems, documents of the corpora.
Outputs: results/<run>/critics/{critic}/{corpus}/mentions/.
"""

from macroscope.critics.coreference.environment import find_python
from macroscope.critics.coreference.plan import EXTERNAL_RESOLVERS
from macroscope.files import SCRIPTS
from macroscope.stages import alternatives

resolvers = plan.critics.own["coreference"]


rule make_environment:
    """Make the environment of a resolver if Snakemake does not, by conda."""
    output:
        directory(resolvers.environment("{resolver}")),
    log:
        "logs/make_environment/{resolver}.log",
    wildcard_constraints:
        resolver=alternatives(EXTERNAL_RESOLVERS),
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    params:
        pipelines=lambda wildcards: resolvers.pipelines(wildcards.resolver),
    shell:
        """
        python -m macroscope --log {log:q} critics make-environment --resolver {wildcards.resolver} --output {output:q} \
            {params.pipelines}
        """


for resolver in EXTERNAL_RESOLVERS:

    rule:
        name:
            f"resolve_{resolver}"
        input:
            documents=lambda wildcards: plan.critics.sentence_vectors.collection(
                wildcards.corpus, wildcards.collection
            ),
            weights=resolvers.weights(resolver),
            environment=[] if with_conda() else resolvers.environment(resolver),
        output:
            "results/<run>/critics/{critic}/{corpus}/mentions/{collection}.parquet",
        log:
            f"logs/<run>/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.log",
        benchmark:
            f"logs/<run>/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.tsv"
        wildcard_constraints:
            critic=alternatives(resolvers.critics_with(resolver)),
            collection=r"[^/]+(/\d+)?",
        conda:
            f"../../envs/{resolver}.yaml"
        threads: 2
        resources:
            mem_mb=lambda wildcards, attempt: 8000 * attempt,
            runtime=lambda wildcards, attempt: 480 * attempt,
            gpu=resolvers.gpus(resolver),
        params:
            version=EXTERNAL_RESOLVERS[resolver],
            resolver=resolver,
            flags=lambda wildcards: resolvers.flags(
                wildcards.critic, wildcards.collection
            ),
            # A function of the inputs does not re-run the rule if the workflow was moved.
            scripts=lambda wildcards, input: str(SCRIPTS),
            python=lambda wildcards, input: (
                f"{input.environment}/bin/python" if input.environment else "python"
            ),
        shell:
            """
            # version {params.version}
            {params.python:q} {params.scripts:q}/resolve_{params.resolver}.py --documents {input.documents:q} \
                --output {output:q} {params.flags:q} 2> >(tee {log:q} >&2)
            """
