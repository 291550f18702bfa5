"""Options of systems of kind `other_domain`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.config.options import CONTROL, require_name
from macroscope.systems.options import Description, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class OtherDomainSystem(SystemOptions):
    """Samples that a system has of another corpus: a baseline that differs in what it is about."""

    kind: Literal["other_domain"]
    domain: str = Field(description="Name of the other corpus.")
    of: str = Field(CONTROL, description="Name of the system whose samples of that corpus are taken.")

    def check(self, place: str, config: "Config") -> None:
        """Check that the other corpus and the system are there."""
        require_name(self.domain, config.corpora, f"{place}.domain", "corpus")
        others = {n for n, system in config.systems.items() if not isinstance(system, OtherDomainSystem)}
        require_name(self.of, {*others, CONTROL}, f"{place}.of", "system")

    def obstacle(self, corpus: str, config: "Config") -> str | None:
        """What keeps the system from having samples of the other corpus; and that is not this one."""
        if corpus == self.domain:
            return f"shows texts of another corpus than '{corpus}'"
        return config.system(self.of).obstacle(self.domain, config)

    def made_from(self) -> str:
        """Name of the system."""
        return self.of

    def made_on(self, corpus: str) -> str:
        """Name of the other corpus."""
        return self.domain

    def description(self, config: "Config") -> Description:
        """Return corpus and system."""
        return Description(self.kind, self.of, f"{self.of} of {self.domain}")
