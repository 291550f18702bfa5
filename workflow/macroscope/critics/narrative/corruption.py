"""Damaged segments of a corpus: which sentences go, and what takes the place of those replaced (cai2020 §3)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.critics.narrative.distractors import Pool, Replaced, replaced
from macroscope.critics.narrative.examples import NONE, Examples, examples_of, write_examples
from macroscope.critics.narrative.narratives import Narratives, corpus_narratives
from macroscope.critics.narrative.options import NarrativeOptions, PretrainingOptions, Task
from macroscope.critics.narrative.retrieval import Matches, best_matches
from macroscope.critics.narrative.segments import HELD_OUT, Drawing, Drawn, Segment, draw_segments, drawing_of
from macroscope.critics.narrative.similarity import BertScore
from macroscope.documents import SPLITS
from macroscope.files import atomic

ANY = 2.0
"""Above every similarity."""


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
    """Search for the matches of every `shards`-th sentence that will be replaced, from number `shard` on.

    Writes `numbers` and `scores` (see `retrieval.Matches`) of all splits, one after the other, with `split`.
    """
    narratives = corpus_narratives(documents, language)
    tables = []
    for split in (*SPLITS, HELD_OUT):
        work = _Work.of(narratives, _chosen(narratives, split), drawing_of(options, "discordant", split, seed), options)
        found = best_matches(work.pool.texts, work.texts[shard::shards], options.candidates, threads)
        tables.append(
            pa.table(
                {"split": [split] * len(found.numbers), "numbers": list(found.numbers), "scores": list(found.scores)}
            )
        )
    with atomic(output) as path:
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), path)


def corrupt(
    documents: Path,
    retrieved: Sequence[Path] | None = None,
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
        Matches in shards, from `retrieve`; default: they are searched for here.
    """
    narratives = corpus_narratives(documents, language)
    found, about = corrupted(narratives, options, task, seed, retrieved)
    with atomic(output) as path:
        write_examples(path, found, about)


