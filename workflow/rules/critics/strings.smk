"""The strings critic: documents -> texts -> divergences between estimated distributions over strings.

Inputs: samples of the systems.
Outputs: results/{run}/critics/strings/{corpus}/{latents,evidence}/, results/{run}/statistics/strings/{corpus}/.
Steps: project (texts, one line each), compare (estimate, score, compare).
"""


rule write_strings:
    """Every text as one line."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        code=modules_of("macroscope.critics.strings.texts"),
    output:
        "results/{run}/critics/strings/{corpus}/latents/{system}.parquet",
    log:
        "logs/{run}/write_strings/{corpus}/{system}.log",
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=1000,
        runtime=60,
    shell:
        """
        python -m macroscope --log {log:q} critics project --critic strings --documents {input.samples:q} \
            --output {output:q}
        """


rule compare_strings:
    """Estimate the distributions of control and system, score all texts, compare."""
    input:
        reference="results/{run}/critics/strings/{corpus}/latents/control.parquet",
        candidate="results/{run}/critics/strings/{corpus}/latents/{system}.parquet",
        code=modules_of("macroscope.critics.strings.comparison_files"),
    output:
        statistics="results/{run}/statistics/strings/{corpus}/{system}.csv",
        evidence=directory("results/{run}/critics/strings/{corpus}/evidence/{system}"),
    log:
        "logs/{run}/compare_strings/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/compare_strings/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=480,
    params:
        options=plan.critic_options(
            "strings",
            "estimator",
            "order",
            "folds",
            "scale",
            "weights",
            "permutations",
            "lstm",
            "convention",
        ),
        signature=plan.signature_of("strings"),
        resampling=plan.resampling_flags(),
    shell:
        """
        python -m macroscope --log {log:q} critics compare --critic strings --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --reference {input.reference:q} --candidate {input.candidate:q} \
            --options {params.options:q} --signature {params.signature:q} {params.resampling} \
            --statistics {output.statistics:q} --evidence {output.evidence:q}
        """
