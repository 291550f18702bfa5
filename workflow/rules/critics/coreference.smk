"""Coreference by resolvers with environments of their own: documents -> mentions.

Inputs: samples of the systems, documents of the corpora.
Outputs: results/{run}/critics/{critic}/{corpus}/mentions/.
"""

resolvers = plan.critics.own["coreference"]

for resolver in ("fastcoref", "neuralcoref"):

    rule:
        name:
            f"resolve_{resolver}"
        input:
            documents=resolvers.documents,
        output:
            "results/{run}/critics/{critic}/{corpus}/mentions/{collection}.parquet",
        log:
            f"logs/{{run}}/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.log",
        benchmark:
            f"logs/{{run}}/resolve_{resolver}/{{critic}}/{{corpus}}/{{collection}}.tsv"
        wildcard_constraints:
            critic=resolvers.critics_with(resolver),
            collection=r"[A-Za-z0-9_-]+(/\d+)?",
        conda:
            f"../../../envs/{resolver}.yaml"
        threads: 2
        resources:
            mem_mb=8000,
            runtime=480,
        params:
            script=f"workflow/scripts/resolve_{resolver}.py",
            flags=resolvers.flags,
        shell:
            """
            python {params.script} --documents {input.documents:q} --output {output:q} {params.flags} 2> {log:q}
            """
