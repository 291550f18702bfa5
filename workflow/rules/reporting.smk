"""Numbers -> tables, figures, report.

Inputs: all statistics and critics' evidence of the run, counts of corpora and samples, tables of human judgements.
Outputs: results/<run>/tables/, results/<run>/figures/, results/<run>/report.html, results/<run>/pages/,
results/<run>/reader/.
"""


rule write_config:
    """Write the config with all its defaults: the input of tables, figures, report and reader."""
    output:
        plan.config_file,
    log:
        "logs/<run>/write_config.log",
    benchmark:
        "logs/<run>/write_config.tsv"
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 10 * attempt,
    params:
        # A function, since Snakemake takes braces in a parameter, as in `mentions: mine/{system}.parquet`, for wildcards.
        config=lambda wildcards: plan.effective_json(),
    script:
        "../scripts/write_config.py"


rule make_tables:
    """Write the tables, in the form of the papers', as CSV and LaTeX."""
    input:
        **plan.user_files.undated_all(plan.reporting.tables_read()),
        config=plan.config_file,
    output:
        report(
            directory("results/<run>/tables"),
            patterns=["{table}.csv"],
            category="Tables",
            labels={"table": "{table}"},
        ),
    log:
        "logs/<run>/make_tables.log",
    benchmark:
        "logs/<run>/make_tables.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        version=plan.reporting.version("tables"),
        attempts=count_attempts(Path(plan.results)),
        contents=plan.user_files.contents(plan.reporting.judgements()),
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} reporting tables --config {input.config:q} \
            --output {output:q}
        """


rule plot_figures:
    """Plot the figures, as SVG and PDF."""
    input:
        **plan.user_files.undated_all(plan.reporting.figures_read()),
        config=plan.config_file,
        tables="results/<run>/tables",
    output:
        report(
            directory("results/<run>/figures"),
            patterns=["{figure}.svg"],
            category="Figures",
            labels={"figure": "{figure}"},
        ),
    log:
        "logs/<run>/plot_figures.log",
    benchmark:
        "logs/<run>/plot_figures.tsv"
    conda:
        "../../envs/statistics.yaml"
    threads: 4
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        version=plan.reporting.version("figures"),
        attempts=count_attempts(Path(plan.results)),
        contents=plan.user_files.contents(plan.reporting.studies()),
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} reporting figures --config {input.config:q} \
            --tables {input.tables:q} --output {output:q} --processes {threads}
        """


rule write_report:
    """Write pages that open offline: the scorecard, every system with texts to read, every critic, the methods."""
    input:
        **plan.user_files.undated_all(plan.reporting.report_read()),
        config=plan.config_file,
        tables="results/<run>/tables",
        figures="results/<run>/figures",
    output:
        first=report("results/<run>/report.html", category="Report"),
        pages=directory("results/<run>/pages"),
    log:
        "logs/<run>/write_report.log",
    benchmark:
        "logs/<run>/write_report.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        version=plan.reporting.version("report"),
        contents=plan.user_files.contents(
            plan.reporting.studies(),
            plan.reporting.profile(),
            plan.reporting.cited_sensitivity(),
        ),
        # The report shows the times, but no result depends on them: not an input.
        logs=f"logs/{plan.config.run}",
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} reporting report --config {input.config:q} \
            --tables {input.tables:q} --figures {input.figures:q} --times {params.logs:q} \
            --output {output.first:q} --pages {output.pages:q}
        """


rule write_sensitivity:
    """Write a folder that opens offline: the power of each critic against each damage, as figures and as a table."""
    input:
        **plan.reporting.sensitivity_read(),
        config=plan.config_file,
    output:
        directory("results/<run>/sensitivity"),
    log:
        "logs/<run>/write_sensitivity.log",
    benchmark:
        "logs/<run>/write_sensitivity.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    params:
        version=plan.reporting.version("sensitivity"),
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} reporting sensitivity --config {input.config:q} \
            --output {output:q}
        """


rule write_reader:
    """Write a folder that opens offline: every text with the critics' marks, and real text beside it."""
    input:
        **plan.reporting.reader_read(),
        config=plan.config_file,
        # For the order alone: the first pass of a run with failures has no tables, and would write it with another config.
        tables=ancient("results/<run>/tables"),
    output:
        directory("results/<run>/reader"),
    log:
        "logs/<run>/write_reader.log",
    benchmark:
        "logs/<run>/write_reader.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        version=plan.reporting.version("reader"),
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} reporting reader --config {input.config:q} \
            --output {output:q}
        """
