"""Rejection sampling: texts are parsed as documents, invalid ones generated again, and all counted and kept.

The collector knows nothing of models. A source of attempts is a function of a queue: it takes numbers of samples from
the queue and yields a text for each, in any order. The numbers of invalid texts return to the queue.
"""

import hashlib
import json
import logging
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from pydantic import TypeAdapter, ValidationError

from macroscope.documents import Count, Document, Provenance, Section, write_documents
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidSample, invalid_reasons, parse_sample
from macroscope.systems.tokenizer import join_words

log = logging.getLogger("macroscope")
D = TypeVar("D")
R = TypeVar("R")

HOPELESS = 400
"""Number of invalid attempts without a single valid one after which sampling stops with an error."""
BLOCK = 4096
"""Number of texts of a model over words that are generated together, from a random stream of their own."""


@dataclass(frozen=True)
class Attempt(Generic[D]):
    """A generated text of a sample.

    Attributes
    ----------
    cut
        Whether it was cut at the longest length.
    fault
        Reason why it is invalid whatever its text; "" if there is none.
    totals
        Amounts to sum over all attempts at the sample, such as generated tokens.
    data
        Data to keep with a valid text.
    """

    index: int
    text: str
    cut: bool
    fault: str = ""
    totals: dict[str, int] = field(default_factory=dict)
    data: D | None = None


@dataclass
class Sample(Generic[D]):
    """A valid sample, or one that was given up (no sections).

    Attributes
    ----------
    invalid
        Reasons of the invalid attempts, with their counts.
    empty_sections
        Number of sections without text that were removed (W/O Title).
    """

    index: int
    sections: tuple[Section, ...] = ()
    invalid: dict[str, int] = field(default_factory=dict)
    empty_sections: int = 0
    cut: bool = False
    totals: dict[str, int] = field(default_factory=dict)
    data: D | None = None

    @property
    def attempts(self) -> int:
        """Return the number of invalid attempts."""
        return sum(self.invalid.values())


Queue = deque[tuple[int, int]]
"""Numbers of samples to generate, with the number of the attempt."""
Source = Callable[[Queue], Iterator[Attempt[D]]]
"""Generator of attempts; see the module."""
TextGenerator = Callable[[int, np.random.Generator], Iterable[tuple[Sequence[str], bool]]]
"""Function of a number of texts and a random generator: the words of each text, and whether it was cut off."""


@dataclass(frozen=True)
class SampleCount:
    """A filter; functions of a sample return how many units it drops, and of how many (one per valid sample)."""

    filter: str
    unit: str
    dropped: Callable[[Sample[Any]], int]
    total: Callable[[Sample[Any]], int] = lambda sample: bool(sample.sections)


@dataclass(frozen=True)
class SamplingTask:
    """Samples to generate for a system.

    Attributes
    ----------
    indices
        Numbers of the samples.
    titles
        Whether a section begins with its title.
    longest
        Length of the longest sample, with its unit.
    advice
        Advice for the error message if most attempts are invalid.
    faults
        Values of `Attempt.fault`.
    counts
        Counts beyond those that all systems have.
    """

    system: str
    indices: range
    titles: bool
    longest: str
    advice: str
    faults: tuple[str, ...] = ()
    counts: Sequence[SampleCount] = ()

    def all_counts(self) -> list[SampleCount]:
        """Return the counts of everything that is dropped or changed, in their order in the metadata."""
        return [
            *map(_count_reason, (*invalid_reasons(self.titles), *self.faults)),
            SampleCount(f"{ATTEMPTS} invalid attempts in a row", "samples", lambda s: not s.sections, lambda s: 1),
            SampleCount(
                "section without text",
                "sections",
                lambda s: s.empty_sections,
                lambda s: s.empty_sections + len(s.sections),
            ),
            SampleCount(f"end of a sample beyond {self.longest}", "ends of samples", lambda s: s.cut),
            *self.counts,
        ]


def _count_reason(reason: str) -> SampleCount:
    def dropped(sample: Sample[Any]) -> int:
        return sample.invalid.get(reason, 0)

    return SampleCount(reason, "attempts", dropped, lambda s: dropped(s) + bool(s.sections))


