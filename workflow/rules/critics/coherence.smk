"""The coherence critic: documents -> section types, T(x).

Inputs: documents of the corpus, samples of the systems.
Outputs: results/{run}/critics/coherence/{corpus}/{inference,prior,latents,scores,evidence,theory}/.
Steps: train the section classifier, fit the section prior, project, score, explain; calibrate where truth is known.
"""


rule train_section_classifier:
    """Fine-tune the encoder that tells a section's type from its text; a killed run goes on from its checkpoint."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        code=modules_of("macroscope.critics.coherence.training"),
    output:
        directory("results/{run}/critics/coherence/{corpus}/inference"),
    log:
        "logs/{run}/train_section_classifier/{corpus}.log",
    benchmark:
        "logs/{run}/train_section_classifier/{corpus}.tsv"
    conda:
        "../../../envs/core.yaml"
    threads: plan.encoder_threads("coherence")
    resources:
        mem_mb=plan.encoder_megabytes("coherence"),
        runtime=720,
        gpu=plan.encoder_gpus("coherence"),
    params:
        options=plan.critic_options(
            "coherence",
            "encoder",
            "max_tokens",
            "epochs",
            "batch_size",
            "learning_rate",
            "max_train_sections",
            "calibrate",
        ),
        seed=plan.config.seed,
        checkpoints="results/{run}/critics/coherence/{corpus}/checkpoints",
    shell:
        """
        python -m macroscope --log {log:q} critics train --critic coherence --documents {input.documents:q} \
            --options {params.options:q} --seed {params.seed} --checkpoints {params.checkpoints:q} \
            --output {output:q}
        """


rule fit_section_prior:
    """Fit the bigram chain of section types."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        inference="results/{run}/critics/coherence/{corpus}/inference",
        code=modules_of("macroscope.critics.coherence.scoring"),
    output:
        directory("results/{run}/critics/coherence/{corpus}/prior"),
    log:
        "logs/{run}/fit_section_prior/{corpus}.log",
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        options=plan.critic_options("coherence", "smoothing", "convention"),
    shell:
        """
        python -m macroscope --log {log:q} critics fit-prior --critic coherence --documents {input.documents:q} \
            --inference {input.inference:q} --options {params.options:q} --output {output:q}
        """


rule project_sections:
    """The posterior over section types of every section of a system's samples."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        inference="results/{run}/critics/coherence/{corpus}/inference",
        code=modules_of("macroscope.critics.coherence.projection"),
    output:
        "results/{run}/critics/coherence/{corpus}/latents/{system}.parquet",
    log:
        "logs/{run}/project_sections/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/project_sections/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    threads: plan.encoder_threads("coherence")
    resources:
        mem_mb=plan.encoder_megabytes("coherence"),
        runtime=240,
        gpu=plan.encoder_gpus("coherence"),
    params:
        options=plan.critic_options("coherence", "encoder", "max_tokens"),
    shell:
        """
        python -m macroscope --log {log:q} critics project --critic coherence --documents {input.samples:q} \
            --inference {input.inference:q} --options {params.options:q} --output {output:q}
        """


rule score_sections:
    """T(x) of every sample, under the section prior."""
    input:
        latents="results/{run}/critics/coherence/{corpus}/latents/{system}.parquet",
        prior="results/{run}/critics/coherence/{corpus}/prior",
        code=modules_of("macroscope.critics.coherence.scoring"),
    output:
        "results/{run}/critics/coherence/{corpus}/scores/{system}.parquet",
    log:
        "logs/{run}/score_sections/{corpus}/{system}.log",
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        options=plan.critic_options("coherence", "convention", "error_threshold"),
    shell:
        """
        python -m macroscope --log {log:q} critics score --critic coherence --latents {input.latents:q} \
            --prior {input.prior:q} --options {params.options:q} --output {output:q}
        """


rule explain_sections:
    """Transitions, transition errors and the most unlikely documents of a system."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        latents="results/{run}/critics/coherence/{corpus}/latents/{system}.parquet",
        control_latents="results/{run}/critics/coherence/{corpus}/latents/control.parquet",
        scores="results/{run}/critics/coherence/{corpus}/scores/{system}.parquet",
        prior="results/{run}/critics/coherence/{corpus}/prior",
        code=modules_of("macroscope.critics.coherence.explanation"),
    output:
        directory("results/{run}/critics/coherence/{corpus}/evidence/{system}"),
    log:
        "logs/{run}/explain_sections/{corpus}/{system}.log",
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        options=plan.critic_options("coherence", "error_threshold"),
    shell:
        """
        python -m macroscope --log {log:q} critics explain --critic coherence --system {wildcards.system:q} \
            --documents {input.samples:q} --latents {input.latents:q} \
            --control-latents {input.control_latents:q} --scores {input.scores:q} --prior {input.prior:q} \
            --options {params.options:q} --output {output:q}
        """


rule calibrate_sections:
    """What theory gives for the systems of a simulated corpus."""
    input:
        process="results/{run}/corpora/{corpus}/truth/process.json",
        prior="results/{run}/critics/coherence/{corpus}/prior",
        code=modules_of("macroscope.critics.coherence.theory"),
    output:
        "results/{run}/critics/coherence/{corpus}/theory/{system}.json",
    log:
        "logs/{run}/calibrate_sections/{corpus}/{system}.log",
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        order=plan.simulated_order,
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} critics calibrate --critic coherence --process {input.process:q} \
            --prior {input.prior:q} --order {params.order} --seed {params.seed} --output {output:q}
        """
