"""Documents -> samples.

Inputs: results/{run}/corpora/{corpus}/documents.parquet.
Outputs: results/{run}/systems/{corpus}/{system}/samples.parquet, for language models also model/ and perplexity/, and
where it is asked for log_probabilities.parquet.
Steps of a language model: tokenizer and fine-tuning, or the base as it is; perplexity, sampling in shards, gathering.
"""


rule train_tokenizer:
    """The base model's tokenizer, or for a model from scratch a byte-level BPE of the training text."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        code=modules_of("macroscope.systems.tokenizer"),
    output:
        directory("results/{run}/systems/{corpus}/{system}/tokenizer"),
    log:
        "logs/{run}/train_tokenizer/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.trained_models,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=plan.megabytes,
        runtime=120,
    params:
        base=plan.base,
        titles=plan.titles_flag,
    shell:
        """
        python -m macroscope --log {log:q} systems train-tokenizer --documents {input.documents:q} \
            --base {params.base:q} {params.titles} --output {output:q}
        """


rule finetune:
    """Fine-tune the base model, or train it from scratch; a killed run goes on from its last checkpoint."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        tokenizer="results/{run}/systems/{corpus}/{system}/tokenizer",
        code=modules_of("macroscope.systems.language_model"),
    output:
        directory("results/{run}/systems/{corpus}/{system}/model"),
    log:
        "logs/{run}/finetune/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/finetune/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=plan.trained_models,
    # The longest way through the graph begins here.
    priority: 10
    conda:
        "../../envs/core.yaml"
    threads: plan.threads
    resources:
        mem_mb=plan.megabytes,
        runtime=2880,
        gpu=plan.gpus,
    params:
        options=plan.training_options,
        seed=plan.config.seed,
        checkpoints="results/{run}/systems/{corpus}/{system}/checkpoints",
    shell:
        """
        python -m macroscope --log {log:q} systems finetune --documents {input.documents:q} \
            --tokenizer {input.tokenizer:q} --options {params.options:q} --seed {params.seed} \
            --checkpoints {params.checkpoints:q} --output {output:q} --threads {threads} \
            --processes {resources.gpu}
        """


rule copy_base:
    """The base model with its tokenizer as it was published: a language model with `training: null`."""
    input:
        code=modules_of("macroscope.systems.language_model"),
    output:
        directory("results/{run}/systems/{corpus}/{system}/model"),
    log:
        "logs/{run}/copy_base/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.base_models,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=plan.megabytes,
        runtime=240,
    params:
        options=plan.training_options,
    shell:
        """
        python -m macroscope --log {log:q} systems copy-base --options {params.options:q} --output {output:q}
        """


rule measure_perplexity:
    """Negative log-likelihood, tokens and words of every document of a held-out split."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        model="results/{run}/systems/{corpus}/{system}/model",
        code=modules_of("macroscope.systems.perplexity"),
    output:
        "results/{run}/systems/{corpus}/{system}/perplexity/{split}.parquet",
    log:
        "logs/{run}/measure_perplexity/{corpus}/{system}-{split}.log",
    benchmark:
        "logs/{run}/measure_perplexity/{corpus}/{system}-{split}.tsv"
    wildcard_constraints:
        system=plan.language_models,
    conda:
        "../../envs/core.yaml"
    threads: plan.threads
    resources:
        mem_mb=plan.megabytes,
        runtime=240,
        gpu=plan.gpus,
    params:
        options=plan.perplexity_options,
    shell:
        """
        python -m macroscope --log {log:q} systems measure-perplexity --documents {input.documents:q} \
            --model {input.model:q} --options {params.options:q} --split {wildcards.split} --output {output:q} \
            --threads {threads}
        """


rule sample:
    """One shard of samples; every sample has a seed of its own, so the number of shards does not change them."""
    input:
        model=plan.model,
        prompts=plan.prompts,
        code=modules_of("macroscope.systems.sampling"),
    output:
        "results/{run}/systems/{corpus}/{system}/shards/{shard}.parquet",
    log:
        "logs/{run}/sample/{corpus}/{system}-{shard}.log",
    benchmark:
        "logs/{run}/sample/{corpus}/{system}-{shard}.tsv"
    wildcard_constraints:
        system=plan.sampled_systems,
    conda:
        "../../envs/core.yaml"
    threads: plan.threads
    resources:
        mem_mb=plan.megabytes,
        runtime=1440,
        gpu=plan.gpus,
    params:
        options=plan.sampling_options,
        prompts=plan.prompts_flag,
        shards=plan.shard_count,
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} systems sample --model {input.model:q} --options {params.options:q} \
            --seed {params.seed} --shard {wildcards.shard} --shards {params.shards} \
            --system {wildcards.system:q} --output {output:q} --threads {threads} {params.prompts}
        """


