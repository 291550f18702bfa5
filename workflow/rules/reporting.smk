"""Numbers -> tables, figures, report.

Inputs: all statistics and critics' evidence of the run, counts of corpora and samples, tables of human judgements.
Outputs: results/<run>/tables/, results/<run>/figures/, results/<run>/report.html, results/<run>/pages/,
results/<run>/reader/.
"""


rule make_tables:
    """The tables of the papers in kind, as CSV and LaTeX."""
    input:
        **plan.reporting.tables_read(),
    output:
        directory("results/<run>/tables"),
    log:
        "logs/<run>/make_tables.log",
    benchmark:
        "logs/<run>/make_tables.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=plan.code(
            "make_tables",
            plan.reporting.modules("tables"),
            plan.reporting.built_in_judgements(),
        ),
        config=plan.effective_config,
        digest=plan.digest(),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} reporting tables --config {params.config:q} \
            --output {output:q}
        """


rule plot_figures:
    """The figures, as SVG and PDF."""
    input:
        **plan.reporting.figures_read(),
        tables="results/<run>/tables",
    output:
        directory("results/<run>/figures"),
    log:
        "logs/<run>/plot_figures.log",
    benchmark:
        "logs/<run>/plot_figures.tsv"
    conda:
        "../../envs/core.yaml"
    threads: 4
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=plan.code("plot_figures", plan.reporting.modules("figures")),
        config=plan.effective_config,
    shell:
        """
        python -m macroscope --log {log:q} {params.code} reporting figures --config {params.config:q} \
            --tables {input.tables:q} --output {output:q} --processes {threads}
        """


rule write_report:
    """Pages that open offline: the picture; every system, with texts to read; every critic; what was run."""
    input:
        **plan.reporting.report_read(),
        tables="results/<run>/tables",
        figures="results/<run>/figures",
    output:
        first="results/<run>/report.html",
        pages=directory("results/<run>/pages"),
    log:
        "logs/<run>/write_report.log",
    benchmark:
        "logs/<run>/write_report.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=plan.code(
            "write_report", plan.reporting.modules("report"), plan.reporting.captions()
        ),
        config=plan.effective_config,
        digest=plan.digest(),
        # A function of inputs re-runs nothing by itself: what is accepted stands in the config already.
        older=lambda wildcards, input: plan.code.older_flags(),
        # What took the time is told, but no result depends on it: no input.
        logs=f"logs/{plan.config.run}",
    shell:
        """
        python -m macroscope --log {log:q} {params.code} reporting report --config {params.config:q} \
            --tables {input.tables:q} --figures {input.figures:q} --times {params.logs:q} {params.older} \
            --output {output.first:q} --pages {output.pages:q}
        """


rule write_reader:
    """A folder that opens offline: every text, what the critics have against it, real text beside it."""
    input:
        **plan.reporting.reader_read(),
    output:
        directory("results/<run>/reader"),
    log:
        "logs/<run>/write_reader.log",
    benchmark:
        "logs/<run>/write_reader.tsv"
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        code=plan.code(
            "write_reader",
            "macroscope.reporting.reader.writing",
            plan.reporting.reader_page(),
        ),
        config=plan.effective_config,
    shell:
        """
        python -m macroscope --log {log:q} {params.code} reporting reader --config {params.config:q} \
            --output {output:q}
        """
