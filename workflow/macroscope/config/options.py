"""What all groups of options have in common; each room, source, system and critic brings its own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

from macroscope.errors import nearest

if TYPE_CHECKING:
    from macroscope.config.schema import Config

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*$")]


class Options(BaseModel):
    """A closed group of options: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)

    def check(self, place: str, config: "Config") -> None:
        """Check what can only be known beside the rest of the config, such as that a name is there.

        Parameters
        ----------
        place
            Of the group in the config ("systems.mine"), for the message.

        Raises
        ------
        ValueError
            With one sentence that begins with the place.
        """


CONTROL = "control"
"""Name of the system that is held-out real text; it stands in every comparison."""
SPLIT_HALF = "split_half"
"""Name under which one half of the control is judged against the other: what no difference looks like."""
KEPT_NAMES = {CONTROL: "held-out real text", SPLIT_HALF: "the control's halves"}
"""Names that no other system may have."""


def require_name(name: str, valid: Iterable[str], place: str, what: str) -> None:
    """Check that something of this name is there.

    Raises
    ------
    ValueError
        That names the place, what there is none of, and the nearest name.
    """
    valid = list(valid)
    if name not in valid:
        raise ValueError(f"{place}: there is no {what} '{name}'{nearest(name, valid)}")
