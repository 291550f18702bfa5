"""Segments of narratives, and where they are damaged (cai2020 §3); no text is looked at.

Of M consecutive sentences K are damaged. Missing: they are removed, never the first or last one, never two side by
side, so that M - K sentences with M - K - 1 slots are left, K of which are gaps. Discordant: K of the M sentences are
replaced.

A share of the training segments may stay as it is. Nothing but the text must tell these from damaged ones: they have
the same lengths, and hold the beginning and the end of a narrative as often. Where sentences are removed that takes a
narrative with K sentences more than the segment: of one that is no longer, the damaged segment would always have both
its beginning and its end, and a whole one of the same length never.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from macroscope.critics.narrative.narratives import Narratives
from macroscope.critics.narrative.options import NarrativeOptions, Task
from macroscope.systems.perturbation.sentences import not_adjacent


@dataclass(frozen=True)
class Segment:
    """Consecutive sentences of a narrative.

    Attributes
    ----------
    narrative
        Its number.
    first, length
        Number of its first sentence, within the narrative; sentences before damage.
    places
        Which of these are damaged, from 0; none in a segment that is left as it is.
    """

    narrative: int
    first: int
    length: int
    places: tuple[int, ...] = ()


@dataclass(frozen=True)
class Drawing:
    """How segments are drawn.

    Attributes
    ----------
    task
        "missing" or "discordant".
    sentences, damaged
        M and K.
    draws
        Segments of a narrative.
    intact
        Share of them that is left as it is, between 0 and 1.
    balanced
        Whether segments of the corpus are left as they are at all, in this drawing or another one.
    seed
        Each narrative has random numbers of its own, from this and its id.
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
        """Sentences that a narrative has more than a segment."""
        return self.damaged if self.task == "missing" and self.balanced else 0

    @property
    def fewest(self) -> int:
        """Sentences of the shortest narrative that can be damaged, with something left that is whole."""
        return 2 * self.damaged + 1 + self.spare


HELD_OUT = "held_out"
"""Name of whole narratives of the test split, or without one of the validation split, that are damaged as wholes."""
WHOLE = 1 << 30
"""Sentences of a segment that is a narrative, however long."""


def drawing_of(options: NarrativeOptions, task: Task, split: str, seed: int) -> Drawing:
    """How segments of a split are drawn: other splits than that for training have one, damaged segment a narrative.

    Held-out narratives are damaged anywhere, as a system's texts may be; none lacks its first or last sentence.
    """
    if split == HELD_OUT:
        return Drawing(task, WHOLE, options.damaged, 1, 0.0, False, seed)
    training = split == "train"
    return Drawing(
        task,
        options.sentences,
        options.damaged,
        options.draws if training else 1,
        options.intact if training else 0.0,
        options.intact > 0,
        seed,
    )


@dataclass
class Drawn:
    """Segments, and what was not drawn from.

    Attributes
    ----------
    segments
        In the order of the narratives.
    shorter
        Narratives that are too short for a whole segment: theirs are shorter.
    too_short
        Narratives with so few that they cannot be damaged: left out.
    """

    segments: list[Segment] = field(default_factory=list)
    shorter: int = 0
    too_short: int = 0


def draw_segments(narratives: Narratives, chosen: Sequence[int], drawing: Drawing) -> Drawn:
    """Draw segments from those narratives that are chosen; of one, no two are damaged in the same way."""
    drawn = Drawn()
    for number in chosen:
        length = int(narratives.lengths[number])
        if length < drawing.fewest:
            drawn.too_short += 1
            continue
        drawn.shorter += length < drawing.sentences + drawing.spare
        rng = np.random.default_rng([drawing.seed, crc32(narratives.ids[number].encode())])
        some = list(_of_narrative(number, length, drawing, rng))
        # Dropping whole ones that repeat, too, would leave fewer of these: there are fewer different ones.
        drawn.segments += [s for n, s in enumerate(some) if not (s.places and s in some[:n])]
    return drawn


def _of_narrative(number: int, length: int, drawing: Drawing, rng: np.random.Generator) -> Iterator[Segment]:
    size = min(drawing.sentences, length - drawing.spare)
    for _ in range(drawing.draws):
        first = int(rng.integers(length - size + 1))
        if rng.random() < drawing.intact:
            yield Segment(number, _shifted(first, size, length, drawing, rng), size - drawing.spare)
        else:
            yield Segment(number, first, size, _places(size, drawing, rng))


def _shifted(first: int, size: int, length: int, drawing: Drawing, rng: np.random.Generator) -> int:
    """First sentence of a whole segment, of the length that a damaged one from `first` on would have.

    It begins, or ends, the narrative where the damaged one would; one between these lies anywhere.
    """
    if first == 0:
        return 0
    if first == length - size:
        return first + drawing.spare
    return int(rng.integers(first, first + drawing.spare + 1))


def _places(size: int, drawing: Drawing, rng: np.random.Generator) -> tuple[int, ...]:
    if drawing.task == "missing":
        chosen = 1 + not_adjacent(size - 2, drawing.damaged, rng)
    else:
        chosen = np.sort(rng.permutation(size)[: drawing.damaged])
    return tuple(int(place) for place in chosen)
