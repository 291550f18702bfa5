"""Downloads: raw files of the registry's sources, and of a hub, retrieved once for all runs to data/."""


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
