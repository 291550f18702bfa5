"""Sampling from a server: parallel requests, each with its own seed; finished samples are kept at once."""

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.documents import Count, Document, Provenance, Section, in_batches, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidSample, invalid_reasons, parse_sample
from macroscope.systems.prompts import Prompt, read_prompts
from macroscope.systems.resume import PartialFile
from macroscope.systems.server import ServerSystem
from macroscope.systems.server.completions import Completion, Server, ServerData

log = logging.getLogger("macroscope")

HOPELESS = 400
"""Number of invalid completions without a single valid one after which sampling stops with an error."""
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


@dataclass
class Sample:
    """A valid sample, or one that was given up (no sections), with counts of its attempts.

    Attributes
    ----------
    index
        Number of the sample.
    sections
        Titles (W/ Title) and texts.
    attempt, seed
        Number of invalid completions before the one that is kept, and the seed of its request.
    completion
        The server's data about the completion; None if the sample was given up.
    invalid
        Reasons of the invalid completions before it, with their counts.
    empty_sections
        Number of sections without text that were removed (W/O Title).
    """

    index: int
    sections: list[tuple[str | None, str]] = field(default_factory=list)
    attempt: int = 0
    seed: int = 0
    completion: ServerData | None = None
    invalid: dict[str, int] = field(default_factory=dict)
    empty_sections: int = 0

    @property
    def is_cut(self) -> bool:
        """Return whether it was cut at the longest length."""
        return self.completion is not None and self.completion.finish_reason == "length"


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

    Raises
    ------
    MacroscopeError
        If the server does not have the model, refuses, fails too often, or hardly ever answers in the format.
    """
    seed += options.seed
    beginnings = read_prompts(prompts, options.prompt_words, options.titles)
    server = Server(options)
    part = PartialFile(output, _fingerprint(options, seed, system, beginnings), Sample)
    done = {sample.index for sample in part if sample.index < options.samples}
    missing = (index for index in range(options.samples) if index not in done)
    if done:
        log.info("%s: resuming with %s of %s samples finished", system, f"{len(done):,}", f"{options.samples:,}")
    if len(done) < options.samples:
        server.require_model()
        requester = _Requester(server, options, beginnings, system, seed, not done)
        try:
            _request_missing(requester, missing, part, options, len(done))
        except MacroscopeError as error:
            kept = sum(sample.index < options.samples for sample in part)
            raise MacroscopeError(
                f"system {system}: {error}; {kept:,} of {options.samples:,} samples are kept, and the next run resumes"
                " from them"
            ) from None
    counts = _Tally(options)
    # The part file may have more samples than are requested now.
    samples = islice(part.sorted_by("index"), options.samples)
    counted = (counts.add(sample, beginnings) for sample in samples)
    provenance = Provenance(corpus, _source(server, system, seed, beginnings), options.model_dump(mode="json"))
    _write(counted, counts, output, provenance, beginnings, system)
    part.remove()


class _Requester:
    """Function object that requests one sample until it is valid or given up; called from several threads."""

    def __init__(
        self, server: Server, options: ServerSystem, prompts: list[Prompt], system: str, seed: int, is_first: bool
    ) -> None:
        self.server, self.options, self.prompts = server, options, prompts
        self.system, self.seed = system, seed
        self._has_valid = not is_first
        self._invalid = 0

    def __call__(self, index: int) -> Sample:
        prompt, sample = self.prompts[index % len(self.prompts)], Sample(index)
        for attempt in range(ATTEMPTS):
            seed = derive_seed(self.seed, self.system, index, attempt)
            completion = self.server.complete(prompt.text or self.options.beginning, seed)
            try:
                sections, sample.empty_sections = _parse(completion, prompt, self.options.titles)
            except InvalidSample as error:
                sample.invalid[str(error)] = sample.invalid.get(str(error), 0) + 1
                self._require_progress()
                continue
            self._has_valid = True
            sample.sections = [(section.title, section.text) for section in sections]
            sample.attempt, sample.seed = attempt, seed
            sample.completion = completion.data
            break
        return sample

    def _require_progress(self) -> None:
        self._invalid += 1  # two threads at once may lose a count, which does not matter
        if not self._has_valid and self._invalid >= HOPELESS:
            raise MacroscopeError(
                f"none of {self._invalid} completions is a document of the format; raise max_tokens, give prompt_words"
                " or a beginning, or set titles: false if the model was not trained on titles"
            )


def _request_missing(
    requester: _Requester, missing: Iterator[int], part: PartialFile[Sample], options: ServerSystem, done: int
) -> None:
    """Request the missing samples, `parallel` at a time, and keep each as soon as it arrives."""
    with (
        ThreadPoolExecutor(options.parallel) as threads,
        Progress(f"sample {requester.system}", options.samples, "samples") as bar,
    ):
        bar.advance(done)
        pending: set[Future[Sample]] = {threads.submit(requester, index) for index in islice(missing, options.parallel)}
        try:
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                failed = [future for future in finished if future.exception()]
                for future in finished:
                    if future not in failed:
                        part.append(future.result())
                        bar.advance(1)
                if failed:
                    failed[0].result()
                pending |= {threads.submit(requester, index) for index in islice(missing, len(finished))}
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def derive_seed(seed: int, system: str, index: int, attempt: int) -> int:
    """Return the seed of a request: below 2**31, which every server accepts."""
    digest = hashlib.sha256(json.dumps([seed, system, index, attempt]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _parse(completion: Completion, prompt: Prompt, titles: bool) -> tuple[tuple[Section, ...], int]:
    if completion.data.finish_reason == "content_filter":
        raise InvalidSample(FILTERED)
    return parse_sample(prompt.text + completion.text, titles)


class _Tally:
    """Counts over all samples, accumulated as they pass."""

    def __init__(self, options: ServerSystem) -> None:
        self.options = options
        self.samples = self.valid = self.cut = self.sections = self.empty = self.short = self.silent = 0
        self.invalid: Counter[str] = Counter()

    def add(self, sample: Sample, prompts: list[Prompt]) -> Sample:
        """Count a sample and return it."""
        self.samples += 1
        self.invalid.update(sample.invalid)
        self.empty += sample.empty_sections
        self.short += prompts[sample.index % len(prompts)].short
        if sample.sections:
            self.valid += 1
            self.cut += sample.is_cut
            self.sections += len(sample.sections)
            self.silent += sample.completion is None or sample.completion.log_probability is None
        return sample

    def to_list(self) -> list[Count]:
        """Return the counts of everything that was dropped or changed."""
        options, given_up, ended = self.options, self.samples - self.valid, self.valid - self.cut
        reasons = (*invalid_reasons(options.titles), FILTERED)
        counts = [Count(reason, self.valid, self.invalid[reason], "attempts") for reason in reasons]
        counts += [
            Count(f"{ATTEMPTS} invalid attempts in a row", self.valid, given_up, "samples"),
            Count("section without text", self.sections, self.empty, "sections"),
            Count(f"end of a sample beyond {options.max_tokens} tokens", ended, self.cut, "ends of samples"),
        ]
        if options.prompt_words:
            whole = self.samples - self.short
            counts.append(
                Count(f"prompt shorter than {options.prompt_words} words", whole, self.short, "whole prompts")
            )
        if options.log_probabilities:
            given = self.valid - self.silent
            counts.append(Count("log-probability that the server does not give", given, self.silent, "samples"))
        return counts


def _write(
    samples: Iterable[Sample], counts: _Tally, output: Path, provenance: Provenance, prompts: list[Prompt], system: str
) -> None:
    """Write the samples and, beside them, the server's data about each, in one pass."""

    def documents(writer: pq.ParquetWriter) -> Iterator[Document]:
        for batch in in_batches(samples, ROWS_AT_ONCE):
            valid = [sample for sample in batch if sample.sections]
            rows = [_row(sample, prompts, system) for sample in valid]
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
            for sample in valid:
                sections = tuple(Section(title, text) for title, text in sample.sections)
                yield Document(_sample_id(system, sample), "test", None, sections)
        if counts.valid < counts.samples / 2:
            raise MacroscopeError(
                f"system {system}: {counts.samples - counts.valid} of {counts.samples} samples had {ATTEMPTS} invalid"
                f" completions in a row; the model does not produce the format"
                f" {'W/' if counts.options.titles else 'W/O'} Title"
            )
        provenance.counts.extend(counts.to_list())

    with (
        atomic(output.with_name(COMPLETIONS)) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        write_documents(output, documents(writer), provenance)


def _row(sample: Sample, prompts: list[Prompt], system: str) -> dict[str, Any]:
    prompt = prompts[sample.index % len(prompts)].document
    row = {
        "id": _sample_id(system, sample),
        "prompt_document": prompt,
        "attempt": sample.attempt,
        "seed": sample.seed,
    }
    return row | (asdict(sample.completion) if sample.completion else {})


def _sample_id(system: str, sample: Sample) -> str:
    return f"{system}-{sample.index:07d}"


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


def _fingerprint(options: ServerSystem, seed: int, system: str, prompts: list[Prompt]) -> str:
    """Return the fingerprint of everything that determines the requests and their server."""
    relevant = options.model_dump(mode="json", exclude={"samples", "parallel", "timeout_seconds", "api_key_variable"})
    digest = hashlib.sha256(json.dumps([prompt.text for prompt in prompts]).encode()).hexdigest()
    return json.dumps({"options": relevant, "seed": seed, "system": system, "prompts": digest}, sort_keys=True)
