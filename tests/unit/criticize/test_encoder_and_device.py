"""The encoder and the device that a user names: known before critics are chosen, and the same for all of a run."""

import os

import pytest

from macroscope.criticize.choice import choose, given_options
from macroscope.criticize.run import profile_collections
from macroscope.errors import UsageError
from macroscope.execution.limits import device_for_jobs, limits, require_device

from .texts import write_texts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working directory, with a folder "enc" for an encoder and one with a registered name."""
    monkeypatch.chdir(tmp_path)
    for name in ("enc", "minilm"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_an_encoder_for_all_critics_that_have_one_decides_about_languages(folder):
    given = given_options([], "enc")
    encoder = {"encoder": str(folder / "enc")}
    assert {n: o for n, o in given.items() if o} == dict.fromkeys(("clusters", "coherence", "narrative"), encoder)
    assert given_options(["clusters"], "minilm") == {"clusters": {"encoder": "minilm"}}
    real, mine = write_texts(folder / "r.jsonl", 80), write_texts(folder / "c.jsonl", 10)
    profile, profiles = profile_collections([real], [mine])
    assert "clusters" not in choose(profile, profiles, [], "zh").critics  # minilm was trained on English
    choice = choose(profile, profiles, [], "zh", given)
    assert choice.options("clusters") == {"pooling": "sentences", "max_tokens": 64} | encoder


def test_relative_folders_in_the_options_of_a_critic_become_absolute(folder):
    (folder / "segments").write_text("")
    options = {
        "clusters": {"encoder": "./enc", "probing": [{"corpus": "c", "encoders": {"e": {"encoder": "enc"}}}]},
        "narrative": {"encoder": "google-bert/bert-base-cased", "test_segments": {"c": {"missing": "segments"}}},
    }
    given, absolute = given_options(list(options), "other/model", options), str(folder / "enc")
    assert given["clusters"]["encoder"] == given["clusters"]["probing"][0]["encoders"]["e"]["encoder"] == absolute
    segments = {"c": {"missing": str(folder / "segments")}}
    assert given["narrative"] == options["narrative"] | {"test_segments": segments}


@pytest.mark.parametrize(
    ("requested", "encoder", "message"),
    [
        (["tendencies"], "minilm", "without effect, since tendencies has none"),
        ([], "./none", "neither a folder nor a GGUF file"),
        ([], "/dev/null", "neither a folder nor a GGUF file"),
        ([], "tiny-gpt2", "no pretrained weights"),
    ],
)
def test_an_encoder_without_use_is_refused(requested, encoder, message):
    with pytest.raises(UsageError, match=message):
        given_options(requested, encoder)


@pytest.mark.parametrize("before", ["1", None])
def test_gpus_are_hidden_and_shown_again(monkeypatch, before):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if before is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", before)
    with device_for_jobs("cpu"):
        assert (os.environ["CUDA_VISIBLE_DEVICES"], limits()["gpu"]) == ("", 0)
    assert os.environ.get("CUDA_VISIBLE_DEVICES") == before


def test_a_gpu_that_is_not_there_is_one_sentence(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(UsageError, match="no GPU"):
        require_device("cuda")
