"""Documents -> samples.

Inputs: results/<run>/corpora/{corpus}/documents.parquet, samples of other systems, the user's files.
Outputs: results/<run>/systems/{corpus}/{system}/samples.parquet, and the model/ of kinds that train one.
A kind of system whose samples are made in one step has its rule here; others have theirs in systems/<kind>.smk.
"""

for kind in plan.systems.generated_kinds():

    rule:
        """Samples of a kind of system, made in one step."""
        name:
            f"generate_{kind}"
        input:
            unpack(plan.systems.inputs(kind, "generate")),
        output:
            made="results/<run>/systems/{corpus}/{system}/samples.parquet",
            beside=plan.systems.written_beside(kind),
        log:
            f"logs/<run>/generate_{kind}/{{corpus}}/{{system}}.log",
        benchmark:
            f"logs/<run>/generate_{kind}/{{corpus}}/{{system}}.tsv"
        wildcard_constraints:
            system=plan.systems.of_kind(kind),
        conda:
            "../../envs/core.yaml"
        threads: plan.systems.threads(kind, "generate")
        resources:
            mem_mb=plan.systems.megabytes(kind, "generate"),
            runtime=plan.systems.stage(kind, "generate").minutes,
            gpu=plan.systems.gpus(kind, "generate"),
        params:
            code=plan.code(
                f"generate_{kind}",
                plan.systems.modules(kind, "generate"),
                plan.systems.resources_read,
            ),
            kind=kind,
            options=plan.systems.options(kind, "generate"),
            values=plan.systems.values(kind, "generate"),
            # A folder's own time does not tell that a file in it was edited.
            files_below=plan.systems.files_below,
            inputs=input_flags(plan.systems.stage(kind, "generate")),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} systems run --kind {params.kind:q} --stage generate \
                --options {params.options:q} {params.inputs:q} {params.values:q} --output {output.made:q}
            """


for kind in plan.systems.trained_kinds():

    rule:
        """Model of a system, from the documents of the corpus; a killed training goes on from its last checkpoint."""
        name:
            f"train_{kind}"
        input:
            unpack(plan.systems.inputs(kind, "train")),
        output:
            directory("results/<run>/systems/{corpus}/{system}/model"),
        log:
            f"logs/<run>/train_{kind}/{{corpus}}/{{system}}.log",
        benchmark:
            f"logs/<run>/train_{kind}/{{corpus}}/{{system}}.tsv"
        wildcard_constraints:
            system=plan.systems.of_kind(kind),
        # What takes long begins first: much waits for it.
        priority: 10
        conda:
            "../../envs/core.yaml"
        threads: plan.systems.threads(kind, "train")
        resources:
            mem_mb=plan.systems.megabytes(kind, "train"),
            runtime=plan.systems.stage(kind, "train").minutes,
            gpu=plan.systems.gpus(kind, "train"),
        params:
            code=plan.code(f"train_{kind}", plan.systems.module(kind, "train")),
            kind=kind,
            options=plan.systems.options(kind, "train"),
            values=plan.systems.values(kind, "train"),
            inputs=input_flags(plan.systems.stage(kind, "train")),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} systems run --kind {params.kind:q} --stage train \
                --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
            """


for kind in plan.systems.measured_kinds():

    rule:
        """Negative log-likelihood, tokens and words of every document of a held-out split."""
        name:
            f"measure_perplexity_{kind}"
        input:
            unpack(plan.systems.inputs(kind, "measure_perplexity")),
        output:
            "results/<run>/systems/{corpus}/{system}/perplexity/{split}.parquet",
        log:
            f"logs/<run>/measure_perplexity_{kind}/{{corpus}}/{{system}}-{{split}}.log",
        benchmark:
            f"logs/<run>/measure_perplexity_{kind}/{{corpus}}/{{system}}-{{split}}.tsv"
        wildcard_constraints:
            system=plan.systems.measured(kind),
        conda:
            "../../envs/core.yaml"
        threads: plan.systems.threads(kind, "measure_perplexity")
        resources:
            mem_mb=plan.systems.megabytes(kind, "measure_perplexity"),
            runtime=plan.systems.stage(kind, "measure_perplexity").minutes,
            gpu=plan.systems.gpus(kind, "measure_perplexity"),
        params:
            code=plan.code(
                f"measure_perplexity_{kind}",
                plan.systems.module(kind, "measure_perplexity"),
            ),
            kind=kind,
            options=plan.systems.options(kind, "measure_perplexity"),
            values=plan.systems.values(kind, "measure_perplexity"),
            inputs=input_flags(plan.systems.stage(kind, "measure_perplexity")),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} systems run --kind {params.kind:q} \
                --stage measure_perplexity --options {params.options:q} {params.inputs:q} {params.values:q} \
                --output {output:q}
            """
