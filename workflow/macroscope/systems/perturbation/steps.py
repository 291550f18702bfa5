"""Steps of a perturbation: one group of options per declared damage that the config may name."""

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, create_model

from macroscope.options import Options
from macroscope.systems.perturbation import (  # noqa: F401 - they declare the damages, in this order
    harmless,
    mentions,
    sections,
    sentences,
    times,
    whole_documents,
    words,
)
from macroscope.systems.perturbation.declaration import DAMAGES, Damage, Position


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
    """Convert the name of a rule to the rule with its defaults."""
    return {"rule": step} if isinstance(step, str) else step


if TYPE_CHECKING:
    Step = AnyStep
else:
    _STEPS = Annotated[reduce(or_, STEPS.values()), Field(discriminator="rule")]
    Step = Annotated[_STEPS, BeforeValidator(_by_name, json_schema_input_type=Literal[tuple(STEPS)] | _STEPS)]


def damaged_system(damage: str, dose: float) -> tuple[str, dict[str, Any]]:
    """Return the name of a system with one damage of held-out real text, such as "repeat_words-25", and its options."""
    return f"{damage}-{round(100 * dose)}", {"kind": "perturbation", "perturb": [{"rule": damage, "dose": dose}]}
