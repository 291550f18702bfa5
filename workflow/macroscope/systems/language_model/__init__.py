"""Kind `language_model`: causal language models, fine-tuned, from scratch (deng2022 App. E), or as published."""

from macroscope.colours import BLUE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

_SAMPLING = (
    "base titles context decoding samples batch_size max_tokens max_words stride prompt_words prompt_tokens seed"
)

KIND = Kind(
    options="options:LanguageModelSystem",
    extras={"models": ""},
    label="language model",
    colour=BLUE,
    stages={
        "train_tokenizer": Stage(
            "training:train_tokenizer",
            inputs="documents weights?",
            options="base titles",
            model_option="base",
            minutes=120,
            folder=True,
        ),
        "finetune": Stage(
            "training:finetune",
            inputs="documents tokenizer weights? seed checkpoints threads processes",
            options="base titles context training",
            model_option="base",
            minutes=2880,
            folder=True,
        ),
        "copy_base": Stage(
            "model:copy_base",
            inputs="weights?",
            options="base titles context training",
            model_option="base",
            minutes=240,
            folder=True,
        ),
        "measure_perplexity": Stage(
            "log_probabilities:measure_perplexity",
            inputs="documents model split threads",
            options="base titles context training",
            model_option="base",
            minutes=240,
        ),
        "sample": Stage(
            "sampling:sample_shard",
            inputs="model prompts? system seed shard shards threads",
            options=_SAMPLING,
            model_option="base",
            minutes=1440,
        ),
        "gather_samples": Stage("sampling:merge_shards", inputs="shards_of_samples corpus"),
        "measure_log_probabilities": Stage(
            "log_probabilities:measure_log_probabilities",
            inputs="samples model prompts? threads",
            options=_SAMPLING,
            model_option="base",
            minutes=480,
        ),
    },
    names_setting=True,
)
