"""Texts as a data frame, and their profile."""

import json

import pytest

from macroscope import MacroscopeError, profile, read_texts
from macroscope.api.inputs import write_collection

RECORDS = [
    {"id": "a", "title": "One", "sections": [{"title": "s", "text": "First."}, {"title": None, "text": "Second."}]},
    {"id": "b", "text": "# Head\n\nBody.", "prompt": "Say it.", "label": "x"},
]


def test_texts_are_read_as_they_are_judged():
    table = read_texts(RECORDS)
    assert list(table.columns) == ["id", "split", "title", "label", "prompt", "text", "sections"]
    assert table["text"].tolist() == ["First.\nSecond.", "Body."]
    assert table["sections"][0] == RECORDS[0]["sections"]
    assert table["prompt"].isna().tolist() == [True, False]


def test_the_data_frame_stands_for_the_texts(tmp_path):
    table = read_texts(RECORDS)
    (file,) = write_collection(table, tmp_path, "again")
    assert read_texts(file).fillna("").to_dict("records") == table.fillna("").to_dict("records")


def test_fields_are_those_of_the_user(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"body": f"Text {n}.", "task": f"Task {n}."}) + "\n" for n in range(3)))
    table = read_texts(path, text_field="body", prompt_field="task")
    assert table["text"].tolist() == ["Text 0.", "Text 1.", "Text 2."]
    assert table["prompt"].tolist() == ["Task 0.", "Task 1.", "Task 2."]
    with pytest.raises(MacroscopeError, match="bodies"):
        read_texts(path, text_field="bodies")


def test_a_profile_has_a_column_per_collection():
    table = profile(RECORDS, {"mine": ["A text of mine.", "Another."]})
    assert list(table.columns) == ["reference", "mine"]
    assert table.loc["documents"].tolist() == ["2", "2"]


def test_a_profile_warns_as_the_command_prints(caplog):
    german = [f"Die alte Mühle stand am Fluss, und der Müller schlief noch {n} Stunden." for n in range(30)]
    english = [f"The old mill stood by the river, and the miller slept for {n} hours." for n in range(30)]
    profile(german, {"mine": english})
    assert "Languages differ: the reference has German" in caplog.text
    caplog.clear()
    profile(english[:2], {"mine": english[2:]})
    assert "no critic gives a verdict" in caplog.text


def test_a_profile_reads_the_fields_of_the_user_and_the_real_texts_of_the_same_file(tmp_path):
    records = [{"gold": f"Real {n}.", "body": f"Mine {n}.", "by": "ab"[n % 2]} for n in range(4)]
    table = profile(None, records, text_field="body", reference_field="gold", model_field="by")
    assert list(table.columns) == ["reference", "a", "b"]
    assert table.loc["documents"].tolist() == ["4", "2", "2"]
