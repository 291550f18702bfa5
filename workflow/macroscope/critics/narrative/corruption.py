"""Corruption of a corpus: segments with sentences removed or replaced (cai2020 §3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.narrative.checked_segments import CheckedSegment, make_checked_examples, read_lines
from macroscope.critics.narrative.distractors import (
    BertScore,
    Matches,
    Pool,
    Replacements,
    find_best_matches,
    find_replacements,
)
from macroscope.critics.narrative.examples import NONE, Examples, make_examples, write_examples
from macroscope.critics.narrative.options import NarrativeOptions, PretrainingOptions, Task
from macroscope.critics.narrative.segments import (
    HELD_OUT,
    SampledSegments,
    Segment,
    SegmentSampling,
    sample_segments,
    segment_sampling,
)
from macroscope.critics.narratives import Narratives
from macroscope.critics.sentence_vectors import read_corpus_narratives
from macroscope.documents import SPLITS
from macroscope.files import atomic

ANY = 2.0
"""A limit above every similarity: all matches are accepted."""


def retrieve(
    documents: Path,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    shard: int,
    shards: int,
    threads: int,
    output: Path,
) -> None:
    """Retrieve the matches of every `shards`-th sentence to be replaced, starting at number `shard`.

    The table has the columns `split`, `numbers` and `scores` (see `distractors.Matches`); splits follow each other.
    """
    narratives = read_corpus_narratives(documents, options.segmenter(language))
    tables = []
    for split in (*SPLITS, HELD_OUT):
        work = _Work.of(
            narratives,
            _narrative_numbers(narratives, split),
            segment_sampling(options, "discordant", split, seed),
            options,
        )
        matches = find_best_matches(work.pool.texts, work.texts[shard::shards], options.candidates, threads)
        tables.append(
            pa.table(
                {
                    "split": [split] * len(matches.numbers),
                    "numbers": list(matches.numbers),
                    "scores": list(matches.scores),
                }
            )
        )
    with atomic(output) as path:
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), path)


def corrupt(
    documents: Path,
    retrieved: Sequence[Path] | None = None,
    checked: Path | None = None,
    *,
    options: NarrativeOptions,
    language: str,
    seed: int,
    task: Task,
    output: Path,
) -> None:
    """Write the damaged segments of all splits for one task; see `examples.write_examples`.

    Parameters
    ----------
    retrieved
        Matches in shards, from `retrieve`; default: they are retrieved here.
    checked
        Segments that people have checked, in place of the test split's; see `checked_segments`.
    """
    narratives = read_corpus_narratives(documents, options.segmenter(language))
    examples, counts = corrupt_splits(narratives, options, task, seed, retrieved)
    if checked is not None:
        segments = read_lines(CheckedSegment, checked)
        examples["test"] = make_checked_examples(segments, narratives, task, checked)
        counts["test"] = {"segments": len(segments)}
    with atomic(output) as path:
        write_examples(path, examples, counts)


def corrupt_splits(
    narratives: Narratives,
    options: NarrativeOptions,
    task: Task,
    seed: int,
    retrieved: Sequence[Path] | None = None,
    splits: Sequence[str] = (*SPLITS, HELD_OUT),
    threads: int = 1,
) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Damage segments of all splits.

    The train split has several segments per narrative, a share of them intact; the other splits have one per
    narrative. If intact segments are trained on, the validation split has an intact one per narrative as well.
    Split `HELD_OUT` has whole narratives, damaged.

    Returns
    -------
    (examples by split, counts by split)
    """
    examples, counts = {}, {}
    score = _similarity(narratives, options, seed)

    def damage(split: str, chosen: Sequence[int], sampling: SegmentSampling) -> tuple[Examples, dict[str, Any]]:
        """Damage a split, whose search for matches leaves no memory to the next one."""
        work = _Work.of(narratives, chosen, sampling, options)
        matches = _read_matches(retrieved, split) if retrieved else None
        return damage_segments(work, options, matches, score, seed, threads)

    for split in splits:
        chosen = _narrative_numbers(narratives, split)
        sampling = segment_sampling(options, task, split, seed)
        examples[split], counts[split] = damage(split, chosen, sampling)
        if split == "valid" and options.intact:
            whole = sample_segments(narratives, chosen, replace(sampling, intact=1.0))
            examples[split] = concatenate(examples[split], make_examples(narratives, whole.segments, task, {}))
    return examples, counts


def _narrative_numbers(narratives: Narratives, split: str) -> list[int]:
    """Return the numbers of the narratives of a split, or of the held-out ones."""
    if split == HELD_OUT:
        return narratives.of_split("test") or narratives.of_split("valid")
    return narratives.of_split(split)


