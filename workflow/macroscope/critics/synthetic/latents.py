"""Projection onto states: texts are split after each delimiter, and each piece is looked up (deng2022 App. D).

Columns of the latents: `id`; `opening` (`Document.opening`); `states`, the state of each sub-sequence, `UNKNOWN`
for invalid ones; `tail`, whether tokens follow the last delimiter; `unknown_symbols`, number of tokens that the process
never generates; `tokens`, number of tokens.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from macroscope.corpora.simulated.hsmm import DELIMITER, HsmmProcess
from macroscope.critics.latents import batches_with_progress, latents_schema, stream_latents, write_latents
from macroscope.documents import Collection, Document
from macroscope.progress import Progress

UNKNOWN = -1
LATENTS = latents_schema(
    pa.field("states", pa.list_(pa.int32()), nullable=False),
    pa.field("tail", pa.bool_(), nullable=False),
    pa.field("unknown_symbols", pa.int32(), nullable=False),
    pa.field("tokens", pa.int32(), nullable=False),
)


def project(texts: Collection, process: Path, *, output: Path, signature: str = "") -> None:
    """Write the states of every document.

    Parameters
    ----------
    process
        truth/process.json of the corpus.
    """
    truth = HsmmProcess.load(process)
    batches = batches_with_progress(texts, Progress("look up states", len(texts), "documents"))
    write_latents(output, LATENTS, (_look_up_batch(batch, truth) for batch in batches), signature)


def _look_up_batch(documents: Sequence[Document], process: HsmmProcess) -> pa.Table:
    rows = [{"id": d.id, "opening": d.opening, **look_up_states(d.text.split(), process)} for d in documents]
    return pa.Table.from_pylist(rows, LATENTS)


def look_up_states(tokens: Sequence[str], process: HsmmProcess) -> dict[str, object]:
    """Look up the states of a text's sub-sequences; return a row of the latents, without id and opening."""
    pieces = list(split_subsequences(tokens))
    tail = bool(pieces) and pieces[-1][-1] != DELIMITER
    whole = pieces[:-1] if tail else pieces
    numbers = [process.places.get(" ".join(piece)) for piece in whole]
    return {
        "states": [UNKNOWN if number is None else int(process.states[number]) for number in numbers],
        "tail": tail,
        "unknown_symbols": sum(token not in process.symbols for token in tokens),
        "tokens": len(tokens),
    }


def split_subsequences(tokens: Sequence[str]) -> Iterator[list[str]]:
    """Split tokens after each delimiter; yield the tokens after the last delimiter as a last piece."""
    piece: list[str] = []
    for token in tokens:
        piece.append(token)
        if token == DELIMITER:
            yield piece
            piece = []
    if piece:
        yield piece


def read_states(path: Path) -> Iterator[list[int]]:
    """Yield the states of every document."""
    for table in stream_latents(path, LATENTS, ["states"]):
        yield from table["states"].to_pylist()
