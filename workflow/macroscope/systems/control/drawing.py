"""The control: held-out real documents, the floor that a perfect model would reach."""

from pathlib import Path

from macroscope.documents import (
    Count,
    Provenance,
    count_documents,
    read_documents,
    read_provenance,
    require_count,
    write_documents,
)
from macroscope.systems.control.options import ControlSystem


def draw_control(documents: Path, output: Path, options: ControlSystem, corpus: str) -> None:
    """Copy a held-out split of the corpus."""
    held_out = require_count(count_documents(documents, options.split), documents, options.split)
    source = {"system": "control", "split": options.split, "of": read_provenance(documents).source}
    count = Count(f"not in split {options.split}", held_out, 0)
    provenance = Provenance(corpus, source, options.model_dump(mode="json"), [count])
    write_documents(output, read_documents(documents, options.split), provenance)