def corrupt_for_pretraining(
    narratives: Narratives,
    options: NarrativeOptions,
    pretraining: PretrainingOptions,
    task: Task,
    seed: int,
    threads: int,
) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Damage long segments of another corpus; see `corrupt_splits`."""
    segment_options = {name: getattr(pretraining, name) for name in ("sentences", "damaged", "draws")}
    return corrupt_splits(
        narratives, options.model_copy(update=segment_options), task, seed, None, ("train", "valid"), threads
    )


@dataclass(frozen=True)
class _Work:
    """The segments of a split, their sentences to be replaced, and the pool of replacements.

    Attributes
    ----------
    places
        (number of the segment, place in it) of each sentence to be replaced.
    numbers
        Numbers of these sentences in the collection.
    owners
        Number of the family of narratives of each of these sentences.
    """

    narratives: Narratives
    sampled: SampledSegments
    task: Task
    places: list[tuple[int, int]]
    numbers: list[int]
    owners: np.ndarray
    pool: Pool

    @classmethod
    def of(
        cls, narratives: Narratives, chosen: Sequence[int], sampling: SegmentSampling, options: NarrativeOptions
    ) -> "_Work":
        sampled = sample_segments(narratives, chosen, sampling)
        if sampling.task == "missing":
            return cls(
                narratives, sampled, sampling.task, [], [], np.empty(0), Pool([], [], np.empty(0, dtype=np.int64))
            )
        places = [(number, place) for number, segment in enumerate(sampled.segments) for place in segment.places]
        numbers = [_number(narratives, sampled.segments[number], place) for number, place in places]
        families = np.repeat(narratives.families, narratives.lengths)
        # As published, the pool is the entire corpus, all splits.
        pool_numbers = numbers if options.replacements == "exchanged" else range(len(narratives.sentences))
        pool = Pool.of(narratives.sentences, list(pool_numbers), families)
        return cls(narratives, sampled, sampling.task, places, numbers, families[numbers], pool)

    @property
    def texts(self) -> list[str]:
        return [self.narratives.sentences[number] for number in self.numbers]


def damage_segments(
    work: _Work,
    options: NarrativeOptions,
    matches: Matches | None,
    score: BertScore | None,
    seed: int,
    threads: int = 1,
) -> tuple[Examples, dict[str, Any]]:
    """Damage segments, and count the places left undamaged and the matches passed over.

    Parameters
    ----------
    score
        Similarity that rejects matches; None: no match is too similar.
    """
    counts: dict[str, Any] = {
        "segments": len(work.sampled.segments),
        "narratives_too_short": work.sampled.too_short,
        "narratives_shorter_than_a_segment": work.sampled.shorter,
    }
    if not work.places:
        return make_examples(work.narratives, work.sampled.segments, work.task, {}), counts
    outcome = _search_replacements(work, options, matches, score, seed, threads)
    replacements = {
        place: int(number) for place, number in zip(work.places, outcome.numbers, strict=True) if number != NONE
    }
    counts |= {
        "replaced": len(replacements),
        "left_as_they_are": len(work.places) - len(replacements),
        "matches_that_say_the_same": outcome.same,
        "matches_too_similar": outcome.similar,
        "without_match": outcome.unmatched,
        "similarity_of_random_sentences": None if score is None else score.baseline,
    }
    return make_examples(work.narratives, work.sampled.segments, work.task, replacements), counts


def _search_replacements(
    work: _Work,
    options: NarrativeOptions,
    matches: Matches | None,
    score: BertScore | None,
    seed: int,
    threads: int,
) -> Replacements:
    matches = matches or find_best_matches(work.pool.texts, work.texts, options.candidates, threads)
    once = options.replacements == "exchanged"
    limit = ANY if options.similarity is None else options.similarity
    return find_replacements(work.texts, work.owners, work.pool, matches, score, limit, once, seed)


def _similarity(narratives: Narratives, options: NarrativeOptions, seed: int) -> BertScore | None:
    """Return the similarity of sentences, the same for all splits; None if every match is accepted."""
    if options.similarity is None or not len(narratives.sentences):
        return None
    encoder = options.similarity_encoder or options.encoder
    return BertScore(encoder, narratives.sentences, options.rescale, seed, options.similarity_layer)


def concatenate(first: Examples, second: Examples) -> Examples:
    """Concatenate examples, padded to the same width."""
    width = max(first.inputs.shape[1], second.inputs.shape[1])

    def padded(values: np.ndarray) -> np.ndarray:
        return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=NONE)

    arrays = [
        np.concatenate([padded(getattr(examples, name)) for examples in (first, second)])
        for name in ("inputs", "labels", "targets")
    ]
    return Examples(np.concatenate([first.narratives, second.narratives]), *arrays)


def _number(narratives: Narratives, segment: Segment, place: int) -> int:
    return int(narratives.starts[segment.narrative]) + segment.first + place


def _read_matches(shards: Sequence[Path], split: str) -> Matches:
    """Read the matches of a split from all shards, in the order of the sentences."""
    parts = [pq.read_table(path, filters=[("split", "=", split)]) for path in shards]
    total = sum(len(part) for part in parts)
    width = next((len(part.column("numbers")[0]) for part in parts if len(part)), 0)
    matches = Matches(np.empty((total, width), dtype=np.int64), np.empty((total, width), dtype=np.float32))
    for shard, part in enumerate(parts):
        if not len(part):
            continue
        for name in ("numbers", "scores"):
            values = part.column(name).combine_chunks().flatten().to_numpy()
            getattr(matches, name)[shard :: len(parts)] = values.reshape(len(part), -1)
    return matches
