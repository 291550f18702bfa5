"""The questions critic: how often a text asks.

Latents: the share of every text's sentences that end in a question mark. No prior: collections are compared.
"""

from macroscope.critics.declaration import Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:QuestionsOptions",
    latents="id opening questions",
    looks_at="how often questions are asked",
    criticize={},
    statistics=("macroscope.critics.numbers:STATISTICS",),
    stages={
        "project": Stage("questions:project", reads="texts", uses="marks"),
        "compare": Stage("macroscope.critics.numbers:compare_numbers", reads="control_latents latents resampling"),
        "report": Stage("questions:items"),
    },
)
