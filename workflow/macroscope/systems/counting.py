"""How many documents a system has."""

from pathlib import Path

from macroscope.documents import Collection
from macroscope.files import write_json


def count_samples(samples: Path, output: Path) -> None:
    """Write the number of documents as JSON."""
    write_json(output, {"documents": Collection(samples).total})
