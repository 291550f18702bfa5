"""The clusters critic: documents -> embeddings -> clusters -> divergences from the control.

Inputs: samples of the systems.
Outputs: results/{run}/critics/clusters/{corpus}/{latents,inference,evidence,probing}/,
results/{run}/statistics/clusters/{corpus}/.
Steps: project (embed), with `clustering: shared` cluster all systems together, compare; for probing, embed whole corpora
and predict what is known of their texts.
"""


rule embed_texts:
    """An embedding of every text."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        code=modules_of("macroscope.critics.clusters.embeddings"),
    output:
        "results/{run}/critics/clusters/{corpus}/latents/{system}.parquet",
    log:
        "logs/{run}/embed_texts/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/embed_texts/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    threads: plan.encoder_threads("clusters")
    resources:
        mem_mb=plan.encoder_megabytes("clusters"),
        runtime=240,
        gpu=plan.encoder_gpus("clusters"),
    params:
        options=plan.critic_options("clusters", "encoder", "pooling", "max_tokens"),
    shell:
        """
        python -m macroscope --log {log:q} critics project --critic clusters --documents {input.samples:q} \
            --options {params.options:q} --output {output:q}
        """


rule share_clusters:
    """One clustering of the texts of all systems."""
    input:
        latents=plan.latents_of_all("clusters"),
        code=modules_of("macroscope.critics.clusters.shared"),
    output:
        directory("results/{run}/critics/clusters/{corpus}/inference"),
    log:
        "logs/{run}/share_clusters/{corpus}.log",
    conda:
        "../../../envs/core.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=240,
    params:
        options=plan.critic_options(
            "clusters",
            "normalise",
            "explained_variance",
            "clusters",
            "seeds",
            "restarts",
        ),
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} critics learn-shared --critic clusters --options {params.options:q} \
            --seed {params.seed} --output {output:q} {input.latents:q}
        """


rule compare_clusters:
    """Cluster a system's texts with the control's; divergences, with intervals and p-values."""
    input:
        reference="results/{run}/critics/clusters/{corpus}/latents/control.parquet",
        candidate="results/{run}/critics/clusters/{corpus}/latents/{system}.parquet",
        inference=plan.shared_inference("clusters"),
        code=modules_of("macroscope.critics.clusters.comparison_files"),
    output:
        statistics="results/{run}/statistics/clusters/{corpus}/{system}.csv",
        evidence=directory("results/{run}/critics/clusters/{corpus}/evidence/{system}"),
    log:
        "logs/{run}/compare_clusters/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/compare_clusters/{corpus}/{system}.tsv"
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=240,
    params:
        options=plan.critic_options(
            "clusters",
            "normalise",
            "explained_variance",
            "clusters",
            "seeds",
            "restarts",
            "smoothing",
            "scale",
            "weights",
            "cluster_counts",
            "neighbours",
            "most_vectors",
            "permutations",
            "convention",
        ),
        signature=plan.signature_of("clusters"),
        resampling=plan.resampling_flags(),
        inference=lambda wildcards, input: f"--inference {input.inference}"
        * bool(input.inference),
    shell:
        """
        python -m macroscope --log {log:q} critics compare --critic clusters --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --reference {input.reference:q} --candidate {input.candidate:q} \
            {params.inference} --options {params.options:q} --signature {params.signature:q} {params.resampling} \
            --statistics {output.statistics:q} --evidence {output.evidence:q}
        """


rule embed_corpus:
    """An embedding of every document of a corpus, with its label and its shares of stop words and symbols."""
    input:
        documents=plan.embedded_documents,
        code=modules_of("macroscope.critics.clusters.probing"),
    output:
        "results/{run}/critics/clusters/{corpus}/probing/{encoder}.{side}.parquet",
    log:
        "logs/{run}/embed_corpus/{corpus}/{encoder}-{side}.log",
    benchmark:
        "logs/{run}/embed_corpus/{corpus}/{encoder}-{side}.tsv"
    conda:
        "../../../envs/core.yaml"
    threads: plan.probe_threads
    resources:
        mem_mb=plan.probe_megabytes,
        runtime=480,
        gpu=plan.probe_gpus,
    params:
        options=plan.embedding_options,
    shell:
        """
        python -m macroscope --log {log:q} critics embed-corpus --documents {input.documents:q} \
            --options {params.options:q} --output {output:q}
        """


rule probe_clusters:
    """What the clusters of a corpus know of its labels, stop words and symbols."""
    input:
        unpack(plan.embedded_corpora),
        code=modules_of("macroscope.critics.clusters.probing"),
    output:
        "results/{run}/critics/clusters/{corpus}/probing/{encoder}.csv",
    log:
        "logs/{run}/probe_clusters/{corpus}/{encoder}.log",
    benchmark:
        "logs/{run}/probe_clusters/{corpus}/{encoder}.tsv"
    conda:
        "../../../envs/core.yaml"
    threads: 2
    resources:
        mem_mb=8000,
        runtime=480,
    params:
        probing=plan.probing_options,
        options=plan.critic_options(
            "clusters",
            "normalise",
            "explained_variance",
            "seeds",
            "restarts",
        ),
        signature=plan.probing_signature,
        resampling=plan.resampling_flags(permutations=False),
        reference=lambda wildcards, input: (
            f"--reference {input.reference}" if "reference" in input.keys() else ""
        ),
    shell:
        """
        python -m macroscope --log {log:q} critics probe --embeddings {input.embeddings:q} {params.reference} \
            --probing {params.probing:q} --options {params.options:q} --signature {params.signature:q} {params.resampling} \
            --output {output:q}
        """
