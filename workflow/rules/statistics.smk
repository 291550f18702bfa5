"""T(x) -> numbers with their uncertainty.

Inputs: scores of a system and of the control; per-document perplexities.
Outputs: results/{run}/statistics/{critic}/{corpus}/{system}.csv, tidy.
"""

for critic in plan.critics.with_stage("score"):

    rule:
        name:
            f"compare_scores_{critic}"
        input:
            reference=plan.critics.place("control_scores", critic),
            candidate=plan.critics.place("scores", critic),
        output:
            plan.critics.place(plan.critics.score_statistics(critic), critic),
        log:
            f"logs/{{run}}/compare_scores_{critic}/{{corpus}}/{{system}}.log",
        benchmark:
            f"logs/{{run}}/compare_scores_{critic}/{{corpus}}/{{system}}.tsv"
        conda:
            "../../envs/core.yaml"
        resources:
            mem_mb=2000,
            runtime=120,
        params:
            code=plan.code(
                f"compare_scores_{critic}", "macroscope.statistics.comparison"
            ),
            critic=critic,
            signature=plan.critics.signature(critic, "score"),
            resampling=plan.resampling_flags(),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} statistics compare --reference {input.reference:q} \
                --candidate {input.candidate:q} --output {output:q} --corpus {wildcards.corpus:q} \
                --system {wildcards.system:q} --critic {params.critic:q} --signature {params.signature:q} \
                {params.resampling}
            """


rule summarise_perplexity:
    """Perplexity per token and per word of a system's model on the test split, with intervals."""
    input:
        documents="results/{run}/systems/{corpus}/{system}/perplexity/test.parquet",
    output:
        "results/{run}/statistics/perplexity/{corpus}/{system}.csv",
    log:
        "logs/{run}/summarise_perplexity/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/summarise_perplexity/{corpus}/{system}.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        code=plan.code("summarise_perplexity", "macroscope.statistics.comparison"),
        signature=plan.systems.perplexity_signature,
        resampling=plan.resampling_flags(permutations=False),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} statistics perplexity --documents {input.documents:q} \
            --output {output:q} --corpus {wildcards.corpus:q} --system {wildcards.system:q} \
            --signature {params.signature:q} {params.resampling}
        """
