"""T(x) -> numbers with their uncertainty.

Inputs: scores of a system and of the control; per-document perplexities.
Outputs: results/{run}/statistics/{critic}/{corpus}/{system}.csv, tidy.
"""


rule compare_scores:
    """Latent NLL and PPL with intervals, and the difference to the control with p-values."""
    input:
        reference="results/{run}/critics/{critic}/{corpus}/scores/control.parquet",
        candidate="results/{run}/critics/{critic}/{corpus}/scores/{system}.parquet",
        code=modules_of("macroscope.statistics.comparison"),
    output:
        "results/{run}/statistics/{critic}/{corpus}/{system}.csv",
    log:
        "logs/{run}/compare_scores/{critic}/{corpus}/{system}.log",
    wildcard_constraints:
        critic=plan.scoring_critics(),
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=120,
    params:
        signature=plan.critic_signature,
        resampling=plan.resampling_flags(),
    shell:
        """
        python -m macroscope --log {log:q} statistics compare --reference {input.reference:q} \
            --candidate {input.candidate:q} --output {output:q} --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --critic {wildcards.critic:q} --signature {params.signature:q} \
            {params.resampling}
        """


rule summarise_perplexity:
    """Perplexity per token and per word of a language model on the test split, with intervals."""
    input:
        documents="results/{run}/systems/{corpus}/{system}/perplexity/test.parquet",
        code=modules_of("macroscope.statistics.comparison"),
    output:
        "results/{run}/statistics/perplexity/{corpus}/{system}.csv",
    log:
        "logs/{run}/summarise_perplexity/{corpus}/{system}.log",
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        signature=plan.systems.language_models.perplexity_signature,
        resampling=plan.resampling_flags(permutations=False),
    shell:
        """
        python -m macroscope --log {log:q} statistics perplexity --documents {input.documents:q} \
            --output {output:q} --corpus {wildcards.corpus:q} --system {wildcards.system:q} \
            --signature {params.signature:q} {params.resampling}
        """
