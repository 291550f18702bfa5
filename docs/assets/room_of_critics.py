"""An extension of the site's reader of code: `macroscope.critics` is a room with modules, not the stub's one name."""

from typing import Any

import griffe


class RoomOfCritics(griffe.Extension):
    """Leave the name `critics` of the package's stub out, which would hide the room's modules."""

    def on_module_members(self, *, mod: griffe.Module, **arguments: Any) -> None:
        """Forget the name in the stub, before it is merged with the module."""
        if str(mod.filepath).endswith("macroscope/__init__.pyi"):
            mod.members.pop("critics", None)