def write_samples(output: Path, samples: Iterable[Sample[Any]], task: SamplingTask, provenance: Provenance) -> None:
    """Write the valid samples as documents; the counts of all are added to the provenance.

    Raises
    ------
    MacroscopeError
        If more than half of the samples were given up.
    """
    write_documents(output, _count_documents(samples, task, provenance), provenance)


def _count_documents(samples: Iterable[Sample[Any]], task: SamplingTask, provenance: Provenance) -> Iterator[Document]:
    counts = [(rule, Count(rule.filter, 0, 0, rule.unit)) for rule in task.all_counts()]
    given_up = 0
    for sample in samples:
        for rule, count in counts:
            dropped = rule.dropped(sample)
            count.kept += rule.total(sample) - dropped
            count.dropped += dropped
        if sample.sections:
            yield Document(format_id(task.system, sample.index), "test", None, sample.sections)
        else:
            given_up += 1
    if given_up > len(task.indices) / 2:
        raise MacroscopeError(
            f"system {task.system}: {given_up} of {len(task.indices)} samples had {ATTEMPTS} invalid attempts in a row;"
            f" {task.advice}"
        )
    provenance.counts.extend(count for _, count in counts)


def format_id(system: str, index: int) -> str:
    """Return the id of a sample, which sorts by its number."""
    return f"{system}-{index:07d}"


def parse_sample_number(name: str) -> int:
    """Return the number of a sample, from its id."""
    return int(name.rpartition("-")[2])


def generate_samples(
    indices: Iterable[int], source: Source[D], task: SamplingTask, has_valid: bool = False
) -> Iterator[Sample[D]]:
    """Generate until every sample is valid or given up, and yield each.

    It does not stop if there were valid samples before (`has_valid`): after a kill, hundreds of samples with invalid
    first attempts may be left.
    """
    queue: Queue = deque((index, 0) for index in indices)
    unfinished: dict[int, Sample[D]] = {}
    invalid = 0
    for attempt in source(queue):
        sample = unfinished.setdefault(attempt.index, Sample(attempt.index))
        if _is_valid(sample, attempt, task.titles):
            has_valid = True
            yield unfinished.pop(sample.index)
            continue
        invalid += 1
        if not has_valid and invalid >= HOPELESS:
            raise MacroscopeError(f"none of {invalid} attempts is a document of the format; {task.advice}")
        if sample.attempts < ATTEMPTS:
            queue.append((sample.index, sample.attempts))
        else:
            yield unfinished.pop(sample.index)


def _is_valid(sample: Sample[D], attempt: Attempt[D], titles: bool) -> bool:
    """Add an attempt to a sample, and return whether it is valid."""
    for name, amount in attempt.totals.items():
        sample.totals[name] = sample.totals.get(name, 0) + amount
    try:
        if attempt.fault:
            raise InvalidSample(attempt.fault)
        sample.sections, sample.empty_sections = parse_sample(attempt.text, titles)
    except InvalidSample as error:
        sample.invalid[str(error)] = sample.invalid.get(str(error), 0) + 1
        return False
    sample.cut, sample.data = attempt.cut, attempt.data
    return True


@contextmanager
def resumed_samples(
    output: Path, inputs: Any, row: Any, source: Source[D], task: SamplingTask
) -> Iterator[Iterator[Sample[D]]]:
    """Generate the samples that are not in the part file; yield all in order, and remove the part file at the end.

    The first three arguments are those of `PartialFile`; `row` is `Sample` with its type of data.

    Raises
    ------
    MacroscopeError
        If an attempt fails or all are invalid; the message says how many samples are kept.
    """
    part: PartialFile[Sample[D]] = PartialFile(output, inputs, row)
    kept = {sample.index: bool(sample.sections) for sample in part if sample.index in task.indices}
    missing = [index for index in task.indices if index not in kept]
    if kept:
        log.info("%s: resuming with %s of %s samples finished", task.system, f"{len(kept):,}", f"{len(task.indices):,}")
    with Progress(f"sample {task.system}", len(task.indices), "samples") as bar:
        done = len(kept)
        bar.advance(done)
        try:
            for sample in generate_samples(missing, source, task, any(kept.values())) if missing else ():
                part.append(sample)
                bar.advance(1)
                done += 1
        except MacroscopeError as error:
            resumption = f"; {done:,} of {len(task.indices):,} samples are kept, and the next run resumes from them"
            raise MacroscopeError(f"system {task.system}: {error}{resumption if done else ''}") from None
    # The part file may have more samples than are requested now.
    yield (sample for sample in part.sorted_by("index") if sample.index in task.indices)
    part.remove()


