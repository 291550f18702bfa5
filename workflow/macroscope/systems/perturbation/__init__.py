"""Kind `perturbation`: known defects put into the samples of another system (pimentel2022 §6.2).

Each declared damage has a step: a group of options that the config may name.
"""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from macroscope.colours import GREY
from macroscope.options import CONTROL, ConfigView, Options, require_name
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions
from macroscope.systems.perturbation import harmless, mentions, sentences, whole_documents, words  # noqa: F401 - they declare the damages, in this order
from macroscope.systems.perturbation.declaration import DAMAGES, Damage, Position

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


class AnyStep(Options):
    """Options of a step of any rule."""

    rule: str
    dose: float
    position: Position = "anywhere"

    @property
    def damage(self) -> Damage:
        """Return the declaration of the damage."""
        return DAMAGES[self.rule]

    @property
    def own_options(self) -> dict[str, Any]:
        """Return the options that only this damage has."""
        return {name: getattr(self, name) for name in self.damage.options}

    @property
    def summary(self) -> str:
        """Return the step as text, without defaults: "drop sections dose=0.2"."""
        options = self.model_dump(exclude={"rule"}, exclude_defaults=True)
        parts = (f"{n}={value:g}" if isinstance(value, float) else f"{n}={value}" for n, value in options.items())
        return " ".join([self.rule.replace("_", " "), *parts])


def _model(damage: Damage) -> type[AnyStep]:
    limits = f", at most {damage.highest:g}" if damage.highest < 1 else ""
    fields: dict[str, Any] = {
        "rule": (Literal[damage.name], ...),
        "dose": (
            float,
            Field(
                damage.dose, gt=0, le=damage.highest, description=f"Share of what it can change{limits}; at least one."
            ),
        ),
        "position": (
            Position if damage.position is None and not damage.joins else Literal["anywhere"],
            Field("anywhere", description="Part of the document that it changes."),
        ),
        **damage.options,
    }
    name = damage.name.title().replace("_", "")
    return create_model(name, __base__=AnyStep, __doc__=damage.summary, __module__=__name__, **fields)


STEPS: dict[str, type[AnyStep]] = {name: _model(damage) for name, damage in DAMAGES.items()}
"""Name of each rule -> its options."""


def _by_name(step: Any) -> Any:
    return {"rule": step} if isinstance(step, str) else step


if TYPE_CHECKING:
    Step = AnyStep
else:
    _STEPS = Annotated[reduce(or_, STEPS.values()), Field(discriminator="rule")]
    Step = Annotated[_STEPS, BeforeValidator(_by_name, json_schema_input_type=Literal[tuple(STEPS)] | _STEPS)]


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


def damaged_system(damage: str, dose: float) -> tuple[str, dict[str, Any]]:
    """Return the name of a system with one damage of held-out real text, such as "repeat_words-25", and its options."""
    return f"{damage}-{round(100 * dose)}", {"kind": "perturbation", "perturb": [{"rule": damage, "dose": dose}]}
