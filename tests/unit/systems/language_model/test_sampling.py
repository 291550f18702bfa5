"""Shards of samples do not depend on their number, and are complete after a kill."""

import pytest

from macroscope.documents import read_documents, read_provenance
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.sampling import merge_shards, sample_shard
from macroscope.systems.rejection_sampling import PartialFile
from macroscope.systems.tokenizer import train_words

from ..conftest import VOCABULARY, tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory, letters):
    """Folder of a random model over the letters of a tiny byte-level vocabulary."""
    folder = tmp_path_factory.mktemp("model")
    tiny_model("gpt2", scale=1.0).save_pretrained(folder)
    letters.save_pretrained(folder)
    return folder


def options(**changes):
    defaults = {
        "kind": "language_model",
        "base": "x",
        "titles": False,
        "samples": 10,
        "batch_size": 4,
        "max_tokens": 50,
        "stride": 4,
    }
    return LanguageModelSystem(**(defaults | changes))


def documents(path):
    return [(d.id, d.sections) for d in read_documents(path)]


@pytest.mark.slow
def test_samples_do_not_depend_on_the_number_of_shards(model, tmp_path):
    for shards in (1, 3):
        paths = [tmp_path / f"{shards}-{shard}.parquet" for shard in range(shards)]
        for shard, path in enumerate(paths):
            sample_shard(model, path, options(), system="lm", seed=1, shard=shard, shards=shards)
        merge_shards(paths, tmp_path / f"{shards}.parquet", "corpus")
    assert documents(tmp_path / "1.parquet") == documents(tmp_path / "3.parquet")
    assert len(documents(tmp_path / "1.parquet")) == 10
    single, three = (read_provenance(tmp_path / f"{n}.parquet") for n in (1, 3))
    assert {c.filter: (c.kept, c.dropped) for c in single.counts} == {
        c.filter: (c.kept, c.dropped) for c in three.counts
    }
    assert single.source["tokens"] == three.source["tokens"]


@pytest.mark.slow
def test_another_seed_gives_other_samples(model, tmp_path):
    for seed in (1, 2):
        sample_shard(model, tmp_path / f"{seed}", options(), system="lm", seed=seed, shard=0, shards=1)
    assert documents(tmp_path / "1") != documents(tmp_path / "2")


@pytest.mark.slow
def test_a_killed_shard_resumes_and_ends_the_same(model, tmp_path, monkeypatch):
    sample_shard(model, tmp_path / "whole", options(), system="lm", seed=1, shard=0, shards=1)
    append, appended = PartialFile.append, []

    def dies_after_four(self, sample):
        if len(appended) == 4:
            raise KeyboardInterrupt
        appended.append(sample.index)
        append(self, sample)

    monkeypatch.setattr(PartialFile, "append", dies_after_four)
    with pytest.raises(KeyboardInterrupt):
        sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    monkeypatch.setattr(PartialFile, "append", lambda self, s: (appended.append(s.index), append(self, s)))
    sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    assert sorted(appended) == list(range(10))
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.slow
def test_words_outside_a_closed_vocabulary_are_counted(model, tmp_path):
    word_model = tmp_path / "model-of-words"
    tiny_model("gpt2", scale=1.0).save_pretrained(word_model)
    train_words(iter(["one two three four five six seven eight nine ten"]), VOCABULARY).save_pretrained(word_model)
    counts = {}
    for name, folder in (("bytes", model), ("words", word_model)):
        sample_shard(folder, tmp_path / name, options(), system="lm", seed=1, shard=0, shards=1)
        counts[name] = {count.filter: count for count in read_provenance(tmp_path / name).counts}
    name = "word outside the vocabulary, generated as <unk>"
    assert name not in counts["bytes"]
    unknown = sum(part.text.count("<unk>") for _, parts in documents(tmp_path / "words") for part in parts)
    assert counts["words"][name].dropped == unknown > 0
    assert counts["words"][name].kept + unknown == read_provenance(tmp_path / "words").source["tokens"]
