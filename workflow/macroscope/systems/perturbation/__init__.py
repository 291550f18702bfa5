"""Kind `perturbation`: known defects put into the samples of another system (pimentel2022 §6.2)."""

from macroscope.colours import GREY
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:PerturbationSystem",
    label="known defect",
    colour=GREY,
    stages={
        "generate": Stage(
            "generation:perturb_samples",
            inputs="other_samples corpus system language seed",
            options="of perturb seed",
            megabytes=4000,
        ),
    },
    check=True,
)
