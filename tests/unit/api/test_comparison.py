"""Arguments of `macroscope.compare` that are refused before anything runs."""

import pytest

from macroscope import MacroscopeError, compare

TEXTS = ["A text.", "Another text."]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_jobs": 0}, "n_jobs=0: give a whole number above 0"),
        ({"critics": "tendency"}, "there is no critic 'tendency'; did you mean 'tendencies'"),
        ({"critics": {"tendencies": {"chunks": 2}}}, "chunks"),
        ({"reference": TEXTS[:1]}, "reference: 1 text; give at least 2"),
        ({"reference": "no/such/file.jsonl"}, r"no/such/file\.jsonl: no such file"),
    ],
)
def test_a_bad_argument_is_one_sentence(arguments, message):
    with pytest.raises(MacroscopeError, match=message):
        compare(**{"reference": TEXTS, "candidates": TEXTS, "progress": False, **arguments})


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(MacroscopeError, match="a folder with other things in it"):
        compare(TEXTS, TEXTS, keep=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_nothing_is_left_of_a_refused_comparison(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(MacroscopeError):
        compare(TEXTS[:1], TEXTS)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_work_is_said_before_anything_runs(caplog):
    with pytest.raises(MacroscopeError, match="nothing can be told"):
        compare(TEXTS, TEXTS, critics="tendencies")
    assert "With 2 real texts and 2 of candidate, no critic gives a verdict" in caplog.text


def test_too_few_texts_to_tell_anything_are_one_sentence_before_any_job(monkeypatch):
    monkeypatch.setattr("macroscope.api.comparison.run_plan", None)
    texts = [f"The mill {number} stood by the river, and the miller slept." for number in range(3)]
    with pytest.raises(
        MacroscopeError, match=r"^3 real texts and 3 to judge: nothing can be told from so few; give at"
    ):
        compare(texts, texts, progress=False)
