"""The synthetic critic: do texts follow the transitions of the process that they were learnt from? (deng2022 §3).

Latents: the state of each sub-sequence. Projection: a look into the table of the process, which is exact. Prior: the
process's own transition matrix. So there is nothing that a critic could get wrong, and what it finds is the system's.
"""

from macroscope.critics.declaration import Blame, Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:SyntheticOptions",
    # Not asked without being told to: nobody knows the process of a user's own texts.
    theory_of=("hsmm",),
    latents="id opening states tail unknown_symbols tokens",
    looks_at="the order of sub-sequences",
    statistics=("macroscope.statistics.latent:STATISTICS", "macroscope.statistics.categorical:STATISTICS"),
    quantities={
        "invalid_subsequence": "sub-sequences that the process cannot write",
        "other_length": "sub-sequences of another length",
        "unfinished": "strings that do not end",
        "unknown_symbol": "symbols that the process does not have",
        "valid": "strings that the process can write",
    },
    blames=Blame("latent NLL", "nats a sub-sequence", "sub-sequences that the process would hardly write there"),
    stages={
        "fit_prior": Stage("truth:measure_truth", reads="documents process resampling", folder=True),
        "project": Stage("projection:project", reads="texts process signature"),
        "score": Stage("scoring:score", reads="latents process", uses="invalid_probability"),
        "theory": Stage("theory:write_theory", reads="process order", uses="invalid_probability"),
        "explain": Stage("explanation:explain", reads="texts latents process", folder=True),
        "blame": Stage("blame:blame", reads="texts latents scores process", uses="invalid_probability"),
        "overview": Stage("figures:draw", reads="prior", uses="series"),
        "report": Stage("report:items", reads="prior all_evidence", uses="series"),
    },
)
