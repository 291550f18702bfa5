"""Kind `simulated`: samples of a simulated corpus's own process, unchanged or with a known defect."""

from pathlib import Path
from typing import Literal
from zlib import crc32

from pydantic import Field

from macroscope.colours import ORANGE
from macroscope.corpora.simulated import SOURCE
from macroscope.documents import Provenance, write_documents
from macroscope.options import ConfigView
from macroscope.stages import Stage, load
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions

KIND = Kind(
    options=":SimulatedSystem",
    label="known process",
    colour=ORANGE,
    stages={
        "generate": Stage(
            ":simulate", inputs="process kind_of_process corpus system seed", options="order samples seed"
        ),
    },
    check=True,
)


class SimulatedSystem(SystemOptions):
    """Samples of a simulated corpus's own process, unchanged or with a known defect."""

    kind: Literal["simulated"]
    order: Literal["process", "shuffled", "independent", "wrong_gender", "no_antecedent", "merged", "split"] = Field(
        "process",
        description="process: as in the corpus; shuffled: the parts of each document in random order (sections; for"
        " kind topics words; for kinds people and scripts sentences); independent: parts that are independent of each"
        " other (section types independent of their predecessors; uncorrelated topic strengths; each word in a random"
        " language; each sentence about a random person or of a random script). Only for kind people: wrong_gender:"
        " pronouns of the other gender; no_antecedent: pronouns without an antecedent; merged: two persons with one"
        " name; split: persons with two names.",
    )
    samples: int = Field(400, ge=1, description="Number of documents.")
    seed: Seed = 0

    def obstacle(self, corpus: str, config: ConfigView) -> str | None:
        """Return why it has no samples: the corpus is not simulated, or its process does not support the order."""
        options = config.corpora[corpus]
        if options.kind_of_process is None:
            return f"samples the process of a simulated corpus, and '{corpus}' is not one"
        orders = SOURCE.simulations[options.kind_of_process].orders
        if self.order not in orders:
            return f"samples the order '{self.order}', and the process of '{corpus}' has {', '.join(orders)}"
        return None

    def order_of_process(self) -> str:
        """Return the configured order."""
        return self.order

    def description(self, config: ConfigView) -> Description:
        """Describe it by its order, in words."""
        setting = "the corpus's own" if self.order == "process" else self.order.replace("_", " ")
        return Description(self.kind, setting=setting)


def simulate(
    process: Path, output: Path, options: SimulatedSystem, *, kind_of_process: str, corpus: str, system: str, seed: int
) -> None:
    """Generate documents in the same form as the corpus's documents.

    Parameters
    ----------
    process
        File truth/process.json of the corpus.
    kind_of_process
        Kind of the corpus's process, which determines the generator of its documents.
    seed
        Seed of the run; the system's own seed is added.
    """
    seed += options.seed
    # Separate from all other seeds, so that no system repeats the corpus's documents or another system's.
    system_seed = seed + (crc32(system.encode()) << 32)
    generate_process_documents = load(SOURCE.simulations[kind_of_process].generate, "macroscope.corpora.simulated")
    documents = generate_process_documents(process, options.order, options.samples, system_seed)
    source = {"system": system, "order": options.order, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json")))
