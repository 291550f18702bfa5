"""Numbers -> tables, figures, report.

Inputs: all statistics and critics' evidence of the run, counts of corpora and samples, tables of human judgements.
Outputs: results/{run}/tables/, results/{run}/figures/, results/{run}/report.html.
"""


rule make_tables:
    """The tables of the papers in kind, as CSV and LaTeX."""
    input:
        statistics=plan.statistics(),
        theory=list(plan.calibrations().values()),
        probing=plan.probed(),
        probabilities=plan.true_probabilities(),
        evidence=plan.evidence(),
        documents=plan.documents(),
        samples=plan.samples(),
        judgements=plan.config.judgement_files(),
        code=plan.reporting_modules("tables"),
    output:
        directory("results/{run}/tables"),
    log:
        "logs/{run}/make_tables.log",
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        config=plan.effective_config,
        digest=plan.digest(),
    shell:
        """
        python -m macroscope --log {log:q} reporting tables --config {params.config:q} --output {output:q}
        """


rule draw_figures:
    """The figures, as SVG and PDF."""
    input:
        tables="results/{run}/tables",
        evidence=plan.evidence(),
        code=plan.reporting_modules("figures"),
    output:
        directory("results/{run}/figures"),
    log:
        "logs/{run}/draw_figures.log",
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        config=plan.effective_config,
    shell:
        """
        python -m macroscope --log {log:q} reporting figures --config {params.config:q} --tables {input.tables:q} \
            --output {output:q}
        """


rule write_report:
    """One page that opens offline: what was run, the headline table, figures, what was dropped, texts to read."""
    input:
        tables="results/{run}/tables",
        figures="results/{run}/figures",
        evidence=plan.evidence(),
        captions=plan.captions(),
        code=plan.reporting_modules("report"),
    output:
        "results/{run}/report.html",
    log:
        "logs/{run}/write_report.log",
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        config=plan.effective_config,
        digest=plan.digest(),
    shell:
        """
        python -m macroscope --log {log:q} reporting report --config {params.config:q} --tables {input.tables:q} \
            --figures {input.figures:q} --output {output:q}
        """