def write_texts(output: Path, generate: TextGenerator, task: SamplingTask, provenance: Provenance, seed: int) -> None:
    """Generate and write the samples of a model over words, block by block; raise the errors of the collector."""
    write_samples(output, _generate_blocks(generate, task, seed), task, provenance)


def _generate_blocks(generate: TextGenerator, task: SamplingTask, seed: int) -> Iterator[Sample[None]]:
    with Progress(f"sample {task.system}", len(task.indices), "samples") as bar:
        for block, start in enumerate(range(0, len(task.indices), BLOCK)):
            indices = task.indices[start : start + BLOCK]
            source = _generate_rounds(generate, (seed, zlib.crc32(task.system.encode()), block))
            yield from sorted(generate_samples(indices, source, task, block > 0), key=lambda sample: sample.index)
            bar.advance(len(indices))


def _generate_rounds(generate: TextGenerator, key: tuple[int, ...]) -> Source[None]:
    """Return the source of a block: all samples that are missing are generated together, in each round."""

    def source(queue: Queue) -> Iterator[Attempt[None]]:
        while queue:
            indices, attempt = [index for index, _ in queue], queue[0][1]
            queue.clear()
            texts = generate(len(indices), np.random.default_rng([*key, attempt]))
            for index, (words, cut) in zip(indices, texts, strict=True):
                yield Attempt(index, join_words(words), cut)

    return source


class PartialFile(Generic[R]):
    """Finished rows of a file that is not complete yet: JSON Lines after a line with the digest of all inputs.

    Parameters
    ----------
    output
        File to be written; the rows are kept beside it in `<output>.part.jsonl`.
    inputs
        Everything that the rows depend on, as JSON. Rows of other inputs are dropped, and so are lines that are not
        rows: a torn last one, and whatever else a crash may leave.
    row
        Dataclass of a row; its annotations are the schema.
    """

    def __init__(self, output: Path, inputs: Any, row: type[R]) -> None:
        self.path = output.with_name(output.name + ".part.jsonl")
        self._header = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest().encode() + b"\n"
        self._row: TypeAdapter[R] = TypeAdapter(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self._is_current():
            self._keep_rows()
        else:
            self.path.write_bytes(self._header)

    def __iter__(self) -> Iterator[R]:
        """Iterate over the rows in the order in which they were finished."""
        yield from (self._row.validate_json(line, strict=True) for line in self._lines())

    def append(self, row: R) -> None:
        """Append a finished row and write it at once."""
        fields: dict[str, Any] = asdict(row)  # type: ignore[call-overload]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

    def sorted_by(self, key: str) -> Iterator[R]:
        """Yield the rows sorted by a numeric field; only the rows' positions are kept in memory."""
        positions, position = [], len(self._header)
        for line in self._lines():
            positions.append((getattr(self._row.validate_json(line, strict=True), key), position))
            position += len(line)
        with self.path.open("rb") as file:
            for _, start in sorted(positions):
                file.seek(start)
                yield self._row.validate_json(file.readline(), strict=True)

    def remove(self) -> None:
        """Remove the rows once the file is complete."""
        self.path.unlink(missing_ok=True)

    def _is_current(self) -> bool:
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            return file.read(len(self._header)) == self._header

    def _lines(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            file.seek(len(self._header))
            yield from file

    def _keep_rows(self) -> None:
        """Remove the lines that are not rows; the file is replaced as a whole."""
        kept = self.path.with_name(self.path.name + ".kept")
        dropped = 0
        with kept.open("wb") as file:
            file.write(self._header)
            for line in self._lines():
                if self._is_row(line):
                    file.write(line)
                else:
                    dropped += 1
        if dropped:
            log.info("%s: %d lines are not finished rows; these are made again", self.path, dropped)
            os.replace(kept, self.path)
        else:
            kept.unlink()

    def _is_row(self, line: bytes) -> bool:
        try:
            self._row.validate_json(line, strict=True)
        except ValidationError:
            return False
        return line.endswith(b"\n")