def corrupted(
    narratives: Narratives,
    options: NarrativeOptions,
    task: Task,
    seed: int,
    retrieved: Sequence[Path] | None = None,
    splits: Sequence[str] = (*SPLITS, HELD_OUT),
    threads: int = 1,
) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Damage segments of splits: those of the train split, with some that are whole; one of each other narrative.

    Where whole segments are trained on, the validation split has one of each narrative besides the damaged one. As
    `HELD_OUT` there are narratives that are damaged as wholes.

    Returns
    -------
    (examples by split, what is to be said: counts by split)
    """
    examples, about = {}, {}
    score = _similarity(narratives, options, seed)
    for split in splits:
        chosen = _chosen(narratives, split)
        drawing = drawing_of(options, task, split, seed)
        work = _Work.of(narratives, chosen, drawing, options)
        matches = _gathered(retrieved, split) if retrieved else None
        examples[split], about[split] = damaged(work, options, matches, score, seed, threads)
        if split == "valid" and options.intact:
            whole = draw_segments(narratives, chosen, replace(drawing, intact=1.0))
            examples[split] = joined(examples[split], examples_of(narratives, whole.segments, task, {}))
    return examples, about


def _chosen(narratives: Narratives, split: str) -> list[int]:
    """Numbers of the narratives of a split, or of those that are held out."""
    if split == HELD_OUT:
        return narratives.of_split("test") or narratives.of_split("valid")
    return narratives.of_split(split)


def corrupted_for_pretraining(
    narratives: Narratives,
    options: NarrativeOptions,
    pretraining: PretrainingOptions,
    task: Task,
    seed: int,
    threads: int,
) -> tuple[dict[str, Examples], dict[str, Any]]:
    """Damage long segments of another corpus; see `corrupted`."""
    places = {name: getattr(pretraining, name) for name in ("sentences", "damaged", "draws")}
    return corrupted(narratives, options.model_copy(update=places), task, seed, None, ("train", "valid"), threads)


@dataclass(frozen=True)
class _Work:
    """The segments of a split, and which sentences of them are replaced by which of a pool.

    Attributes
    ----------
    places
        (number of the segment, place in it) of each sentence that is replaced.
    numbers
        Of these sentences.
    """

    narratives: Narratives
    drawn: Drawn
    task: Task
    places: list[tuple[int, int]]
    numbers: list[int]
    owners: np.ndarray
    pool: Pool

    @classmethod
    def of(cls, narratives: Narratives, chosen: Sequence[int], drawing: Drawing, options: NarrativeOptions) -> "_Work":
        drawn = draw_segments(narratives, chosen, drawing)
        if drawing.task == "missing":
            return cls(narratives, drawn, drawing.task, [], [], np.empty(0), Pool([], [], np.empty(0, dtype=np.int64)))
        places = [(number, place) for number, segment in enumerate(drawn.segments) for place in segment.places]
        numbers = [_number(narratives, drawn.segments[number], place) for number, place in places]
        of_sentences = np.repeat(narratives.families, narratives.lengths)
        # Published: of the entire corpus, so of all splits.
        offered = numbers if options.replacements == "exchanged" else range(len(narratives.sentences))
        pool = Pool.of(narratives.sentences, list(offered), of_sentences)
        return cls(narratives, drawn, drawing.task, places, numbers, of_sentences[numbers], pool)

    @property
    def texts(self) -> list[str]:
        """Sentences that are replaced."""
        return [self.narratives.sentences[number] for number in self.numbers]


def damaged(
    work: _Work,
    options: NarrativeOptions,
    matches: Matches | None,
    score: BertScore | None,
    seed: int,
    threads: int = 1,
) -> tuple[Examples, dict[str, Any]]:
    """Damage segments, and count what was not, or not in the first way.

    Parameters
    ----------
    score
        Tells which matches are too similar; None: none is.
    """
    about: dict[str, Any] = {
        "segments": len(work.drawn.segments),
        "narratives_too_short": work.drawn.too_short,
        "narratives_shorter_than_a_segment": work.drawn.shorter,
    }
    if not work.places:
        return examples_of(work.narratives, work.drawn.segments, work.task, {}), about
    found = _replaced(work, options, matches, score, seed, threads)
    replacements = {
        place: int(number) for place, number in zip(work.places, found.numbers, strict=True) if number != NONE
    }
    about |= {
        "replaced": len(replacements),
        "left_as_they_are": len(work.places) - len(replacements),
        "matches_that_say_the_same": found.same,
        "matches_too_similar": found.alike,
        "without_match": found.without,
        "similarity_of_random_sentences": None if score is None else score.baseline,
    }
    return examples_of(work.narratives, work.drawn.segments, work.task, replacements), about


def _replaced(
    work: _Work,
    options: NarrativeOptions,
    matches: Matches | None,
    score: BertScore | None,
    seed: int,
    threads: int,
) -> Replaced:
    matches = matches or best_matches(work.pool.texts, work.texts, options.candidates, threads)
    once = options.replacements == "exchanged"
    limit = ANY if options.similarity is None else options.similarity
    return replaced(work.texts, work.owners, work.pool, matches, score, limit, once, seed)


def _similarity(narratives: Narratives, options: NarrativeOptions, seed: int) -> BertScore | None:
    """How alike two sentences are, for all splits; None where every match is taken."""
    if options.similarity is None or not len(narratives.sentences):
        return None
    return BertScore(options.similarity_encoder or options.encoder, narratives.sentences, options.rescale, seed)


def joined(first: Examples, second: Examples) -> Examples:
    """Examples one after the other."""
    width = max(first.inputs.shape[1], second.inputs.shape[1])

    def padded(values: np.ndarray) -> np.ndarray:
        return np.pad(values, ((0, 0), (0, width - values.shape[1])), constant_values=NONE)

    both = [
        np.concatenate([padded(getattr(side, name)) for side in (first, second)])
        for name in ("inputs", "labels", "targets")
    ]
    return Examples(np.concatenate([first.narratives, second.narratives]), *both)


def _number(narratives: Narratives, segment: Segment, place: int) -> int:
    return int(narratives.starts[segment.narrative]) + segment.first + place


def _gathered(shards: Sequence[Path], split: str) -> Matches:
    """Matches of a split from all shards, in the order of the sentences."""
    parts = [pq.read_table(path, filters=[("split", "=", split)]) for path in shards]
    total = sum(len(part) for part in parts)
    width = next((len(part.column("numbers")[0]) for part in parts if len(part)), 0)
    found = Matches(np.empty((total, width), dtype=np.int64), np.empty((total, width), dtype=np.float32))
    for shard, part in enumerate(parts):
        if not len(part):
            continue
        for name in ("numbers", "scores"):
            values = part.column(name).combine_chunks().flatten().to_numpy()
            getattr(found, name)[shard :: len(parts)] = values.reshape(len(part), -1)
    return found
