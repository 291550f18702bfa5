"""The tendencies critic: documents -> counts and numbers of every text -> comparisons with the control.

Inputs: samples of the systems.
Outputs: results/{run}/critics/tendencies/{corpus}/{latents,evidence}/, results/{run}/statistics/tendencies/{corpus}/.
Steps: project (count tokens, measure texts), compare.
"""


rule count_tokens:
    """Tokens, types, stop words, symbols and repetitions of every text; the vocabulary in blocks of documents."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        code=modules_of("macroscope.critics.tendencies.projection"),
    output:
        latents="results/{run}/critics/tendencies/{corpus}/latents/{system}.parquet",
        counts="results/{run}/critics/tendencies/{corpus}/latents/{system}.counts.parquet",
    log:
        "logs/{run}/count_tokens/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/count_tokens/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        options=plan.critic_options_in_language("tendencies", "unit", "tokenizer"),
    shell:
        """
        python -m macroscope --log {log:q} critics project --critic tendencies --documents {input.samples:q} \
            --options {params.options:q} --output {output.latents:q}
        """


rule compare_tendencies:
    """Every tendency of a system, and its distance to the control's, with intervals and p-values."""
    input:
        reference="results/{run}/critics/tendencies/{corpus}/latents/control.parquet",
        reference_counts="results/{run}/critics/tendencies/{corpus}/latents/control.counts.parquet",
        candidate="results/{run}/critics/tendencies/{corpus}/latents/{system}.parquet",
        candidate_counts="results/{run}/critics/tendencies/{corpus}/latents/{system}.counts.parquet",
        code=modules_of("macroscope.critics.tendencies.comparison"),
    output:
        statistics="results/{run}/statistics/tendencies/{corpus}/{system}.csv",
        evidence=directory(
            "results/{run}/critics/tendencies/{corpus}/evidence/{system}"
        ),
    log:
        "logs/{run}/compare_tendencies/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/compare_tendencies/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        options=plan.critic_options(
            "tendencies",
            "ranks",
            "min_texts_per_length",
            "length_bins_per_decade",
            "simulations",
            "count_permutations",
        ),
        signature=plan.signature_of("tendencies"),
        resampling=plan.resampling_flags(),
    shell:
        """
        python -m macroscope --log {log:q} critics compare --critic tendencies --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --reference {input.reference:q} --candidate {input.candidate:q} \
            --options {params.options:q} --signature {params.signature:q} {params.resampling} \
            --statistics {output.statistics:q} --evidence {output.evidence:q}
        """
