"""Segments of narratives and the places of damage in them, sampled without reading the text (cai2020 §3).

Of M consecutive sentences K are damaged. Missing: they are removed, never the first or last one, never two adjacent
ones, so that M - K sentences with M - K - 1 slots are left, K of which are gaps. Discordant: K of the M sentences are
replaced.

A share of the training segments may stay intact. Only the text may distinguish these from damaged ones: they have the
same lengths, and contain the beginning and the end of a narrative as often. If sentences are removed, this requires
narratives with K sentences more than the segment: in a shorter one, the damaged segment would always contain both the
beginning and the end, and an intact one of the same length never would.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.critics.narratives import Narratives
from macroscope.systems.perturbation.sentences import sample_non_adjacent


@dataclass(frozen=True, slots=True)
class Segment:
    """Consecutive sentences of a narrative.

    Attributes
    ----------
    narrative
        Number of the narrative.
    first, length
        Number of the first sentence within the narrative, and number of sentences before damage.
    places
        Positions of the damaged sentences, from 0; empty in an intact segment.
    """

    narrative: int
    first: int
    length: int
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class SegmentSampling:
    """Options of sampling segments.

    Attributes
    ----------
    task
        "missing" or "discordant".
    sentences, damaged
        M and K.
    draws
        Number of segments per narrative.
    intact
        Share of intact segments, between 0 and 1.
    balanced
        Whether the corpus has intact segments, in this split or another one.
    seed
        Seed that gives, together with its id, each narrative its own random numbers.
    """

    task: Task
    sentences: int
    damaged: int
    draws: int
    intact: float
    balanced: bool
    seed: int

    @property
    def spare(self) -> int:
        """Return the number of sentences that a narrative must have beyond the segment."""
        return self.damaged if self.task == "missing" and self.balanced else 0

    @property
    def fewest(self) -> int:
        """Return the number of sentences of the shortest narrative that can be damaged and still has intact places."""
        return 2 * self.damaged + 1 + self.spare


HELD_OUT = "held_out"
"""Name of the split of whole damaged narratives, from the test split or, if it is empty, the validation split."""
WHOLE = 1 << 30
"""Number of sentences of a segment that spans any narrative."""


def segment_sampling(options: NarrativeOptions, task: Task, split: str, seed: int) -> SegmentSampling:
    """Return how segments of a split are sampled: except in training, one damaged segment per narrative.

    Held-out narratives are damaged anywhere, as a system's texts may be, but keep their first and last sentences.
    """
    if split == HELD_OUT:
        return SegmentSampling(task, WHOLE, options.damaged, 1, 0.0, False, seed)
    training = split == "train"
    return SegmentSampling(
        task,
        options.sentences,
        options.damaged,
        options.draws if training else 1,
        options.intact if training else 0.0,
        options.intact > 0,
        seed,
    )


@dataclass
class SampledSegments:
    """Sampled segments, and counts of short narratives.

    Attributes
    ----------
    segments
        Segments in the order of the narratives.
    shorter
        Number of narratives too short for a full segment, which have shorter segments.
    too_short
        Number of narratives too short to be damaged, which are left out.
    """

    segments: list[Segment] = field(default_factory=list)
    shorter: int = 0
    too_short: int = 0


def sample_segments(narratives: Narratives, indices: Sequence[int], sampling: SegmentSampling) -> SampledSegments:
    """Sample segments from the narratives with these indices; no two of a narrative have the same damage."""
    sampled = SampledSegments()
    for number in indices:
        length = int(narratives.lengths[number])
        if length < sampling.fewest:
            sampled.too_short += 1
            continue
        sampled.shorter += length < sampling.sentences + sampling.spare
        # Not by the id: the same texts in a file of another name, or in a list, have the same segments.
        sentences = narratives.sentences[narratives.starts[number] : narratives.starts[number + 1]]
        rng = np.random.default_rng([sampling.seed, crc32("\n".join(sentences).encode())])
        segments = list(_sample_narrative(number, length, sampling, rng))
        # Repeated intact segments stay: they have fewer variants, and dropping them would lower their share.
        sampled.segments += [s for n, s in enumerate(segments) if not (s.places and s in segments[:n])]
    return sampled


def _sample_narrative(
    number: int, length: int, sampling: SegmentSampling, rng: np.random.Generator
) -> Iterator[Segment]:
    size = min(sampling.sentences, length - sampling.spare)
    for _ in range(sampling.draws):
        first = int(rng.integers(length - size + 1))
        if rng.random() < sampling.intact:
            yield Segment(number, _intact_start(first, size, length, sampling, rng), size - sampling.spare)
        else:
            yield Segment(number, first, size, _sample_places(size, sampling, rng))


def _intact_start(first: int, size: int, length: int, sampling: SegmentSampling, rng: np.random.Generator) -> int:
    """Return the first sentence of an intact segment as long as a segment from `first` on is after damage.

    It begins or ends the narrative if the damaged segment would; otherwise its position is random.
    """
    if first == 0:
        return 0
    if first == length - size:
        return first + sampling.spare
    return int(rng.integers(first, first + sampling.spare + 1))


def _sample_places(size: int, sampling: SegmentSampling, rng: np.random.Generator) -> tuple[int, ...]:
    if sampling.task == "missing":
        chosen = 1 + sample_non_adjacent(size - 2, sampling.damaged, rng)
    else:
        chosen = np.sort(rng.permutation(size)[: sampling.damaged])
    return tuple(int(place) for place in chosen)
