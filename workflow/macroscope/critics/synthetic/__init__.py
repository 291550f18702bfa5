"""The synthetic critic: state transitions of texts, compared with those of the known process (deng2022 §3).

Latents: the state of each sub-sequence. Projection: an exact look-up in the table of the process. Prior: the process's
own transition matrix. Projection and prior have no errors, so every difference is due to the system.
"""

from macroscope.critics.declaration import AttributionScore, Critic, Reading
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:SyntheticOptions",
    # No options `criticize`: the process of a user's own texts is unknown.
    known_processes=("hsmm",),
    unmatched="its strings have a fixed number of sub-sequences, and no sentences after which they could be cut",
    latents="latents:LATENTS",
    observes="the order of sub-sequences",
    statistics=("macroscope.statistics.latent:STATISTICS", "macroscope.statistics.categorical:STATISTICS"),
    quantities={
        "invalid_subsequence": "sub-sequences that the process cannot generate",
        "other_length": "strings with another number of sub-sequences",
        "unfinished": "strings with tokens after the last delimiter",
        "unknown_symbol": "symbols that the process never generates",
        "valid": "strings that the process can generate",
    },
    readings={
        "invalid_subsequence_share": Reading(
            "have more sub-sequences that the process cannot generate",
            "have fewer sub-sequences that the process cannot generate",
            "above",
            "%",
        ),
        "valid_share": Reading(
            "are more often strings that the process can generate",
            "are less often strings that the process can generate",
            "below",
            "%",
        ),
    },
    attribution=AttributionScore(
        "latent NLL", "nats per sub-sequence", "sub-sequences that are invalid, or rarely follow the previous one"
    ),
    stages={
        "fit_prior": Stage("scoring:measure_truth", inputs="documents process resampling", folder=True),
        "project": Stage("latents:project", inputs="texts process signature"),
        "score": Stage("scoring:score", inputs="latents process", options="invalid_probability"),
        "known_truth": Stage("scoring:write_known_truth", inputs="process order", options="invalid_probability"),
        "explain": Stage("explanation:explain", inputs="texts latents process", folder=True),
        "attribute": Stage("scoring:attribute", inputs="texts latents scores process", options="invalid_probability"),
        "overview": Stage("figures:plot", inputs="prior", options="series"),
        "report": Stage("report:items", inputs="prior all_evidence", options="series"),
    },
)
