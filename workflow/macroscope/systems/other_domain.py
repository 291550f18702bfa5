"""Kind `other_domain`: a system's texts of another corpus, a baseline about something else (deng2022 Figure 6)."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.colours import PURPLE
from macroscope.documents import Provenance, read_documents, read_provenance, write_documents
from macroscope.options import CONTROL, require_name
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


KIND = Kind(
    options=":OtherDomainSystem",
    label="another domain",
    colour=PURPLE,
    stages={"generate": Stage(":take_over", inputs="other_samples corpus system", options="of domain")},
    check=True,
)


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


def take_over(other_samples: Path, output: Path, options: OtherDomainSystem, *, corpus: str, system: str) -> None:
    """Copy the samples; ids are set apart by the other corpus's name, since nobody there belongs to anybody here.

    Parameters
    ----------
    other_samples
        Samples of the system, of the other corpus.
    """
    parent = read_provenance(other_samples)
    documents = (replace(document, id=f"{options.domain}:{document.id}") for document in read_documents(other_samples))
    source = {"system": system, "domain": options.domain, "of": parent.source}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json"), parent.counts))
