"""The questions critic: how often a text asks.

Latents: the share of every text's sentences that end in a question mark. No prior: collections are compared.
"""

from macroscope.critics.declaration import Critic
from macroscope.stages import Stage

CRITIC = Critic(
    options="options:QuestionsOptions",
    latents="questions:LATENTS",
    observes="how often questions are asked",
    criticize={},
    statistics=("macroscope.critics.numeric_latents:STATISTICS",),
    stages={
        "project": Stage("questions:project", inputs="texts signature", options="marks"),
        "compare": Stage(
            "macroscope.critics.numeric_latents:compare_numbers", inputs="control_latents latents resampling"
        ),
        "report": Stage("questions:items"),
    },
)
