"""Plans of critics to test: a config with every kind of system, and every option with another value."""

from types import SimpleNamespace

from macroscope.config.schema import parse_config
from macroscope.critics import critics
from macroscope.critics.declaration import STAGES
from macroscope.plan import Plan

OTHER = {
    "coherence": {
        "encoder": "bert-base-cased", "max_tokens": 77, "epochs": 2.0, "batch_size": 5, "learning_rate": 0.1,
        "max_train_sections": 9, "calibrate": False, "precision": "bfloat16", "prior": "additive",
        "smoothing": [0.3], "convention": "published",
        "error_threshold": 0.2,
    },
    "tendencies": {
        "unit": "line", "language": "fr", "ranks": 7, "min_texts_per_length": 3, "length_bins_per_decade": None,
        "simulations": 33, "convention": "published", "count_permutations": 111,
    },
    "clusters": {
        "encoder": "gpt2-xl", "pooling": "last", "max_tokens": 77, "normalise": False, "explained_variance": 0.5,
        "number_of_clusters": 4, "seeds": 2, "restarts": 3, "clustering": "shared", "smoothing": 0.5, "scale": 2.0,
        "weights": 7, "cluster_counts": [3], "precision": "bfloat16", "neighbours": 2, "most_vectors": 99,
        "permutations": 111, "convention": "published",
    },
    "topics": {
        "topics": 7, "convention": "published", "stop_words": "smart", "most_documents": 0.4, "least_frequency": 2,
        "pinned": False,
        "covariance_prior": 0.1, "smoothing": 0.5, "iterations": 9, "tolerance": 0.1, "initialisation": "documents",
        "restarts": 2, "neighbours": 2, "most_vectors": 99, "permutations": 111,
    },
    "coreference": {
        "resolver": "files", "ranker": "sieve", "model": "mine", "mentions": "m/{system}.parquet",
        "domain": {"pattern": ".*film"}, "single": "all", "order": 3, "convention": "published", "unlikely": 5.0,
        "least_count": 2,
    },
    "languages": {
        "languages": 2, "least_frequency": 2, "beta": 0.1, "iterations": 200, "sweeps": 7, "mixed_below": 0.8,
        "neighbours": 2, "most_vectors": 99, "permutations": 111,
    },
    "narrative": {
        "tasks": ["missing"], "encoder": "gpt2-xl", "pooling": "first", "max_tokens": 77, "precision": "bfloat16",
        "sentences": 9, "damaged": 2,
        "intact": 0.1, "draws": 2, "replacements": "corpus", "candidates": 7, "similarity": 0.5,
        "similarity_encoder": "minilm", "similarity_layer": 3, "rescale": False,
        "detector": {"level": "sentence", "autoencoder": "dae", "pretrained": True},
        "pretraining": {"corpus": "web"}, "autoencoders": {"dae": {"train_encoder": True}},
        "false_positive_rate": 0.1,
    },
    "synthetic": {"invalid_probability": 0.2, "series": {"wider": ["mine"]}},
    "strings": {
        "estimator": "lstm", "shared_vocabulary": False, "order": 2, "folds": 3, "most_texts": 500, "scale": 2.0,
        "weights": 7,
        "permutations": 111, "lstm": {"layers": 1, "epochs": 2.0}, "convention": "published",
    },
}  # fmt: skip
"""Every option that changes a number of the critics, with another value than its default."""
ENCODERS = {"small": {"encoder": "minilm"}, "large": {"encoder": "gpt2-xl"}}
PROBING = {"corpus": "web", "reference": "wiki", "encoders": ENCODERS}
FOLDER = "results/default/critics"


def plan_of(comparisons=None, **keys):
    """A plan for a simulated corpus with two systems; `web` and `german` are files."""
    corpora = {
        "wiki": {"source": "simulated"},
        "web": {"source": "files", "files": ["x"]},
        "german": {"source": "files", "files": ["x"], "language": "de"},
    }
    systems = {
        "mine": {"kind": "files", "files": ["y"]},
        "shuffled": {"kind": "simulated", "order": "shuffled"},
        "lm": {"kind": "language_model", "base": "tiny-gpt2", "titles": True},
        "beam": {"kind": "resampled", "of": "lm", "decoding": {"rule": "beam_sampling", "beams": 2}},
    }
    compared = comparisons or [{"corpus": "wiki", "critics": ["coherence"]}]
    return Plan(parse_config({"corpora": corpora, "systems": systems, "comparisons": compared, **keys}))


def plan_systems(**systems):
    """A plan of systems for a simulated corpus."""
    corpora, comparisons = {"wiki": {"source": "simulated"}}, [{"corpus": "wiki", "critics": ["coherence"]}]
    return Plan(parse_config({"corpora": corpora, "systems": systems, "comparisons": comparisons}))


def names(**wildcards):
    return SimpleNamespace(**wildcards)


def wildcards_of(system):
    return names(corpus="wiki", system=system)


def find_job(plan, name):
    """Return the job of a rule's name."""
    [job] = [job for job in plan.jobs() if job.name == name]
    return job


def values_of(job, **wildcards):
    """Return the values that a job is given, by name."""
    words = job.values(names(**wildcards))
    assert set(words[::2]) <= {"--value"}
    return dict(word.split("=", 1) for word in words[1::2])


def declared_stages(plan):
    """Return (critic, stage, job) of every standard stage of every built-in critic."""
    by_name = {job.name: job for job in plan.critics.jobs()}
    stages = [
        (name, stage, by_name.get(f"{stage}_{name}"))
        for name, critic in critics().items()
        for stage in critic.data.stages
        if stage in STAGES
    ]
    return [(name, stage, job) for name, stage, job in stages if job is not None]
