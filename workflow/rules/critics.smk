"""Documents -> latents, T(x): the standard stages, one rule for every critic and stage (`project_coherence`).

Inputs: samples of the systems, documents of the corpora, and what earlier stages made.
Outputs: results/<run>/critics/{critic}/{corpus}/{inference,prior,latents,shared,scores,theory,evidence,blame}/, and of the stage
compare results/<run>/statistics/{critic}/{corpus}/{system}.csv.
What a critic declares (workflow/macroscope/critics/<critic>/__init__.py) says which stages it has, what they read and
what they ask for; what is unusual about it stands in rules/critics/<critic>.smk.
"""

for critic, stage in plan.critics.jobs():

    rule:
        name:
            f"{stage}_{critic}"
        input:
            **plan.critics.inputs(critic, stage),
        output:
            **{
                name: directory(path) if is_folder else path
                for name, path, is_folder in plan.critics.outputs(critic, stage)
            },
        log:
            plan.critics.log(critic, stage, "log"),
        benchmark:
            plan.critics.log(critic, stage, "tsv")
        conda:
            "../../envs/core.yaml"
        threads: plan.critics.threads(critic, stage)
        resources:
            mem_mb=plan.critics.megabytes(critic, stage),
            runtime=plan.critics.stage(critic, stage).minutes,
            gpu=plan.critics.gpus(critic, stage),
        params:
            code=plan.code(
                f"{stage}_{critic}",
                plan.critics.modules(critic, stage),
                plan.critics.stage(critic, stage).resource_files,
            ),
            job=f"--critic {critic} --stage {stage}",
            inputs=input_flags(plan.critics.stage(critic, stage)),
            values=plan.critics.value_flags(critic, stage),
            options=plan.critics.options_of(critic, stage),
            shard=plan.critics.shard_flags(stage),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} critics run {params.job} {params.inputs:q} \
                {params.values:q} --options {params.options:q} {params.shard} --output {output.made:q}
            """


if plan.critics.is_sharded:

    checkpoint count_samples:
        """How many documents a system has, and so how many shards are projected."""
        input:
            "results/<run>/systems/{corpus}/{system}/samples.parquet",
        output:
            "results/<run>/systems/{corpus}/{system}/count.json",
        log:
            "logs/<run>/count_samples/{corpus}/{system}.log",
        conda:
            "../../envs/core.yaml"
        resources:
            mem_mb=500,
            runtime=10,
        params:
            code=plan.code("count_samples", "macroscope.systems.formats"),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} systems count --samples {input:q} --output {output:q}
            """

    def shards_of(critic):
        """Input function: all shards of a system's latents."""

        def shards(wildcards):
            counted = checkpoints.count_samples.get(
                corpus=wildcards.corpus, system=wildcards.system
            )
            return plan.critics.shards(critic, wildcards, counted.output[0])

        return shards

    for critic in plan.critics.with_stage("project"):

        rule:
            name:
                f"gather_{critic}"
            input:
                shards_of(critic),
            output:
                plan.critics.place("latents", critic),
            log:
                f"logs/<run>/gather_{critic}/{{corpus}}/{{system}}.log",
            benchmark:
                f"logs/<run>/gather_{critic}/{{corpus}}/{{system}}.tsv"
            conda:
                "../../envs/core.yaml"
            resources:
                mem_mb=2000,
                runtime=120,
            params:
                code=plan.code(f"gather_{critic}", "macroscope.critics.latents"),
            shell:
                """
                python -m macroscope --log {log:q} {params.code} critics gather --output {output:q} {input:q}
                """

        cluster_jobs.later(f"project_{critic}", before=f"gather_{critic}")
