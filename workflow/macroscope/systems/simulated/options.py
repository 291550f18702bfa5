"""Options of systems of kind `simulated`."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from macroscope.corpora.simulated import SOURCE
from macroscope.systems.options import Description, Seed, SystemOptions

if TYPE_CHECKING:
    from macroscope.config.schema import Config


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
