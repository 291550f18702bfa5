"""Other people's metrics as critics: rows of a sensitivity matrix beside the critics of macroscope.

Each constant is a critic, with an entry point in `pyproject.toml`; each runs only if its name is given. A metric of
single texts writes its numbers as latents. A metric of collections writes embeddings as latents, and declares the
statistic that is tested.
"""

from typing import Any

from macroscope.critics.declaration import Critic
from macroscope.stages import Stage


def of_texts(
    module: str, observes: str, inputs: str = "texts signature", options_class: str = "", **project: Any
) -> Critic:
    """Return the critic of a module whose `project` writes numbers of single texts."""
    return Critic(
        options=options_class or f"{module}:PeerOptions",
        latents=f"{module}:LATENTS",
        observes=observes,
        statistics=("macroscope.critics.numeric_latents:STATISTICS",),
        stages={
            "project": Stage(f"{module}:project", inputs=inputs, **project),
            "compare": Stage(
                "macroscope.critics.numeric_latents:compare_numbers", inputs="control_latents latents resampling"
            ),
        },
    )


def of_collections(module: str, observes: str) -> Critic:
    """Return the critic of a module whose `STATISTIC` compares the embeddings of two collections."""
    return Critic(
        options="options:EmbeddingPeerOptions",
        extras={"models": ""},
        latents="macroscope.critics.clusters.latents:LATENTS",
        features="macroscope.critics.clusters.latents:features",
        collection_statistics=(f"{module}:statistic",),
        sentences="macroscope.critics.clusters.options:read_sentences",
        observes=observes,
        statistics=(f"{module}:STATISTICS",),
        stages={
            "project": Stage(
                "macroscope.critics.clusters.projection:project",
                inputs="texts sentence_vectors? language signature",
                options="encoder pooling max_tokens precision",
                model_option="encoder",
            ),
            "compare": Stage(f"{module}:compare", inputs="control_latents latents resampling", options="permutations"),
        },
    )


LENGTH = of_texts("length", "number of words")
COMPRESSION = of_texts("compression", "how well texts compress")
DISTINCT = of_texts("distinct", "different n-grams of a text", options="longest")
SELF_REPETITION = of_texts("self_repetition", "n-grams that several texts share", options="words")
TEMPLATES = of_texts(
    "templates",
    "templates that several texts share",
    "texts language signature",
    options="words",
)
PERPLEXITY = of_texts(
    "perplexity",
    "perplexity under a language model",
    options_class="options:PerplexityOptions",
    options="model max_tokens",
    model_option="model",
    minutes=240,
)
ENERGY = of_collections("energy", "energy distance of embeddings")
MMD = of_collections("mmd", "mean discrepancy of embeddings")
MAUVE = of_collections("mauve", "MAUVE of embeddings")
