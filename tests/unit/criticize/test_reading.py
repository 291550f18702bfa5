"""Collections of `rank` and `sameness`: warnings say what the first look of `criticize` shows."""

import json
import re

import pytest
from typer.testing import CliRunner

from macroscope.cli import app
from macroscope.criticize.shared_openings import describe_shared_openings, warn_of_shared_openings
from macroscope.documents import Document, Section

PROMPT = "One morning the old fox left its den again"


def make_documents(prompt, number=5):
    texts = [f"{PROMPT} on day {n}." for n in range(number)]
    return [
        Document(str(n), "test", title=None, sections=(Section(None, text),), prompt=prompt)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("prompt", "is_warned"), [(None, True), (PROMPT, False)])
def test_texts_that_begin_alike_are_warned_of_unless_their_prompt_is_known(caplog, prompt, is_warned):
    warn_of_shared_openings("mine", make_documents(prompt))
    assert ("mine: texts that share their opening: 5, of 1 openings" in caplog.text) is is_warned


def test_few_texts_that_begin_alike_are_counted_only():
    assert describe_shared_openings(["a", "a", *range(1, 20)], range(21)) == "2"
    assert describe_shared_openings(["", "", ""], range(3)) == "0"


@pytest.mark.parametrize("command", ["rank", "sameness"])
def test_commands_warn_before_they_refuse(tmp_path, caplog, command):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"text": f"{PROMPT} on day {n}."}) + "\n" for n in range(12)))
    options = ["--reference", str(path), "--candidate", str(path), "--output", str(tmp_path / "out")]
    CliRunner().invoke(app, [command, *options])
    assert "share their opening: 12, of 1 openings" in caplog.text


@pytest.mark.parametrize("command", ["rank", "sameness"])
def test_commands_warn_of_what_they_leave_out(tmp_path, caplog, command):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "texts.jsonl").write_text(json.dumps({"text": "One."}) + "\n")
    (folder / "essay.docx").write_text("an essay")
    options = ["--reference", str(folder), "--candidate", str(folder), "--output", str(tmp_path / "out")]
    CliRunner().invoke(app, [command, *options])
    assert re.search(r"left out: 1 .*file", caplog.text)
