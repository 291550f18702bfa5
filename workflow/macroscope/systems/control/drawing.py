"""The control: held-out real documents, the floor that a perfect model would reach."""

from pathlib import Path

from macroscope.documents import Count, Provenance, read_documents, read_provenance, require_documents, write_documents
from macroscope.systems.control.options import ControlSystem


def draw_control(documents: Path, output: Path, options: ControlSystem, corpus: str) -> None:
    """Copy a held-out split of the corpus."""
    held_out = list(read_documents(documents, options.split))
    require_documents(held_out, documents, options.split)
    source = {"system": "control", "split": options.split, "of": read_provenance(documents).source}
    count = Count(f"not in split {options.split}", len(held_out), 0)
    write_documents(output, held_out, Provenance(corpus, source, options.model_dump(mode="json"), [count]))
