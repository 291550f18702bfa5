"""Kind `perturbation`: known defects put into the samples of another system (pimentel2022 §6.2)."""

from typing import Literal

from pydantic import Field

from macroscope.colours import GREY
from macroscope.options import CONTROL, ConfigView, require_name
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions
from macroscope.systems.perturbation.steps import Step

KIND = Kind(
    options=":PerturbationSystem",
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


class PerturbationSystem(SystemOptions):
    """Samples of another system with known defects, to test whether a critic detects them."""

    kind: Literal["perturbation"]
    of: str = Field(CONTROL, description="Name of the system whose samples are perturbed; not itself a perturbation.")
    perturb: list[Step] = Field(
        min_length=1,
        description="Steps, applied one after the other: names of rules, or rules with their options.",
    )
    seed: Seed = 0

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the other system exists and is not a perturbation."""
        perturbed = {name: isinstance(system, PerturbationSystem) for name, system in config.systems.items()}
        if perturbed.get(self.of):
            raise ValueError(
                f"{place}.of: system '{self.of}' is itself a perturbation; name the system that it perturbs, and put"
                " its steps before those of 'perturb'"
            )
        others = {name for name, is_perturbation in perturbed.items() if not is_perturbation}
        require_name(self.of, {*others, CONTROL}, f"{place}.of", "system")

    def obstacle(self, corpus: str, config: ConfigView) -> str | None:
        """Return why the other system has no samples, if it has none."""
        return config.system(self.of).obstacle(corpus, config)

    def made_from(self) -> str:
        """Return the name of the other system."""
        return self.of

    def description(self, config: ConfigView) -> Description:
        """Describe it by the other system and the steps."""
        steps = ", ".join(step.summary for step in self.perturb)
        return Description(self.kind, self.of, f"{self.of}: {steps}")
