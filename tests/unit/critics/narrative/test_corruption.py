"""Damaged segments of a corpus: its splits, its counts, and the search shared among jobs."""

import numpy as np
import pytest

from macroscope.critics.narrative.corruption import corrupt, corrupted, corrupted_for_pretraining, retrieve
from macroscope.critics.narrative.examples import NONE, read_examples
from macroscope.critics.narrative.options import NarrativeOptions, PretrainingOptions
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.documents import Document, Provenance, Section, write_documents

from .made import random_sentences, told

SPLITS = ["train"] * 30 + ["valid"] * 6 + ["test"] * 9


def options(**given):
    return NarrativeOptions(**{"similarity": None, "draws": 2} | given)


def narratives(splits=SPLITS, sentences=12):
    return told(
        [sentences] * len(splits), splits=splits, write=random_sentences(sentences * len(splits), 6, 300, 0).__getitem__
    )


def write(folder, splits=SPLITS):
    lines = random_sentences(12 * len(splits), 6, 300, 0)
    documents = [
        Document(f"n{n}", split, None, (Section(None, "x"),), tuple(lines[12 * n : 12 * n + 12]))
        for n, split in enumerate(splits)
    ]
    write_documents(folder / "documents.parquet", documents, Provenance("x"))
    return folder / "documents.parquet"


@pytest.mark.parametrize("task", ["missing", "discordant"])
def test_every_split_is_damaged_and_only_training_and_validation_have_whole_segments(task):
    made = narratives()
    examples, about = corrupted(made, options(intact=0.4, draws=5), task, 1)
    for split, found in examples.items():
        assert {made.splits[number] for number in found.narratives} == {"test" if split == HELD_OUT else split}
        own = np.repeat(found.narratives, found.inputs.shape[1]).reshape(found.inputs.shape) * 12
        true = np.where(found.targets != NONE, found.targets, found.inputs)
        inside = (true >= own) & (true < own + 12)
        assert inside[found.inputs != NONE].all()
    assert examples["test"].damaged.sum() >= 9 - (task == "discordant")
    assert len(examples["test"]) == about["test"]["segments"] == 9
    assert examples["valid"].damaged[:5].all()
    assert not examples["valid"].damaged[6:].any()
    assert 0.5 < examples["train"].damaged.mean() < 0.8
    assert len(corrupted(made, options(intact=0.0), task, 1)[0]["valid"]) == 6


def test_targets_are_the_sentences_that_were_there():
    made = narratives()
    for task in ("missing", "discordant"):
        found = corrupted(made, options(), task, 1)[0]["train"]
        assert ((found.targets != NONE) == (found.labels == 1)).all()
        rows, places = np.nonzero(found.labels == 1)
        targets = found.targets[rows, places]
        if task == "missing":
            assert (found.inputs[rows, places] == targets - 1).all()
            assert (found.inputs[rows, places + 1] == targets + 1).all()
        else:
            assert (found.inputs[rows, places] // 12 != found.narratives[rows]).all()


def test_pretraining_damages_a_quarter_of_long_segments():
    made = narratives(["train"] * 30 + ["valid"] * 3, sentences=30)
    pretraining = PretrainingOptions(corpus="x")
    examples, _ = corrupted_for_pretraining(made, options(intact=0.0), pretraining, "discordant", 1, 1)
    train = examples["train"]
    assert "test" not in examples
    assert train.inputs.shape[1] == 16
    assert ((train.labels == 1).sum(axis=1) == 4).all()
    assert len(train) == 30 * 4


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@pytest.mark.parametrize("replacements", ["exchanged", "corpus"])
@pytest.mark.parametrize("shards", [1, 4])
def test_jobs_that_share_the_search_find_the_same(replacements, shards, tmp_path):
    path, asked = write(tmp_path), options(replacements=replacements)
    found = []
    for shard in range(shards):
        found.append(tmp_path / f"{shard}.parquet")
        retrieve(
            path,
            options=asked,
            language="en",
            seed=1,
            shard=shard,
            shards=shards,
            threads=1,
            output=found[-1],
        )
    shared = {"options": asked, "language": "en", "seed": 1, "task": "discordant"}
    corrupt(path, found, **shared, output=tmp_path / "shared.parquet")
    corrupt(path, **shared, output=tmp_path / "alone.parquet")
    (ours, about), (theirs, expected) = (read_examples(tmp_path / f"{name}.parquet") for name in ("shared", "alone"))
    assert about == expected
    assert all(same(ours[split], theirs[split]) for split in theirs)


@pytest.mark.parametrize("splits", [["train"] * 30 + ["valid"] * 2, ["train"] * 3])
def test_a_split_with_fewer_sentences_than_jobs_is_no_error(splits, tmp_path):
    path, asked = write(tmp_path, splits), options()
    found = []
    for shard in range(4):
        found.append(tmp_path / f"{shard}.parquet")
        retrieve(path, options=asked, language="en", seed=1, shard=shard, shards=4, threads=1, output=found[-1])
    corrupt(path, found, options=asked, language="en", seed=1, task="discordant", output=tmp_path / "c.parquet")
    assert len(read_examples(tmp_path / "c.parquet")[0]["train"])


def test_a_corpus_without_a_test_split_is_damaged(tmp_path):
    found, about = corrupted(narratives(["train"] * 9 + ["valid"] * 2), options(), "discordant", 1)
    assert len(found["test"]) == 0
    assert about["test"]["segments"] == 0
