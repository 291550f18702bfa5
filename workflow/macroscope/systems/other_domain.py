"""Kind `other_domain`: a system's texts of another corpus, as a baseline from another domain (deng2022 Figure 6)."""

from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.colours import PURPLE
from macroscope.documents import Provenance, read_documents, read_provenance, write_documents
from macroscope.options import CONTROL, ConfigView, require_name
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, SystemOptions

KIND = Kind(
    options=":OtherDomainSystem",
    label="another domain",
    colour=PURPLE,
    stages={"generate": Stage(":copy_samples", inputs="other_samples corpus system", options="of domain")},
    check=True,
)


class OtherDomainSystem(SystemOptions):
    """Samples of a system of another corpus: a baseline that differs in its domain."""

    kind: Literal["other_domain"]
    domain: str = Field(description="Name of the other corpus.")
    of: str = Field(CONTROL, description="Name of the system whose samples of that corpus are used.")

    def check(self, place: str, config: ConfigView) -> None:
        """Check that the other corpus and the system exist."""
        require_name(self.domain, config.corpora, f"{place}.domain", "corpus")
        others = {n for n, system in config.systems.items() if not isinstance(system, OtherDomainSystem)}
        require_name(self.of, {*others, CONTROL}, f"{place}.of", "system")

    def obstacle(self, corpus: str, config: ConfigView) -> str | None:
        """Return why the system has no samples of the other corpus, or that the other corpus is this one."""
        if corpus == self.domain:
            return f"uses texts of another corpus than '{corpus}'"
        return config.system(self.of).obstacle(self.domain, config)

    def made_from(self) -> str:
        """Return the name of the system whose samples are used."""
        return self.of

    def made_on(self, corpus: str) -> str:
        """Return the name of the other corpus."""
        return self.domain

    def description(self, config: ConfigView) -> Description:
        """Describe it by system and corpus."""
        return Description(self.kind, self.of, f"{self.of} of {self.domain}")


def copy_samples(other_samples: Path, output: Path, options: OtherDomainSystem, *, corpus: str, system: str) -> None:
    """Copy the samples; prefix ids with the corpus name, because they pair with no document here.

    Parameters
    ----------
    other_samples
        Samples of the system for the other corpus.
    """
    parent = read_provenance(other_samples)
    documents = (replace(document, id=f"{options.domain}:{document.id}") for document in read_documents(other_samples))
    source = {"system": system, "domain": options.domain, "of": parent.source}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json"), parent.counts))
