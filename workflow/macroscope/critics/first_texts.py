"""Latents of one text of each prompt, for statistics that are no sums over documents.

Several texts of a prompt are alike, and a test that permutes them one by one takes their likeness for a difference.
Sums over documents are permuted and resampled by prompt instead (`statistics.document_groups`); for a divergence, a
distance between distributions or a vocabulary there is no such way if only one side has several texts of a prompt. So
these compare the first text of each.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from macroscope.critics.latents import copy_rows, open_latents
from macroscope.statistics.document_groups import find_repeats, read_keys

log = logging.getLogger("macroscope")


@contextmanager
def first_texts(latents: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Yield paths of latents with the first text of each prompt: the same path if every text is the first one.

    Parameters
    ----------
    latents
        Name -> path of latents. A path that stands twice is replaced by the same one.
    """
    with TemporaryDirectory() as folder:
        replaced = {
            path: _without_repeats(path, Path(folder) / f"{number}.parquet")
            for number, path in enumerate(dict.fromkeys(latents.values()))
        }
        yield {name: replaced[path] for name, path in latents.items()}


def _without_repeats(path: Path, output: Path) -> Path:
    open_latents(path).close()  # a damaged or missing file is one sentence
    repeats = find_repeats(read_keys(path))
    if not repeats.any():
        return path
    log.info(
        "%s: %d of %d texts are further texts of a prompt; this comparison uses the first text of each prompt",
        path,
        repeats.sum(),
        len(repeats),
    )
    copy_rows(path, output, ~repeats)
    return output
