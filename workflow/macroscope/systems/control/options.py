"""Options of systems of kind `control`."""

from typing import Literal

from pydantic import Field

from macroscope.systems.options import SystemOptions


class ControlSystem(SystemOptions):
    """Held-out real documents: the floor that a perfect model would reach."""

    kind: Literal["control"]
    split: Literal["valid", "test"] = Field("test", description="Which held-out split.")

    def order_of_process(self) -> str:
        """Held-out documents of a simulated corpus come from its process as it is."""
        return "process"
