"""Options of systems of kind `training_texts`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class TrainingTextsSystem(SystemOptions):
    """A random sample of the train split: several say how much real text varies from sample to sample (meister2021)."""

    kind: Literal["training_texts"]
    samples: int = Field(1000, ge=1, description="Number of documents, drawn without replacement.")
    seed: Seed = 0

    def description(self, config: "Config") -> Description:
        """Return what it is a sample of."""
        return Description(self.kind, "train split")

    def order_of_process(self) -> str:
        """Training documents of a simulated corpus come from its process as it is."""
        return "process"
