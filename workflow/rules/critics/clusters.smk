"""Probing: whole corpora -> embeddings -> what the clusters know of their texts.

Inputs: documents of the probed corpora, and of those that clusters are learnt on.
Outputs: results/<run>/critics/clusters/{corpus}/probing/.
"""

probing = plan.critics.own["clusters"]


rule embed_corpus:
    """An embedding of every document of a corpus, with its label and its shares of stop words and symbols."""
    input:
        documents=probing.documents,
    output:
        "results/<run>/critics/clusters/{corpus}/probing/{encoder}.{side}.parquet",
    log:
        "logs/<run>/embed_corpus/{corpus}/{encoder}-{side}.log",
    benchmark:
        "logs/<run>/embed_corpus/{corpus}/{encoder}-{side}.tsv"
    wildcard_constraints:
        encoder=r"[A-Za-z0-9_-]+",
        side="own|reference",
    conda:
        "../../../envs/core.yaml"
    threads: probing.threads
    resources:
        mem_mb=probing.megabytes,
        runtime=480,
        gpu=probing.gpus,
    params:
        code=plan.code(
            "embed_corpus",
            plan.critics.module("clusters", "embed_corpus"),
            plan.critics.stage("clusters", "embed_corpus").resource_files,
        ),
        options=probing.embedding_options,
    shell:
        """
        python -m macroscope --log {log:q} {params.code} critics run --critic clusters --stage embed_corpus \
            --input documents={input.documents:q} --value encoder={wildcards.encoder} --options {params.options:q} \
            --output {output:q}
        """


rule probe_clusters:
    """What the clusters of a corpus know of its labels, stop words and symbols."""
    input:
        unpack(probing.embeddings),
    output:
        "results/<run>/critics/clusters/{corpus}/probing/{encoder}.csv",
    log:
        "logs/<run>/probe_clusters/{corpus}/{encoder}.log",
    benchmark:
        "logs/<run>/probe_clusters/{corpus}/{encoder}.tsv"
    wildcard_constraints:
        encoder=r"[A-Za-z0-9_-]+",
    conda:
        "../../../envs/core.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=480,
    params:
        code=plan.code("probe_clusters", plan.critics.module("clusters", "probe")),
        inputs=input_flags(plan.critics.stage("clusters", "probe")),
        values=probing.value_flags,
        options=probing.probing_options,
    shell:
        """
        python -m macroscope --log {log:q} {params.code} critics run --critic clusters --stage probe {params.inputs:q} \
            {params.values:q} --options {params.options:q} --output {output:q}
        """
