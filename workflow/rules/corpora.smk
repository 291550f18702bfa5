"""Raw files -> documents.

Inputs: a source of the registry or of a hub (retrieved once to data/), the user's files, or a simulated process.
Outputs: results/<run>/corpora/{corpus}/documents.parquet with its counts, its summary and its section types.
"""

for kind in plan.corpora.simulations:

    rule:
        """Write raw files in an upstream format from a known process, and the truth about them."""
        name:
            f"simulate_{kind}"
        output:
            raw=f"results/<run>/corpora/{{corpus}}/raw/{plan.corpora.simulations[kind].raw}",
            process="results/<run>/corpora/{corpus}/truth/process.json",
        log:
            f"logs/<run>/simulate_{kind}/{{corpus}}.log",
        benchmark:
            f"logs/<run>/simulate_{kind}/{{corpus}}.tsv"
        wildcard_constraints:
            corpus=plan.corpora.simulated(kind),
        conda:
            "../../envs/statistics.yaml"
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 30 * attempt,
        params:
            version=plan.corpora.simulations[kind].version,
            options=plan.corpora.simulation_options(kind),
            seed=plan.config.seed,
            truth=lambda wildcards, output: Path(output.process).parent,
        shell:
            """
            # version {params.version}
            python -m macroscope --log {log:q} corpora simulate --options {params.options:q} --seed {params.seed} \
                --raw {output.raw:q} --truth {params.truth:q}
            """


rule retrieve:
    """Download a file of the registry: resumed, retried, verified."""
    output:
        "data/{source}/{version}/{file}",
    log:
        "logs/retrieve/{source}-{version}-{file}.log",
    # Other files below data/ are the user's: without constraints, --forceall would remove them as outputs of this rule.
    wildcard_constraints:
        source=plan.corpora.registered(),
        version="[^/]+",
        file="[^/]+",
    localrule: True
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 500 * attempt,
        runtime=lambda wildcards, attempt: 1440 * attempt,
    params:
        mirror=plan.corpora.mirror_flag,
    shell:
        """
        python -m macroscope --log {log:q} corpora retrieve --name {wildcards.source:q} --file {wildcards.file:q} \
            --output {output:q} --checksums data.sha256 {params.mirror}
        """


for source in plan.corpora.retrieving:

    rule:
        """Retrieve data that the registry does not have: resumed, retried."""
        name:
            f"fetch_{source}"
        output:
            directory(f"data/{source}/{{place}}"),
        log:
            f"logs/fetch_{source}/{{place}}.log",
        # At least one folder deeper than the files of the registry.
        wildcard_constraints:
            place="[^/]+/[^/]+/.+",
        localrule: True
        conda:
            "../../envs/statistics.yaml"
        resources:
            mem_mb=lambda wildcards, attempt: 2000 * attempt,
            runtime=lambda wildcards, attempt: 1440 * attempt,
        params:
            source=source,
        shell:
            """
            python -m macroscope --log {log:q} corpora fetch --source {params.source:q} --place {wildcards.place:q} \
                --output {output:q}
            """


rule extract_documents:
    """Read one raw file into documents with their sections; count what is dropped."""
    input:
        raw=plan.user_files.undated(plan.corpora.raw_part),
    output:
        "results/<run>/corpora/{corpus}/extracted/{part}.parquet",
    log:
        "logs/<run>/extract_documents/{corpus}/{part}.log",
    benchmark:
        "logs/<run>/extract_documents/{corpus}/{part}.tsv"
    conda:
        "../../envs/statistics.yaml"
    threads: plan.corpora.reading_threads
    resources:
        mem_mb=lambda wildcards, attempt: 3000 * attempt,
        runtime=lambda wildcards, attempt: 720 * attempt,
    params:
        version=plan.corpora.reading_version,
        contents=plan.user_files.contents(plan.corpora.raw_part),
        options=plan.corpora.extraction_options,
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} corpora extract --corpus {wildcards.corpus:q} \
            --options {params.options:q} --input {input.raw:q} --output {output:q} --threads {threads}
        """


rule prepare_documents:
    """Normalise section titles, filter, split; count what every filter drops."""
    input:
        parts=plan.corpora.parts,
    output:
        documents="results/<run>/corpora/{corpus}/documents.parquet",
        filters="results/<run>/corpora/{corpus}/filters.csv",
        summary="results/<run>/corpora/{corpus}/summary.csv",
        section_types="results/<run>/corpora/{corpus}/section_types.csv",
    log:
        "logs/<run>/prepare_documents/{corpus}.log",
    benchmark:
        "logs/<run>/prepare_documents/{corpus}.tsv"
    conda:
        "../../envs/statistics.yaml"
    resources:
        mem_mb=lambda wildcards, attempt: 4000 * attempt,
        runtime=lambda wildcards, attempt: 240 * attempt,
    params:
        version=PREPARATION_VERSION,
        options=plan.corpora.preparation_options,
    shell:
        """
        # version {params.version}
        python -m macroscope --log {log:q} corpora prepare --corpus {wildcards.corpus:q} \
            --options {params.options:q} --documents {output.documents:q} --filters {output.filters:q} \
            --summary {output.summary:q} --section-types {output.section_types:q} {input.parts:q}
        """
