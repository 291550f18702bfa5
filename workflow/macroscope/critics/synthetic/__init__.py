"""The synthetic critic: do texts follow the transitions of the process that they were learnt from? (deng2022 §3).

Latents: the state of each sub-sequence. Projection: a look into the table of the process, which is exact. Prior: the
process's own transition matrix. So there is nothing that a critic could get wrong, and what it finds is the system's.
"""

from macroscope.critics.declaration import AttributionScore, Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:SyntheticOptions",
    # Not asked without being told to: nobody knows the process of a user's own texts.
    known_processes=("hsmm",),
    latents="id opening states tail unknown_symbols tokens",
    observes="the order of sub-sequences",
    statistics=("macroscope.statistics.latent:STATISTICS", "macroscope.statistics.categorical:STATISTICS"),
    quantities={
        "invalid_subsequence": "sub-sequences that the process cannot write",
        "other_length": "sub-sequences of another length",
        "unfinished": "strings that do not end",
        "unknown_symbol": "symbols that the process does not have",
        "valid": "strings that the process can write",
    },
    attribution=AttributionScore(
        "latent NLL", "nats a sub-sequence", "sub-sequences that the process would hardly write there"
    ),
    stages={
        "fit_prior": Stage("truth:measure_truth", inputs="documents process resampling", folder=True),
        "project": Stage("projection:project", inputs="texts process signature"),
        "score": Stage("scoring:score", inputs="latents process", options="invalid_probability"),
        "known_truth": Stage("known_truth:write_known_truth", inputs="process order", options="invalid_probability"),
        "explain": Stage("explanation:explain", inputs="texts latents process", folder=True),
        "attribute": Stage(
            "attribution:attribute", inputs="texts latents scores process", options="invalid_probability"
        ),
        "overview": Stage("figures:plot", inputs="prior", options="series"),
        "report": Stage("report:items", inputs="prior all_evidence", options="series"),
    },
)
