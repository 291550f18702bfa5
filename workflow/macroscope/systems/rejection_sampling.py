"""Rejection sampling from models over words: parse texts as documents, generate invalid ones again, count all."""

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from macroscope.documents import Count, Document, Provenance, Section
from macroscope.errors import MacroscopeError
from macroscope.progress import Progress
from macroscope.systems.formats import ATTEMPTS, InvalidSample, invalid_reasons, parse_sample
from macroscope.systems.tokenizer import join_words

TextGenerator = Callable[[int, np.random.Generator], Iterable[tuple[Sequence[str], bool]]]
"""Function of a number of texts and a random generator: the words of each text, and whether it was cut off."""

BLOCK = 4096
"""Number of samples that are generated together, from a random stream of their own."""


@dataclass(frozen=True)
class SamplingTask:
    """A number of samples to generate for a system.

    Attributes
    ----------
    system
        Name of the system; the prefix of the samples' ids.
    samples
        Number of valid samples.
    titles
        Whether a section begins with its title.
    max_tokens
        Number of words of the longest sample.
    remedy
        Advice for the error message if most attempts are invalid.
    """

    system: str
    samples: int
    titles: bool
    max_tokens: int
    remedy: str


@dataclass
class _Tally:
    """Counts that accumulate while sampling."""

    invalid: Counter[str]
    cut: int = 0
    empty_sections: int = 0
    sections: int = 0
    given_up: int = 0


def generate_documents(
    generate: TextGenerator, task: SamplingTask, provenance: Provenance, seed: int
) -> Iterator[Document]:
    """Generate all samples, block by block; the counts are added to the provenance at the end.

    Raises
    ------
    MacroscopeError
        If all attempts were invalid for more than half of the samples.
    """
    tally = _Tally(Counter())
    with Progress(f"sample {task.system}", task.samples, "samples") as bar:
        for block, start in enumerate(range(0, task.samples, BLOCK)):
            indices = range(start, min(start + BLOCK, task.samples))
            for index, sections in _generate_block(generate, task, indices, (seed, block), tally):
                yield Document(f"{task.system}-{index:07d}", "test", None, sections)
            bar.advance(len(indices))
    if tally.given_up > task.samples / 2:
        raise MacroscopeError(
            f"system {task.system}: {tally.given_up} of {task.samples} samples had {ATTEMPTS} invalid attempts in"
            f" a row; {task.remedy}"
        )
    provenance.counts.extend(_counts(tally, task))


def _counts(tally: _Tally, task: SamplingTask) -> list[Count]:
    valid = task.samples - tally.given_up
    return [
        *(Count(reason, valid, tally.invalid[reason], "attempts") for reason in invalid_reasons(task.titles)),
        Count(f"{ATTEMPTS} invalid attempts in a row", valid, tally.given_up, "samples"),
        Count("section without text", tally.sections, tally.empty_sections, "sections"),
        Count(f"end of a sample beyond {task.max_tokens} tokens", valid - tally.cut, tally.cut, "ends of samples"),
    ]


def _generate_block(
    generate: TextGenerator, task: SamplingTask, indices: range, key: tuple[int, int], tally: _Tally
) -> Iterator[tuple[int, tuple[Section, ...]]]:
    """Generate the samples of a block, and invalid ones again; yield the valid ones by index."""
    seed, block = key
    valid: dict[int, tuple[Section, ...]] = {}
    for attempt in range(ATTEMPTS):
        missing = [index for index in indices if index not in valid]
        if not missing:
            break
        rng = np.random.default_rng([seed, zlib.crc32(task.system.encode()), block, attempt])
        for index, (words, cut) in zip(missing, generate(len(missing), rng), strict=True):
            sections = _parse(words, cut, task.titles, tally)
            if sections:
                valid[index] = sections
    tally.given_up += len(indices) - len(valid)
    yield from sorted(valid.items())


def _parse(words: Sequence[str], cut: bool, titles: bool, tally: _Tally) -> tuple[Section, ...]:
    """Parse the sections of a text; return none if it is invalid."""
    try:
        sections, empty = parse_sample(join_words(words), titles)
    except InvalidSample as error:
        tally.invalid[str(error)] += 1
        return ()
    tally.cut += cut
    tally.empty_sections += empty
    tally.sections += len(sections)
    return sections
