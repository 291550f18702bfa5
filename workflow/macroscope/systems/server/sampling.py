"""Sampling from a server: parallel requests, each with its own seed; finished samples are kept at once."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.documents import Provenance, in_batches
from macroscope.files import atomic
from macroscope.systems.prompts import Prompt, count_short_prompts, read_prompts
from macroscope.systems.rejection_sampling import (
    Attempt,
    Queue,
    Sample,
    SampleCount,
    SamplingTask,
    format_id,
    resumed_samples,
    write_samples,
)
from macroscope.systems.server import ServerSystem
from macroscope.systems.server.completions import Server, ServerData

FILTERED = "completion that the server filtered"
COMPLETIONS = "completions.parquet"
"""File beside the samples with the request of each sample and the server's data about it."""
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("prompt_document", pa.string()),
        pa.field("attempt", pa.int32(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("finish_reason", pa.string(), nullable=False),
        pa.field("tokens", pa.int64()),
        pa.field("log_probability", pa.float64()),
        pa.field("model", pa.string(), nullable=False),
        pa.field("fingerprint", pa.string(), nullable=False),
    ]
)
ROWS_AT_ONCE = 1000


def sample_server(
    output: Path,
    options: ServerSystem,
    *,
    corpus: str,
    system: str,
    seed: int,
    prompts: Path | None = None,
) -> None:
    """Request samples from a server; write them, and beside them the server's data about each (`COMPLETIONS`).

    A request depends on seed, number and attempt only: not on the number of parallel requests, and not on samples that
    were finished before a kill. Finished samples are kept until all are complete.

    Parameters
    ----------
    seed
        Seed of the run; the system's own seed is added.
    prompts
        Documents that provide the prompts, if the options request prompts.
    """
    seed += options.seed
    beginnings = read_prompts(prompts, options.prompt_words, options.titles)
    server = Server(options)
    task = SamplingTask(
        system,
        range(options.samples),
        options.titles,
        f"{options.max_tokens} tokens",
        "raise max_tokens, give prompt_words or a beginning, or set titles: false if it was not trained on titles",
        (FILTERED,),
        _list_counts(options, beginnings),
    )
    provenance = Provenance(corpus, _source(server, system, seed, beginnings), options.model_dump(mode="json"))
    relevant = options.model_dump(mode="json", exclude={"samples", "parallel", "timeout_seconds", "api_key_variable"})
    inputs = {"options": relevant, "prompts": [prompt.text for prompt in beginnings], "samples": [system, seed]}
    requester = _Requester(server, beginnings, system, seed)
    with (
        resumed_samples(output, inputs, Sample[ServerData], requester, task) as samples,
        atomic(output.with_name(COMPLETIONS)) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        write_samples(output, _write_rows(samples, requester, writer), task, provenance)


@dataclass(frozen=True)
class _Requester:
    """Source of completions, of which `parallel` are requested at a time."""

    server: Server
    prompts: list[Prompt]
    system: str
    seed: int

    def __call__(self, queue: Queue) -> Iterator[Attempt[ServerData]]:
        self.server.require_model()
        pending: set[Future[Attempt[ServerData]]] = set()
        parallel = self.server.options.parallel
        with ThreadPoolExecutor(parallel) as threads:
            try:
                while queue or pending:
                    while queue and len(pending) < parallel:
                        pending.add(threads.submit(self._request, *queue.popleft()))
                    finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                    # Those that succeeded are kept before an error ends the sampling.
                    for future in sorted(finished, key=lambda future: future.exception() is not None):
                        yield future.result()
            finally:
                threads.shutdown(wait=False, cancel_futures=True)

    def _request(self, index: int, attempt: int) -> Attempt[ServerData]:
        prompt = self.prompts[index % len(self.prompts)].text
        completion = self.server.complete(
            prompt or self.server.options.beginning, derive_seed(self.seed, self.system, index, attempt)
        )
        reason = completion.data.finish_reason
        fault = FILTERED if reason == "content_filter" else ""
        return Attempt(index, prompt + completion.text, reason == "length", fault, data=completion.data)

    def row(self, sample: Sample[ServerData]) -> dict[str, Any]:
        """Return the server's data about a valid sample."""
        row = {
            "id": format_id(self.system, sample.index),
            "prompt_document": self.prompts[sample.index % len(self.prompts)].document,
            "attempt": sample.attempts,
            "seed": derive_seed(self.seed, self.system, sample.index, sample.attempts),
        }
        return row | (asdict(sample.data) if sample.data else {})


def derive_seed(seed: int, system: str, index: int, attempt: int) -> int:
    """Return the seed of a request: below 2**31, which every server accepts."""
    digest = hashlib.sha256(json.dumps([seed, system, index, attempt]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _list_counts(options: ServerSystem, prompts: list[Prompt]) -> list[SampleCount]:
    silent = SampleCount("log-probability that the server does not give", "samples", _is_silent)
    length = f"{options.prompt_words} words" if options.prompt_words else ""
    return count_short_prompts(prompts, length) + ([silent] if options.log_probabilities else [])


def _is_silent(sample: Sample[ServerData]) -> bool:
    return sample.data is not None and sample.data.log_probability is None


def _write_rows(
    samples: Iterable[Sample[ServerData]], requester: _Requester, writer: pq.ParquetWriter
) -> Iterator[Sample[ServerData]]:
    for batch in in_batches(samples, ROWS_AT_ONCE):
        rows = [requester.row(sample) for sample in batch if sample.sections]
        writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
        yield from batch


def _source(server: Server, system: str, seed: int, prompts: list[Prompt]) -> dict[str, Any]:
    options = server.options
    return {
        "system": system,
        "url": options.url,
        "request": server.settings(),
        "titles": options.titles,
        "seed": seed,
        "prompt_words": options.prompt_words,
        "prompt_documents": len(prompts) if options.prompt_words else None,
        "completions": COMPLETIONS,
    }
