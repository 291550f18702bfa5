"""Samples from a server: so many requests at a time, each with a seed of its own, kept as they come."""

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
from macroscope.systems.formats import ATTEMPTS, InvalidDraw, parse_draw, reasons
from macroscope.systems.prompts import Prompt, read_prompts
from macroscope.systems.resume import Unfinished
from macroscope.systems.server.completions import Completion, Server
from macroscope.systems.server.options import ServerSystem

log = logging.getLogger("macroscope")

HOPELESS = 400
"""Invalid completions without a single valid one after which the model is given up."""
FILTERED = "completion that the server filtered"
COMPLETIONS = "completions.parquet"
"""Beside the samples: what was asked for each, and what the server said."""
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
    """A valid sample, or one that was given up (no sections), with what happened on the way.

    Attributes
    ----------
    index
        Number of the sample.
    sections
        Titles (W/ Title) and texts.
    attempt, seed
        Of the completion that is kept: how many were invalid before it, and what the server drew it with.
    completion
        What the server said of it, its text aside.
    invalid
        Reasons of the invalid completions before it, with their counts.
    empty_sections
        Sections without text that were removed (W/O Title).
    """

    index: int
    sections: list[tuple[str | None, str]] = field(default_factory=list)
    attempt: int = 0
    seed: int = 0
    completion: dict[str, Any] = field(default_factory=dict)
    invalid: dict[str, int] = field(default_factory=dict)
    empty_sections: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether it ended because it was long enough, not of itself."""
        return self.completion.get("finish_reason") == "length"


def sample_server(
    output: Path,
    options: ServerSystem,
    *,
    corpus: str,
    system: str,
    seed: int,
    prompts: Path | None = None,
) -> None:
    """Ask a server for samples, and write them with what it said of each (`COMPLETIONS`, beside them).

    Seed, number and attempt decide what a request asks for, and nothing else does: not how many are under way, and not
    what was finished before a kill. Finished samples are kept until all are there.

    Parameters
    ----------
    seed
        Seed of the run; the system's own is added.
    prompts
        Documents that the samples' prompts are taken from, where the options ask for prompts.

    Raises
    ------
    MacroscopeError
        Where the server does not have the model, refuses, breaks off too often, or hardly ever answers in the format.
    """
    seed += options.seed
    beginnings = read_prompts(prompts, options.prompt_words, options.titles)
    server = Server(options)
    unfinished = Unfinished(output, _fingerprint(options, seed, system, beginnings))
    done = {row["index"] for row in unfinished if row["index"] < options.samples}
    missing = (index for index in range(options.samples) if index not in done)
    if done:
        log.info("%s: %s of %s samples were finished before", system, f"{len(done):,}", f"{options.samples:,}")
    if len(done) < options.samples:
        server.require_model()
        asker = _Asker(server, options, beginnings, system, seed, not done)
        try:
            _ask(asker, missing, unfinished, options, len(done))
        except MacroscopeError as error:
            kept = sum(row["index"] < options.samples for row in unfinished)
            raise MacroscopeError(
                f"system {system}: {error}; {kept:,} of {options.samples:,} samples are kept, and the next run goes on"
                " from there"
            ) from None
    counts = _Counts(options)
    # More than are wanted now may be there.
    samples = (Sample(**row) for row in islice(unfinished.in_order("index"), options.samples))
    counted = (counts.counted(sample, beginnings) for sample in samples)
    provenance = Provenance(corpus, _source(server, system, seed, beginnings), options.model_dump(mode="json"))
    _write(counted, counts, output, provenance, beginnings, system)
    unfinished.remove()


class _Asker:
    """Asks for one sample, until it is valid or given up; called from several threads."""

    def __init__(
        self, server: Server, options: ServerSystem, prompts: list[Prompt], system: str, seed: int, is_first: bool
    ) -> None:
        self.server, self.options, self.prompts = server, options, prompts
        self.system, self.seed = system, seed
        self._is_hopeful = not is_first
        self._invalid = 0

    def __call__(self, index: int) -> Sample:
        prompt, sample = self.prompts[index % len(self.prompts)], Sample(index)
        for attempt in range(ATTEMPTS):
            seed = seed_of(self.seed, self.system, index, attempt)
            completion = self.server.complete(prompt.text or self.options.beginning, seed)
            try:
                sections, sample.empty_sections = _read(completion, prompt, self.options.titles)
            except InvalidDraw as error:
                sample.invalid[str(error)] = sample.invalid.get(str(error), 0) + 1
                self._give_up_where_hopeless()
                continue
            self._is_hopeful = True
            sample.sections = [(section.title, section.text) for section in sections]
            sample.attempt, sample.seed = attempt, seed
            sample.completion = {name: value for name, value in asdict(completion).items() if name != "text"}
            break
        return sample

    def _give_up_where_hopeless(self) -> None:
        self._invalid += 1  # a count too few, should two threads meet, does not matter
        if not self._is_hopeful and self._invalid >= HOPELESS:
            raise MacroscopeError(
                f"none of {self._invalid} completions is a document of its format; raise max_tokens, give prompt_words"
                " or a beginning, or set titles: false where the model was not trained on titles"
            )


def _ask(asker: _Asker, missing: Iterator[int], unfinished: Unfinished, options: ServerSystem, done: int) -> None:
    """Ask for the samples that are missing, `parallel` at a time, and keep each as it comes."""
    with (
        ThreadPoolExecutor(options.parallel) as threads,
        Progress(f"sample {asker.system}", options.samples, "samples") as bar,
    ):
        bar.advance(done)
        under_way: set[Future[Sample]] = {threads.submit(asker, index) for index in islice(missing, options.parallel)}
        try:
            while under_way:
                finished, under_way = wait(under_way, return_when=FIRST_COMPLETED)
                failed = [future for future in finished if future.exception()]
                for future in finished:
                    if future not in failed:
                        unfinished.append(vars(future.result()))
                        bar.advance(1)
                if failed:
                    failed[0].result()
                under_way |= {threads.submit(asker, index) for index in islice(missing, len(finished))}
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def seed_of(seed: int, system: str, index: int, attempt: int) -> int:
    """Seed of a request: below 2**31, which every server takes."""
    digest = hashlib.sha256(json.dumps([seed, system, index, attempt]).encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def _read(completion: Completion, prompt: Prompt, titles: bool) -> tuple[tuple[Section, ...], int]:
    if completion.finish_reason == "content_filter":
        raise InvalidDraw(FILTERED)
    return parse_draw(prompt.text + completion.text, titles)


class _Counts:
    """What happened on the way to the samples, counted as they pass."""

    def __init__(self, options: ServerSystem) -> None:
        self.options = options
        self.samples = self.valid = self.cut = self.sections = self.empty = self.short = self.silent = 0
        self.invalid: Counter[str] = Counter()

    def counted(self, sample: Sample, prompts: list[Prompt]) -> Sample:
        """Count a sample, and give it back."""
        self.samples += 1
        self.invalid.update(sample.invalid)
        self.empty += sample.empty_sections
        self.short += prompts[sample.index % len(prompts)].short
        if sample.sections:
            self.valid += 1
            self.cut += sample.is_cut
            self.sections += len(sample.sections)
            self.silent += sample.completion["log_probability"] is None
        return sample

    def found(self) -> list[Count]:
        """Everything that was dropped or changed."""
        options, given_up, ended = self.options, self.samples - self.valid, self.valid - self.cut
        kinds = (*reasons(options.titles), FILTERED)
        counts = [Count(reason, self.valid, self.invalid[reason], "draws") for reason in kinds]
        counts += [
            Count(f"{ATTEMPTS} invalid draws in a row", self.valid, given_up, "samples"),
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
    samples: Iterable[Sample], counts: _Counts, output: Path, provenance: Provenance, prompts: list[Prompt], system: str
) -> None:
    """Write the samples and, beside them, what the server said of each, in one pass."""

    def documents(writer: pq.ParquetWriter) -> Iterator[Document]:
        for some in in_batches(samples, ROWS_AT_ONCE):
            valid = [sample for sample in some if sample.sections]
            rows = [_row(sample, prompts, system) for sample in valid]
            writer.write_table(pa.Table.from_pylist(rows, SCHEMA))
            for sample in valid:
                sections = tuple(Section(title, text) for title, text in sample.sections)
                yield Document(_name(system, sample), "test", None, sections)
        if counts.valid < counts.samples / 2:
            raise MacroscopeError(
                f"system {system}: {counts.samples - counts.valid} of {counts.samples} samples had {ATTEMPTS} invalid"
                f" completions in a row; the model does not produce the format"
                f" {'W/' if counts.options.titles else 'W/O'} Title"
            )
        provenance.counts.extend(counts.found())

    with (
        atomic(output.with_name(COMPLETIONS)) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        write_documents(output, documents(writer), provenance)


def _row(sample: Sample, prompts: list[Prompt], system: str) -> dict[str, Any]:
    prompt = prompts[sample.index % len(prompts)].document
    known = {"id": _name(system, sample), "prompt_document": prompt, "attempt": sample.attempt, "seed": sample.seed}
    return known | sample.completion


def _name(system: str, sample: Sample) -> str:
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
    """Of everything that decides what a request asks for and of whom."""
    asked = options.model_dump(mode="json", exclude={"samples", "parallel", "timeout_seconds", "api_key_variable"})
    digest = hashlib.sha256(json.dumps([prompt.text for prompt in prompts]).encode()).hexdigest()
    return json.dumps({"options": asked, "seed": seed, "system": system, "prompts": digest}, sort_keys=True)
