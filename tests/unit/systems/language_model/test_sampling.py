"""Shards of samples do not depend on their number, and are complete after a kill."""

import pytest

from macroscope.documents import read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.systems.language_model import sampling
from macroscope.systems.language_model.options import LanguageModelSystem
from macroscope.systems.language_model.sampling import merge_shards, sample_shard
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
    appended = []
    original = sampling.PartialFile.append

    def dies_after_four(self, sample):
        if len(appended) == 4:
            raise KeyboardInterrupt
        appended.append(sample.index)
        original(self, sample)

    monkeypatch.setattr(sampling.PartialFile, "append", dies_after_four)
    with pytest.raises(KeyboardInterrupt):
        sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    part = tmp_path / "cut.part.jsonl"
    part.write_text(part.read_text() + '{"index": 9, "sec')  # a torn last line, as a kill leaves it
    resumed = []
    monkeypatch.setattr(sampling.PartialFile, "append", lambda self, s: (resumed.append(s.index), original(self, s)))
    sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    assert sorted(appended + resumed) == list(range(10))
    assert documents(tmp_path / "cut") == documents(tmp_path / "whole")
    assert not part.exists()


@pytest.mark.slow
def test_a_killed_shard_resumes_if_only_samples_with_many_invalid_attempts_are_left(model, tmp_path, monkeypatch):
    def strict(text, titles):
        if "a" not in text[:12]:
            raise sampling.InvalidSample("attempt without text")
        return parse_sample(text, False)

    parse_sample = sampling.parse_sample
    monkeypatch.setattr(sampling, "parse_sample", strict)
    sample_shard(model, tmp_path / "whole", options(), system="lm", seed=1, shard=0, shards=1)
    original = sampling.PartialFile.append

    def dies_after_an_invalid_attempt(self, sample):
        if sample.invalid:
            raise KeyboardInterrupt
        original(self, sample)

    monkeypatch.setattr(sampling.PartialFile, "append", dies_after_an_invalid_attempt)
    with pytest.raises(KeyboardInterrupt):
        sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    monkeypatch.setattr(sampling.PartialFile, "append", original)
    monkeypatch.setattr(sampling, "HOPELESS", 2)
    sample_shard(model, tmp_path / "cut", options(), system="lm", seed=1, shard=0, shards=1)
    assert documents(tmp_path / "cut") == documents(tmp_path / "whole")


def test_samples_of_other_options_are_not_reused(model, tmp_path):
    part = tmp_path / "s.part.jsonl"
    part.write_text('{"other": 1}\n{"index": 0, "sections": [[null, "stale"]]}\n')
    sample_shard(model, tmp_path / "s", options(), system="lm", seed=1, shard=0, shards=1)
    assert all("stale" not in section.text for d in read_documents(tmp_path / "s") for section in d.sections)


@pytest.mark.slow
def test_model_that_never_gives_titles_is_one_sentence(model, tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "HOPELESS", 30)

    def refuse(text, titles):
        raise sampling.InvalidSample("no")

    monkeypatch.setattr(sampling, "parse_sample", refuse)
    with pytest.raises(MacroscopeError, match="none of 30 attempts of the language model is a document of the format"):
        sample_shard(model, tmp_path / "s", options(titles=True), system="lm", seed=1, shard=0, shards=1)


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
