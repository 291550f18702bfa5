"""Raw files -> documents -> samples -> latents, T(x) -> numbers -> tables, figures, pages: a rule for each job.

A stage is declared in the package that computes it (`KIND`, `CRITIC`, `STAGES`); `plan/` holds the jobs and their
paths, for example of the rules score_topics and generate_ngram:
    results/<run>/systems/{corpus}/{system}/samples.parquet
    results/<run>/critics/topics/{corpus}/scores/{system}.parquet
Only downloads (retrieval.smk) and stages that need another environment (coreference.smk) have separate rules.
"""

if plan.critics.is_sharded:

    checkpoint count_documents:
        """Count the documents of a collection, which gives the number of shards to project."""
        input:
            "results/<run>/{texts}.parquet",
        output:
            "results/<run>/{texts}.count.json",
        log:
            "logs/<run>/count_documents/{texts}.log",
        conda:
            "../../envs/statistics.yaml"
        resources:
            mem_mb=lambda wildcards, attempt: 500 * attempt,
            runtime=lambda wildcards, attempt: 10 * attempt,
        params:
            version=1,
        shell:
            """
            # version {params.version}
            python -m macroscope --log {log:q} corpora count --documents {input:q} --output {output:q}
            """

    def counted(texts):
        """Return the file with the number of a collection's documents, which a checkpoint writes."""
        texts = texts.removeprefix(f"{plan.results}/").removesuffix(".parquet")
        return checkpoints.count_documents.get(texts=texts).output[0]

    plan.critics.counted = counted


for job in jobs:

    rule:
        name:
            job.name
        input:
            **plan.user_files.inputs(job),
        output:
            **{name: flagged(job, name) for name in job.outputs},
        log:
            job.log("log"),
        benchmark:
            job.log("tsv")
        wildcard_constraints:
            **job.constraints,
        # Long jobs begin first: many others wait for them.
        priority: job.stage.minutes
        conda:
            job.environment
        threads: job.resources.threads
        resources:
            mem_mb=job.mem_mb,
            runtime=job.runtime,
            gpu=job.resources.gpus,
        params:
            version=job.version,
            command=job.command,
            inputs=job.input_flags,
            settings=job.settings,
            outputs=job.output_flags,
            contents=plan.user_files.contents_of(job),
            attempts=count_attempts(Path(plan.results), job.name),
        shell:
            """
            # version {params.version}
            python -m macroscope --log {log:q} {params.command} {params.inputs:q} {params.settings:q} {params.outputs:q}
            """
