"""Narratives: sentences -> embeddings, damaged segments -> detectors of damage, and what decoders write into the gaps.

Inputs: documents of the corpora, samples of the systems.
Outputs: results/<run>/critics/narrative/{corpus}/{embeddings,autoencoders}/, which variants share, and
results/<run>/critics/{critic}/{corpus}/{retrieved,corrupted,pretrained,detectors,infilled}/.
"""

narrative = plan.critics.own["narrative"]

for job in narrative.jobs():

    rule:
        name:
            job.name
        input:
            unpack(job.inputs),
        output:
            directory(job.output) if job.is_folder else job.output,
        log:
            job.log("log"),
        benchmark:
            job.log("tsv")
        wildcard_constraints:
            critic=narrative.names,
            kind=r"[A-Za-z0-9_-]+",
            collection=r"[A-Za-z0-9_.-]+(/\d+)?",
            task="missing|discordant",
            detector=r"[A-Za-z0-9_-]+",
            autoencoder=r"[A-Za-z0-9_-]+",
        conda:
            "../../../envs/core.yaml"
        threads: narrative.threads(job.stage)
        resources:
            mem_mb=narrative.megabytes(job.stage),
            runtime=plan.critics.stage("narrative", job.stage).minutes,
            gpu=narrative.gpus(job.stage),
        params:
            code=plan.code(job.name, plan.critics.module("narrative", job.stage)),
            stage=job.stage,
            inputs=input_flags(plan.critics.stage("narrative", job.stage)),
            values=narrative.values(job.stage),
            options=narrative.options(job.stage),
            shard=narrative.shard_flags,
        shell:
            """
            python -m macroscope --log {log:q} {params.code} critics run --critic narrative --stage {params.stage} \
                {params.inputs:q} {params.values:q} --options {params.options:q} {params.shard} --output {output:q}
            """
