"""Messages for Python callers: they name arguments and the caller's texts, never options or temporary files."""

import re
import tempfile

import pandas as pd
import pytest

from macroscope import MacroscopeError, compare, profile, read_texts
from macroscope.errors import FAILED
from macroscope.execution.failures import FailedJob
from macroscope.files import write_text

TEXTS = [f"Mill number {n} stood by the river, and nobody had seen the miller since." for n in range(6)]
RECORDS = [{"body": text, "by": "ab"[n % 2]} for n, text in enumerate(TEXTS)]
_FLAG = re.compile(r"--[a-z]")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"reference": RECORDS}, r"^reference: the field of the text is not known; give it with `text_field` "),
        ({"reference": RECORDS}, r"for example text_field='body', the longest texts"),
        ({"candidates": {"gpt": RECORDS}}, r"^candidates\['gpt'\]: the field of the text is not known"),
        ({"candidates": pd.DataFrame(RECORDS)}, r"^candidates: the field of the text is not known"),
        ({"candidates": RECORDS, "text_field": "bodies"}, r"^candidates: no field 'bodies'; give the name of another"),
        ({"candidates": [{"text": "A."}, {"text": 3}]}, r"^candidates\[1\]: 'text' is a int"),
        ({"candidates": RECORDS, "text_field": "body", "model_field": "who"}, r"^candidates: no field 'who'"),
        ({"candidates": TEXTS, "id_field": "key"}, r"^candidates: no field 'key'"),
        ({"candidates": [{"body": "A."}, {}], "text_field": "body"}, r"^candidates\[1\] has no field 'body'; give"),
        ({"reference": [{"text": "A.", "id": 1}, {"text": "B.", "id": 1}]}, r"^reference\[1\]: an earlier document"),
        ({"reference": [{"sections": 3}]}, r"^reference\[0\]: 'sections' is a int"),
        ({"reference": None}, r"^candidates: no texts of people .* give `reference`, or `reference_field` for"),
        ({"reference": []}, r"^reference: no texts in reference; give at least 2"),
        ({"candidates": {"gpt": TEXTS[:1]}}, r"^gpt: 1 text; give at least 2"),
        ({"critics": "coherence"}, r"^critics='coherence': it needs 20 "),
        ({"reference": ["\ud800 half", "b"]}, r"^reference\[0\]"),
    ],
)
def test_messages_name_arguments_and_the_callers_texts(arguments, message):
    given = {"reference": TEXTS, "candidates": TEXTS, "progress": False, **arguments}
    with pytest.raises(MacroscopeError, match=message) as raised:
        compare(**given)
    assert tempfile.gettempdir() not in str(raised.value)
    assert not _FLAG.search(str(raised.value))


def test_other_functions_say_the_same():
    for function in (lambda: read_texts(RECORDS), lambda: profile(TEXTS, RECORDS)):
        with pytest.raises(MacroscopeError, match=r"^(texts|candidates): .*`text_field`") as raised:
            function()
        assert not _FLAG.search(str(raised.value))


def test_tables_and_warnings_name_arguments(caplog, tmp_path):
    lines = tmp_path / "lines.txt"
    lines.write_text("".join(f"{text} {text}\n" for text in 5 * TEXTS))
    models = [{"response": text, "model": "ab"[n % 2], "output": text} for n, text in enumerate(TEXTS)]
    table = profile(str(lines), {"gpt": models, "reference": [f"{text} {text} {text}" for text in TEXTS]})
    shown = "\n".join([*table.to_numpy().ravel(), *caplog.messages])
    assert not _FLAG.search(shown)
    assert "`model_field` judges each" in shown
    assert "separator='line'" in shown
    assert "The candidate 'reference' is called 'reference-no2' here" in caplog.text


def test_a_file_of_the_caller_keeps_its_name(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"body": "A."}\n')
    with pytest.raises(MacroscopeError, match=f"^{re.escape(str(path))}: the field of the text"):
        profile(TEXTS, {"gpt": path})


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_job_that_failed_names_its_log_only_if_it_stays(is_kept, tmp_path, monkeypatch):
    def fail(tasks, folder, *others):
        write_text(folder / "logs" / "critics" / "x.log", f"{FAILED}it is broken\n")
        unmade = frozenset(output for task in tasks for output in task.outputs)
        return [FailedJob("logs/critics/x.log", unmade, folder)]

    monkeypatch.setattr("macroscope.engine.run.run_tasks", fail)
    keep = tmp_path / "kept" if is_kept else None
    log = re.escape(f" ({keep}/logs/critics/x.log)") if is_kept else "; give `keep` a folder, and the logs stay there"
    with pytest.raises(MacroscopeError, match=f"^it is broken{log}$"):
        compare(TEXTS, TEXTS, critics="tendencies", keep=keep, progress=False)
