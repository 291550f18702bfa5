"""Tests of corruption: splits, counts, and retrieval in shards."""

import numpy as np
import pytest

from macroscope.critics.narrative.corruption import corrupt, corrupt_for_pretraining, corrupt_splits, retrieve
from macroscope.critics.narrative.examples import NONE, read_examples
from macroscope.critics.narrative.options import NarrativeOptions, PretrainingOptions
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.documents import Document, Provenance, Section, write_documents

from .made import make_narratives, random_sentences

SPLITS = ["train"] * 30 + ["valid"] * 6 + ["test"] * 9


def options(**given):
    return NarrativeOptions(**{"similarity": None, "draws": 2} | given)


def narratives(splits=SPLITS, sentences=12):
    return make_narratives(
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
def test_all_splits_are_damaged_and_only_training_and_validation_have_intact_segments(task):
    corpus = narratives()
    examples, counts = corrupt_splits(corpus, options(intact=0.4, draws=5), task, 1)
    for split, split_examples in examples.items():
        assert {corpus.splits[number] for number in split_examples.narratives} == {
            "test" if split == HELD_OUT else split
        }
        first_numbers = (
            np.repeat(split_examples.narratives, split_examples.inputs.shape[1]).reshape(split_examples.inputs.shape)
            * 12
        )
        true = np.where(split_examples.targets != NONE, split_examples.targets, split_examples.inputs)
        inside = (true >= first_numbers) & (true < first_numbers + 12)
        assert inside[split_examples.inputs != NONE].all()
    assert examples["test"].damaged.sum() >= 9 - (task == "discordant")
    assert len(examples["test"]) == counts["test"]["segments"] == 9
    assert examples["valid"].damaged[:5].all()
    assert not examples["valid"].damaged[6:].any()
    assert 0.5 < examples["train"].damaged.mean() < 0.8
    assert len(corrupt_splits(corpus, options(intact=0.0), task, 1)[0]["valid"]) == 6


def test_targets_are_the_original_sentences():
    corpus = narratives()
    for task in ("missing", "discordant"):
        train = corrupt_splits(corpus, options(), task, 1)[0]["train"]
        assert ((train.targets != NONE) == (train.labels == 1)).all()
        rows, places = np.nonzero(train.labels == 1)
        targets = train.targets[rows, places]
        if task == "missing":
            assert (train.inputs[rows, places] == targets - 1).all()
            assert (train.inputs[rows, places + 1] == targets + 1).all()
        else:
            assert (train.inputs[rows, places] // 12 != train.narratives[rows]).all()


def test_pretraining_damages_a_quarter_of_long_segments():
    corpus = narratives(["train"] * 30 + ["valid"] * 3, sentences=30)
    pretraining = PretrainingOptions(corpus="x")
    examples, _ = corrupt_for_pretraining(corpus, options(intact=0.0), pretraining, "discordant", 1, 1)
    train = examples["train"]
    assert "test" not in examples
    assert train.inputs.shape[1] == 16
    assert ((train.labels == 1).sum(axis=1) == 4).all()
    assert len(train) == 30 * 4


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in vars(a))


@pytest.mark.slow
@pytest.mark.parametrize("replacements", ["exchanged", "corpus"])
@pytest.mark.parametrize("shards", [1, 4])
def test_shards_give_the_same_result_as_one_job(replacements, shards, tmp_path):
    path, shard_options = write(tmp_path), options(replacements=replacements)
    shard_paths = []
    for shard in range(shards):
        shard_paths.append(tmp_path / f"{shard}.parquet")
        retrieve(
            path,
            options=shard_options,
            language="en",
            seed=1,
            shard=shard,
            shards=shards,
            threads=1,
            output=shard_paths[-1],
        )
    shared = {"options": shard_options, "language": "en", "seed": 1, "task": "discordant"}
    corrupt(path, shard_paths, **shared, output=tmp_path / "shared.parquet")
    corrupt(path, **shared, output=tmp_path / "alone.parquet")
    (examples, counts), (expected_examples, expected) = (
        read_examples(tmp_path / f"{name}.parquet") for name in ("shared", "alone")
    )
    assert counts == expected
    assert all(same(examples[split], expected_examples[split]) for split in expected_examples)


@pytest.mark.parametrize("splits", [["train"] * 30 + ["valid"] * 2, ["train"] * 3])
def test_split_may_have_fewer_sentences_than_shards(splits, tmp_path):
    path, shard_options = write(tmp_path, splits), options()
    shard_paths = []
    for shard in range(4):
        shard_paths.append(tmp_path / f"{shard}.parquet")
        retrieve(
            path, options=shard_options, language="en", seed=1, shard=shard, shards=4, threads=1, output=shard_paths[-1]
        )
    corrupt(
        path,
        shard_paths,
        options=shard_options,
        language="en",
        seed=1,
        task="discordant",
        output=tmp_path / "c.parquet",
    )
    assert len(read_examples(tmp_path / "c.parquet")[0]["train"])


def test_corpus_without_a_test_split(tmp_path):
    examples, counts = corrupt_splits(narratives(["train"] * 9 + ["valid"] * 2), options(), "discordant", 1)
    assert len(examples["test"]) == 0
    assert counts["test"]["segments"] == 0
