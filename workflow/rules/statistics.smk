"""T(x) -> numbers with their uncertainty.

Inputs: scores of a system and of the control; latents and scores of all systems; per-document perplexities.
Outputs: results/<run>/statistics/{critic}/{corpus}/{system}.csv and {corpus}.two_sample_test.csv, tidy.
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
            f"logs/<run>/compare_scores_{critic}/{{corpus}}/{{system}}.log",
        benchmark:
            f"logs/<run>/compare_scores_{critic}/{{corpus}}/{{system}}.tsv"
        conda:
            "../../envs/core.yaml"
        resources:
            mem_mb=4000,
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


for critic in plan.critics.with_stage("project"):

    rule:
        """How well single documents of every system are told from real ones by what a critic sees of them."""
        name:
            f"two_sample_test_{critic}"
        input:
            **plan.critics.side_by_side.seen(critic),
        output:
            plan.critics.place("two_sample_test", critic),
        log:
            f"logs/<run>/two_sample_test_{critic}/{{corpus}}.log",
        benchmark:
            f"logs/<run>/two_sample_test_{critic}/{{corpus}}.tsv"
        conda:
            "../../envs/core.yaml"
        resources:
            mem_mb=4000,
            runtime=120,
        params:
            code=plan.code(
                f"two_sample_test_{critic}",
                [
                    "macroscope.critics.two_sample_test",
                    plan.critics.side_by_side.feature_module(critic),
                ],
            ),
            critic=critic,
            signature=plan.critics.signature(critic),
            systems=plan.critics.side_by_side.system_flags(critic),
            latents=repeated_flag("--latents", "latents"),
            scores=repeated_flag("--scores", "scores"),
            resampling=plan.interval_flags(),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} critics two-sample-test --critic {params.critic:q} \
                --corpus {wildcards.corpus:q} {params.systems:q} {params.latents:q} {params.scores:q} \
                --signature {params.signature:q} {params.resampling} --output {output:q}
            """


for critic in plan.critics.with_stage("project"):

    rule:
        """System against system: every number of a critic, with intervals and p-values."""
        name:
            f"compare_pairs_{critic}"
        input:
            **plan.critics.side_by_side.seen(critic),
            statistics=plan.critics.side_by_side.statistics_of_all(critic),
        output:
            plan.critics.place("pairs", critic),
        log:
            f"logs/<run>/compare_pairs_{critic}/{{corpus}}.log",
        benchmark:
            f"logs/<run>/compare_pairs_{critic}/{{corpus}}.tsv"
        conda:
            "../../envs/core.yaml"
        resources:
            mem_mb=4000,
            runtime=120,
        params:
            code=plan.code(
                f"compare_pairs_{critic}",
                [
                    "macroscope.critics.pairs",
                    plan.critics.side_by_side.feature_module(critic),
                ],
            ),
            critic=critic,
            signature=plan.critics.signature(critic),
            systems=plan.critics.side_by_side.system_flags(critic),
            pairs=plan.critics.side_by_side.pair_flags(critic),
            latents=repeated_flag("--latents", "latents"),
            scores=repeated_flag("--scores", "scores"),
            statistics=repeated_flag("--statistics", "statistics"),
            resampling=plan.resampling_flags(),
        shell:
            """
            python -m macroscope --log {log:q} {params.code} critics compare-pairs --critic {params.critic:q} \
                --corpus {wildcards.corpus:q} {params.systems:q} {params.pairs:q} {params.latents:q} \
                {params.scores:q} {params.statistics:q} --signature {params.signature:q} {params.resampling} \
                --output {output:q}
            """


rule summarise_perplexity:
    """Perplexity per token and per word of a system's model on the test split, with intervals."""
    input:
        documents="results/<run>/systems/{corpus}/{system}/perplexity/test.parquet",
    output:
        "results/<run>/statistics/perplexity/{corpus}/{system}.csv",
    log:
        "logs/<run>/summarise_perplexity/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/summarise_perplexity/{corpus}/{system}.tsv"
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
