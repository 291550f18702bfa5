"""Documents -> models -> samples: systems of kind language_model, and those that sample the same models.

Outputs: results/<run>/systems/{corpus}/{system}/{tokenizer,model,perplexity,shards}/ and samples.parquet; where it is asked
for, log_probabilities.parquet.
Steps: tokenizer and fine-tuning, or the base as it is; perplexity, sampling in shards, gathering.
"""

lm = plan.systems.language_models


rule train_tokenizer:
    """The base model's tokenizer, or for a model from scratch a byte-level BPE of the training text."""
    input:
        documents="results/<run>/corpora/{corpus}/documents.parquet",
    output:
        directory("results/<run>/systems/{corpus}/{system}/tokenizer"),
    log:
        "logs/<run>/train_tokenizer/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/train_tokenizer/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=lm.trained,
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("train_tokenizer").minutes,
    params:
        code=plan.code("train_tokenizer", lm.module("train_tokenizer")),
        options=lm.options("train_tokenizer"),
        values=plan.systems.values("language_model", "train_tokenizer"),
        inputs=input_flags(lm.stage("train_tokenizer")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage train_tokenizer \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule finetune:
    """Fine-tune the base model, or train it from scratch; a killed run goes on from its last checkpoint."""
    input:
        documents="results/<run>/corpora/{corpus}/documents.parquet",
        tokenizer="results/<run>/systems/{corpus}/{system}/tokenizer",
    output:
        directory("results/<run>/systems/{corpus}/{system}/model"),
    log:
        "logs/<run>/finetune/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/finetune/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=lm.trained,
    # What takes long begins first: much waits for it.
    priority: 10
    conda:
        "../../../envs/core.yaml"
    threads: lm.threads
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("finetune").minutes,
        gpu=lm.gpus,
    params:
        code=plan.code("finetune", lm.module("finetune")),
        options=lm.options("finetune"),
        values=plan.systems.values("language_model", "finetune"),
        inputs=input_flags(lm.stage("finetune")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage finetune \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule copy_base:
    """The base model with its tokenizer as it was published: a language model with `training: null`."""
    output:
        directory("results/<run>/systems/{corpus}/{system}/model"),
    log:
        "logs/<run>/copy_base/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/copy_base/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=lm.published,
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("copy_base").minutes,
    params:
        code=plan.code("copy_base", lm.module("copy_base")),
        options=lm.options("copy_base"),
        values=plan.systems.values("language_model", "copy_base"),
        inputs=input_flags(lm.stage("copy_base")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage copy_base \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule measure_perplexity:
    """Negative log-likelihood, tokens and words of every document of a held-out split."""
    input:
        documents="results/<run>/corpora/{corpus}/documents.parquet",
        model="results/<run>/systems/{corpus}/{system}/model",
    output:
        "results/<run>/systems/{corpus}/{system}/perplexity/{split}.parquet",
    log:
        "logs/<run>/measure_perplexity/{corpus}/{system}-{split}.log",
    benchmark:
        "logs/<run>/measure_perplexity/{corpus}/{system}-{split}.tsv"
    wildcard_constraints:
        system=lm.models,
    conda:
        "../../../envs/core.yaml"
    threads: lm.threads
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("measure_perplexity").minutes,
        gpu=lm.gpus,
    params:
        code=plan.code("measure_perplexity", lm.module("measure_perplexity")),
        options=lm.options("measure_perplexity"),
        values=plan.systems.values("language_model", "measure_perplexity"),
        inputs=input_flags(lm.stage("measure_perplexity")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage measure_perplexity \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule sample:
    """One shard of samples; every sample has a seed of its own, so the number of shards does not change them."""
    input:
        model=lm.model,
        prompts=lm.prompts,
    output:
        "results/<run>/systems/{corpus}/{system}/shards/{shard}.parquet",
    log:
        "logs/<run>/sample/{corpus}/{system}-{shard}.log",
    benchmark:
        "logs/<run>/sample/{corpus}/{system}-{shard}.tsv"
    wildcard_constraints:
        system=lm.sampled,
    conda:
        "../../../envs/core.yaml"
    threads: lm.threads
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("sample").minutes,
        gpu=lm.gpus,
    params:
        code=plan.code("sample", lm.module("sample")),
        options=lm.options("sample"),
        values=plan.systems.values("language_model", "sample"),
        inputs=input_flags(lm.stage("sample")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage sample \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule gather_samples:
    """The shards as one collection, in the order of the samples' numbers."""
    input:
        shards_of_samples=lm.shards,
    output:
        "results/<run>/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/<run>/gather_samples/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/gather_samples/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=lm.sampled,
    conda:
        "../../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=lm.stage("gather_samples").minutes,
    params:
        code=plan.code("gather_samples", lm.module("gather_samples")),
        options=lm.options("gather_samples"),
        values=plan.systems.values("language_model", "gather_samples"),
        inputs=input_flags(lm.stage("gather_samples")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage gather_samples \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """


rule measure_log_probabilities:
    """Log-probability of every sample under the model that it was drawn from; only where something asks for it."""
    input:
        samples="results/<run>/systems/{corpus}/{system}/samples.parquet",
        model=lm.model,
        prompts=lm.prompts,
    output:
        "results/<run>/systems/{corpus}/{system}/log_probabilities.parquet",
    log:
        "logs/<run>/measure_log_probabilities/{corpus}/{system}.log",
    benchmark:
        "logs/<run>/measure_log_probabilities/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=lm.ancestral,
    conda:
        "../../../envs/core.yaml"
    threads: lm.threads
    resources:
        mem_mb=lm.megabytes,
        runtime=lm.stage("measure_log_probabilities").minutes,
        gpu=lm.gpus,
    params:
        code=plan.code(
            "measure_log_probabilities", lm.module("measure_log_probabilities")
        ),
        options=lm.options("measure_log_probabilities"),
        values=plan.systems.values("language_model", "measure_log_probabilities"),
        inputs=input_flags(lm.stage("measure_log_probabilities")),
    shell:
        """
        python -m macroscope --log {log:q} {params.code} systems run --kind language_model --stage measure_log_probabilities \
            --options {params.options:q} {params.inputs:q} {params.values:q} --output {output:q}
        """
