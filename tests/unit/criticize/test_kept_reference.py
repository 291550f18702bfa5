"""Kept references and the profile: what `criticize` does with a reference whose texts are not there."""

import json

import pytest

from macroscope.criticize import run
from macroscope.criticize.choice import choose
from macroscope.criticize.inputs import GivenFields
from macroscope.criticize.kept_profile import read_profile, strip_profile
from macroscope.criticize.kept_reference import build_reference
from macroscope.criticize.profile_table import READ_AS_ROW, table_of
from macroscope.engine.kept_references import read_kept, write_kept
from macroscope.engine.redaction import Passages
from macroscope.errors import MacroscopeError
from macroscope.reporting.comparability import _compare_configs
from tests.unit.criticize.texts import write_texts


def keep(path, real, corpus=None):
    """Write a kept reference without outputs."""
    profile, _ = run.profile_collections([real], [])
    about = {
        "critics": ["tendencies"],
        "left_out": {"strings": "it compares real texts word by word"},
        "corpus": {"source": "files", "split": "test", **(corpus or {})},
        "control": None,
        "profile": strip_profile(profile),
    }
    write_kept(path, path.parent, {}, about, Passages([]))
    return path


@pytest.fixture
def real(tmp_path):
    return write_texts(tmp_path / "real.jsonl", 80, titled=30, label="mill", prompt="Tell of a mill.")


@pytest.fixture
def kept(tmp_path, real):
    return keep(tmp_path / "stories.reference", real)


def test_the_profile_is_that_of_the_texts_without_their_ids(tmp_path, real, kept):
    mine = [write_texts(tmp_path / "mine.jsonl", 40, titled=2)]
    tables = [table_of(*run.profile_collections([reference], mine)) for reference in (real, kept)]
    told = {READ_AS_ROW, "read from", "shortest text", "longest text"}
    assert tables[0].drop(told).equals(tables[1].drop(told))
    assert "id not kept" in tables[1].loc["shortest text", "reference"]
    assert "tells whole copies of its texts alone" in tables[1].loc[READ_AS_ROW, "reference"]


def test_the_profile_of_a_kept_reference_has_no_words_of_texts(kept):
    said = json.dumps(read_kept(kept).header)
    assert "topica" not in said
    assert "mill" not in said
    assert read_profile(kept).counted()["topical_words"] > 0


@pytest.mark.parametrize("wrapped", ["reference", "candidate"])
def test_what_surrounds_texts_of_either_side_is_named(tmp_path, wrapped):
    texts = {name: [f"Text {n} is about the mill." * 9 for n in range(40)] for name in ("r", "c")}
    texts[wrapped[0]] = [f"{text}</s>" for text in texts[wrapped[0]]]
    for name, each in texts.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in each))
    given = GivenFields(keep_wrappers=True)
    with_texts, _ = run.profile_collections([tmp_path / "r.jsonl"], [], given)
    about = {"profile": strip_profile(with_texts)}
    write_kept(tmp_path / "r.reference", tmp_path, {}, about, Passages([]))
    wrappers = [
        run.profile_collections([tmp_path / name], [tmp_path / "c.jsonl"], given)[1][0].wrappers
        for name in ("r.jsonl", "r.reference")
    ]
    assert wrappers[0] == wrappers[1] != []


def test_critics_that_are_not_kept_are_left_out_with_the_reason(tmp_path, kept):
    profile, profiles = run.profile_collections([kept], [write_texts(tmp_path / "mine.jsonl", 40)])
    choice = choose(profile, profiles, [])
    assert choice.critics == ["tendencies"]
    assert any("'strings' is left out: it compares real texts word by word" in reason for reason in choice.reasons)
    with pytest.raises(MacroscopeError, match="topics⟩: the kept reference was built without it; build the reference"):
        choose(profile, profiles, ["topics"])


def test_texts_that_are_not_there_cannot_be_cut(tmp_path, kept):
    profile, profiles = run.profile_collections([kept], [write_texts(tmp_path / "mine.jsonl", 40)])
    choice = choose(profile, profiles, [])
    with pytest.raises(MacroscopeError, match="it has no texts to cut"):
        run.implied_config(profile, profiles, choice, 1, matched_length=True)
    assert run.implied_config(profile, profiles, choice, 1)["corpora"]["reference"]["kept"] == read_kept(kept).digest


def test_runs_with_one_reference_are_comparable_with_and_without_its_texts():
    texts, first, second = ({"corpora": {"r": {"kept": kept}}, "systems": {}} for kept in (None, "a", "b"))
    assert list(_compare_configs("r", texts, first)) == []
    assert list(_compare_configs("r", first, first)) == []
    assert list(_compare_configs("r", first, second)) == [("corpora.r.kept", "a", "b")]


def test_a_kept_reference_has_no_texts_to_judge(kept, real):
    with pytest.raises(MacroscopeError, match=r"stories\.reference: .* no texts to judge; give it as ⟨reference⟩"):
        run.profile_collections([real], [kept])


def test_numbers_of_a_run_without_texts_are_no_reference(tmp_path, real):
    write_kept(tmp_path / "numbers.reference", tmp_path, {}, {}, Passages([]))
    with pytest.raises(
        MacroscopeError, match=r"numbers\.reference: numbers of a run without texts, and not a reference"
    ):
        run.profile_collections([tmp_path / "numbers.reference"], [real])


def test_labels_of_another_field_are_named_before_any_job(tmp_path, real):
    kept = keep(tmp_path / "labels.reference", real, {"fields": {"label": "label"}})
    mine = write_texts(tmp_path / "mine.jsonl", 40, label="mill")
    mine.write_text(mine.read_text().replace('"label"', '"genre"'))
    with pytest.raises(MacroscopeError, match=r"it has labels of 'label'; .* build it again with ⟨by=genre⟩"):
        run.profile_collections([kept], [mine], GivenFields(label="genre"))


def test_a_kept_reference_needs_the_end_of_its_name(tmp_path, real):
    with pytest.raises(MacroscopeError, match=r"give one that ends with \.reference"):
        build_reference([real], tmp_path / "stories.zip", GivenFields(), [], {})


def test_nothing_to_keep_is_said_before_any_job(tmp_path, real):
    with pytest.raises(MacroscopeError, match=r"nothing is left to keep \(strings: it compares real texts word by"):
        build_reference([real], tmp_path / "stories.reference", GivenFields(), ["strings"], {})


def test_a_kept_reference_without_labels_is_not_compared_by_label(tmp_path, real, kept):
    mine = write_texts(tmp_path / "mine.jsonl", 40, label="mill")
    with pytest.raises(MacroscopeError, match=r"stories.reference: it has no labels; .* ⟨by=label⟩"):
        run.profile_collections([kept], [mine], GivenFields(label="label"))
