"""Kind `language_model`: causal language models, fine-tuned, from scratch (deng2022 App. E), or as published."""

from macroscope.colours import BLUE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

_SAMPLING = "base titles context decoding samples batch_size max_tokens stride prompt_words seed"

KIND = Kind(
    options="options:LanguageModelSystem",
    label="language model",
    colour=BLUE,
    stages={
        "train_tokenizer": Stage(
            "tokenizer:train_tokenizer", reads="documents", uses="base titles", needs="base", minutes=120, folder=True
        ),
        "finetune": Stage(
            "training:finetune",
            reads="documents tokenizer seed checkpoints threads processes",
            uses="base titles context training",
            needs="base",
            minutes=2880,
            folder=True,
        ),
        "copy_base": Stage(
            "model:copy_base", uses="base titles context training", needs="base", minutes=240, folder=True
        ),
        "measure_perplexity": Stage(
            "perplexity:measure_perplexity",
            reads="documents model split threads",
            uses="base titles context training",
            needs="base",
            minutes=240,
        ),
        "sample": Stage(
            "sampling:sample_shard",
            reads="model prompts? system seed shard shards threads",
            uses=_SAMPLING,
            needs="base",
            minutes=1440,
        ),
        "gather_samples": Stage("gathering:gather", reads="shards_of_samples corpus"),
        "measure_log_probabilities": Stage(
            "log_probabilities:measure_log_probabilities",
            reads="samples model prompts? threads",
            uses=_SAMPLING,
            needs="base",
            minutes=480,
        ),
    },
    names_setting=True,
)
