"""Projection onto states: a text is cut behind each delimiter, and each piece looked up (deng2022 Appendix D)."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.corpora.simulated.hsmm import DELIMITER, HsmmProcess
from macroscope.critics.latents import signed
from macroscope.critics.synthetic.latents import LATENTS, UNKNOWN
from macroscope.documents import Collection
from macroscope.files import atomic
from macroscope.progress import Progress


def project(texts: Collection, process: Path, *, output: Path, signature: str = "") -> None:
    """Write the states of every document; see `macroscope.critics.synthetic.latents`.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    """
    truth = HsmmProcess.load(process)
    schema = signed(LATENTS, signature)
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        Progress("look up states", len(texts), "documents") as progress,
    ):
        for some in texts.batches():
            rows = [{"id": d.id, "opening": d.opening, **states_of(d.text.split(), truth)} for d in some]
            writer.write_table(pa.Table.from_pylist(rows, schema))
            progress.advance(len(some))


def states_of(tokens: Sequence[str], process: HsmmProcess) -> dict[str, object]:
    """States of a text's sub-sequences, whether it has a tail, and its unknown symbols."""
    pieces = list(pieces_of(tokens))
    tail = bool(pieces) and pieces[-1][-1] != DELIMITER
    whole = pieces[:-1] if tail else pieces
    numbers = [process.places.get(" ".join(piece)) for piece in whole]
    return {
        "states": [UNKNOWN if number is None else int(process.states[number]) for number in numbers],
        "tail": tail,
        "unknown_symbols": sum(token not in process.symbols for token in tokens),
        "tokens": len(tokens),
    }


def pieces_of(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Tokens up to each delimiter, and what stands behind the last one."""
    piece: list[str] = []
    for token in tokens:
        piece.append(token)
        if token == DELIMITER:
            yield piece
            piece = []
    if piece:
        yield piece