rule gather_samples:
    """The shards as one collection, in the order of the samples' numbers."""
    input:
        shards=plan.shards,
        code=modules_of("macroscope.systems.gathering"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/gather_samples/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.sampled_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    shell:
        """
        python -m macroscope --log {log:q} systems gather --corpus {wildcards.corpus:q} --output {output:q} \
            {input.shards:q}
        """


rule measure_log_probabilities:
    """Log-probability of every sample under the model that it was drawn from; only where something asks for it."""
    input:
        samples="results/{run}/systems/{corpus}/{system}/samples.parquet",
        model=plan.model,
        prompts=plan.prompts,
        code=modules_of("macroscope.systems.log_probabilities"),
    output:
        "results/{run}/systems/{corpus}/{system}/log_probabilities.parquet",
    log:
        "logs/{run}/measure_log_probabilities/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/measure_log_probabilities/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=plan.ancestral_systems,
    conda:
        "../../envs/core.yaml"
    threads: plan.threads
    resources:
        mem_mb=plan.megabytes,
        runtime=480,
        gpu=plan.gpus,
    params:
        options=plan.sampling_options,
        prompts=plan.prompts_flag,
    shell:
        """
        python -m macroscope --log {log:q} systems measure-log-probabilities --samples {input.samples:q} \
            --model {input.model:q} --options {params.options:q} --output {output:q} --threads {threads} \
            {params.prompts}
        """


rule sample_ngrams:
    """Count the n-grams of the train split; draw samples from their model."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        code=modules_of("macroscope.systems.ngram.system"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/sample_ngrams/{corpus}/{system}.log",
    benchmark:
        "logs/{run}/sample_ngrams/{corpus}/{system}.tsv"
    wildcard_constraints:
        system=plan.ngram_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=8000,
        runtime=480,
    params:
        options=plan.system_options,
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} systems ngram --documents {input.documents:q} \
            --options {params.options:q} --seed {params.seed} --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --output {output:q}
        """


rule import_texts:
    """Texts of the user's own model, or of a published one."""
    input:
        files=plan.user_files,
        code=modules_of("macroscope.systems.files"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/import_texts/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.files_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        options=plan.system_options,
    shell:
        """
        python -m macroscope --log {log:q} systems import --options {params.options:q} \
            --corpus {wildcards.corpus:q} --system {wildcards.system:q} --output {output:q} {input.files:q}
        """


rule draw_control:
    """Held-out real documents: the floor that a perfect model would reach."""
    input:
        documents="results/{run}/corpora/{corpus}/documents.parquet",
        code=modules_of("macroscope.systems.control"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/draw_control/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.control_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        options=plan.system_options,
    shell:
        """
        python -m macroscope --log {log:q} systems control --documents {input.documents:q} \
            --options {params.options:q} --corpus {wildcards.corpus:q} --output {output:q}
        """


rule simulate_samples:
    """Samples of a simulated corpus's own process, or of a defect of it: known truth for the critics."""
    input:
        process="results/{run}/corpora/{corpus}/truth/process.json",
        code=modules_of("macroscope.systems.simulated"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/simulate_samples/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.simulated_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        kind=plan.simulated_kind,
        options=plan.system_options,
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} systems simulate --truth {input.process:q} --kind {params.kind} \
            --options {params.options:q} --seed {params.seed} --corpus {wildcards.corpus:q} \
            --system {wildcards.system:q} --output {output:q}
        """


rule perturb_samples:
    """Samples of another system with known defects: what a critic should tell from it."""
    input:
        samples=plan.perturbed_samples,
        stop_words=plan.stop_words,
        code=modules_of("macroscope.systems.perturbations.system"),
    output:
        "results/{run}/systems/{corpus}/{system}/samples.parquet",
    log:
        "logs/{run}/perturb_samples/{corpus}/{system}.log",
    wildcard_constraints:
        system=plan.perturbation_systems,
    conda:
        "../../envs/core.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        options=plan.system_options,
        language=plan.language,
        seed=plan.config.seed,
    shell:
        """
        python -m macroscope --log {log:q} systems perturb --samples {input.samples:q} \
            --options {params.options:q} --language {params.language:q} --seed {params.seed} \
            --corpus {wildcards.corpus:q} --system {wildcards.system:q} --output {output:q}
        """
