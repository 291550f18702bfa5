"""Documents -> samples.

Inputs: results/{run}/corpora/{corpus}/documents.parquet, samples of other systems, the user's files.
Outputs: results/{run}/systems/{corpus}/{system}/samples.parquet.
A kind of system whose samples are made in one step has its rule here; others have theirs in systems/<kind>.smk.
"""

for kind in plan.systems.drawn_kinds():

    rule:
        """Samples of a kind of system, made in one step."""
        name:
            f"draw_{kind}"
        input:
            unpack(plan.systems.inputs(kind, "draw")),
        output:
            "results/{run}/systems/{corpus}/{system}/samples.parquet",
        log:
            f"logs/{{run}}/draw_{kind}/{{corpus}}/{{system}}.log",
        benchmark:
            f"logs/{{run}}/draw_{kind}/{{corpus}}/{{system}}.tsv"
        wildcard_constraints:
            system=plan.systems.of_kind(kind),
        conda:
            "../../envs/core.yaml"
        threads: plan.systems.threads(kind, "draw")
        resources:
            mem_mb=plan.systems.megabytes(kind, "draw"),
            runtime=plan.systems.stage(kind, "draw").minutes,
            gpu=plan.systems.gpus(kind, "draw"),
        params:
            code=plan.code(
                f"draw_{kind}",
                plan.systems.module(kind, "draw"),
                plan.systems.resources_read,
            ),
            kind=kind,
            options=plan.systems.options(kind, "draw"),
            values=plan.systems.values(kind, "draw"),
            inputs=input_flags(plan.systems.stage(kind, "draw")),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} systems run --kind {params.kind:q} --stage draw \
                --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
            """
