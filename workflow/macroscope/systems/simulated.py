"""Kind `simulated`: samples of a simulated corpus's own process, or of that process with a known defect."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal
from zlib import crc32

from pydantic import Field

from macroscope.colours import ORANGE
from macroscope.corpora.simulated import SOURCE
from macroscope.documents import Provenance, write_documents
from macroscope.stages import Stage, load
from macroscope.systems.declaration import Kind
from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


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
    """Samples of a simulated corpus's own process, or of that process with a known defect."""

    kind: Literal["simulated"]
    order: Literal["process", "shuffled", "independent", "wrong_gender", "no_antecedent", "merged", "split"] = Field(
        "process",
        description="process: as the corpus; shuffled: the parts of each document (sections; of kind topics, words; of"
        " kinds people and scripts, sentences) in random order; independent: parts that go together by chance (section"
        " types drawn without regard to their predecessors; topic strengths drawn without regard to each other; each"
        " word in a language of its own; each sentence about anybody, or of another script). Of kind people alone:"
        " wrong_gender: pronouns of the other gender; no_antecedent: pronouns that nobody can resolve; merged: two"
        " persons with one name; split: persons with two names.",
    )
    samples: int = Field(400, ge=1, description="Number of documents.")
    seed: Seed = 0

    def obstacle(self, corpus: str, config: "Config") -> str | None:
        """Only a simulated corpus has a process to sample, and it has to know the order."""
        found = config.corpora[corpus]
        if found.kind_of_process is None:
            return f"samples the process of a simulated corpus, and '{corpus}' is none"
        orders = SOURCE.simulations[found.kind_of_process].orders
        if self.order not in orders:
            return f"draws '{self.order}', and the process of '{corpus}' knows {', '.join(orders)}"
        return None

    def order_of_process(self) -> str:
        """Return the order that it is asked for."""
        return self.order

    def description(self, config: "Config") -> Description:
        """Return the order, in words."""
        setting = "the corpus's own" if self.order == "process" else self.order.replace("_", " ")
        return Description(self.kind, setting=setting)


def simulate(
    process: Path, output: Path, options: SimulatedSystem, *, kind_of_process: str, corpus: str, system: str, seed: int
) -> None:
    """Draw documents in the form that the corpus's documents have.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    kind_of_process
        That of the corpus: what draws its documents.
    seed
        Seed of the run; the system's own is added.
    """
    seed += options.seed
    # A seed of its own: no system draws the documents of the corpus, or those of another system.
    own_seed = seed + (crc32(system.encode()) << 32)
    draw = load(SOURCE.simulations[kind_of_process].generate, "macroscope.corpora.simulated")
    documents = draw(process, options.order, options.samples, own_seed)
    source = {"system": system, "order": options.order, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json")))
