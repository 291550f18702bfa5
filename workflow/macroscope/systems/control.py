"""Kind `control`: held-out real documents as a system, the floor that a perfect model would reach.

The samples are a copy of a held-out split, with its ids.
"""

from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.colours import GREEN
from macroscope.documents import (
    Count,
    Provenance,
    count_documents,
    read_documents,
    read_provenance,
    require_count,
    write_documents,
)
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import SystemOptions

KIND = Kind(
    options=":ControlSystem",
    label="real text",
    colour=GREEN,
    stages={"generate": Stage(":generate_control", inputs="documents corpus", options="split")},
    check=True,
)


class ControlSystem(SystemOptions):
    """Held-out real documents: the floor that a perfect model would reach."""

    kind: Literal["control"]
    split: Literal["valid", "test"] = Field("test", description="Held-out split.")
    whole: bool = Field(
        False,
        description="Compare systems with all documents of the corpus where a critic learns nothing from it, or is"
        " cross-fitted (`folds`). Leave it off if a system was trained on the corpus: it may have memorized training"
        " documents.",
    )

    def is_whole_corpus(self) -> bool:
        """Return whether critics that learn nothing from the corpus, or are cross-fitted, read all of it."""
        return self.whole

    def order_of_process(self) -> str:
        """Return `process`: held-out documents of a simulated corpus come from its unchanged process."""
        return "process"


def generate_control(documents: Path, output: Path, options: ControlSystem, corpus: str) -> None:
    """Copy a held-out split of the corpus as samples."""
    held_out = require_count(count_documents(documents, options.split), documents, options.split)
    source = {"system": "control", "split": options.split, "of": read_provenance(documents).source}
    count = Count(f"not in split {options.split}", held_out, 0)
    provenance = Provenance(corpus, source, options.model_dump(mode="json"), [count])
    write_documents(output, read_documents(documents, options.split), provenance)
