"""A hook of the wheel's build: a wheel holds a copy of the workflow, with the layout of the checkout."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WorkflowHook(BuildHookInterface):
    """The copy of the workflow; an editable installation finds it in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files; `macroscope.files.find_repository` knows their folder."""
        if version == "standard":
            copied = {path: f"macroscope/repository/{path}" for path in self.config["copied"]}
            build_data["force_include"].update(copied)
