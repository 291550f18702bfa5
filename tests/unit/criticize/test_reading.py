"""Collections of commands without a profile: warnings say what the profile of `criticize` shows."""

import json
import random
import re

import pytest
from typer.testing import CliRunner

from macroscope.cli import app
from macroscope.criticize.inputs import GivenFields, make_reference
from macroscope.criticize.profile import Profile
from macroscope.criticize.reading import check_sides, read_counted
from macroscope.documents import Document, Section
from macroscope.errors import MacroscopeError

PROMPT = "One morning the old fox left its den again"


def make_documents(prompt, number=5):
    texts = [f"{PROMPT} on day {n}." for n in range(number)]
    return [
        Document(str(n), "test", title=None, sections=(Section(None, text),), prompt=prompt)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(("prompt", "is_warned"), [(None, True), (PROMPT, False)])
def test_texts_that_begin_alike_are_warned_of_unless_their_prompt_is_known(caplog, prompt, is_warned):
    check_sides([], {"mine": make_documents(prompt)}, None)
    assert ("count as independent: 5 of 5 texts of mine, with 1 opening." in caplog.text) is is_warned


def test_few_texts_that_begin_alike_are_counted_only():
    few = Profile("mine", openings=["a", "a", *range(1, 20)], prompts=[*range(21)])
    assert (few.shared_openings, few.begins_alike) == ((1, 2), False)
    assert not Profile("mine", openings=["", "", ""], prompts=[*range(3)]).begins_alike


def test_the_language_is_that_of_most_real_texts_unless_the_user_names_one(caplog):
    chinese = [
        Document(str(n), "test", None, (Section(None, "一只老狐狸在清晨离开了它的洞穴，去寻找食物。"),))
        for n in range(3)
    ]
    english = make_documents(None)
    assert check_sides(chinese, {"mine": chinese}, None).language == "zh"
    assert not caplog.text
    assert check_sides(chinese, {"mine": english}, "en").language == "en"
    assert "Languages differ: the reference has Chinese (zh) 100%, and mine has English (en) 100%" in caplog.text
    assert "The texts are read as English, but most of the reference is Chinese" in caplog.text
    assert check_sides([], {"mine": chinese, "other": english[:1]}, None).language == "zh"


@pytest.mark.parametrize(("options", "is_marked"), [([], True), (["--keep-wrappers"], False)])
@pytest.mark.parametrize("command", ["rank", "sameness"])
def test_systems_that_more_than_structure_gives_away_have_a_warning_sign(tmp_path, caplog, command, options, is_marked):
    generator = random.Random(1)
    for name, end in (("real", ""), ("mine", " (end of text)")):
        texts = [" ".join(generator.choices(["we", "saw", "an", "old", "fox", "there."], k=150)) for _ in range(40)]
        lines = (json.dumps({"id": f"{name}{n}", "text": text + end}) + "\n" for n, text in enumerate(texts))
        (tmp_path / f"{name}.jsonl").write_text("".join(lines))
    files = ["--reference", str(tmp_path / "real.jsonl"), "--candidate", str(tmp_path / "mine.jsonl")]
    printed = CliRunner().invoke(app, [command, *files, "--output", str(tmp_path / "out"), *options]).output
    assert "gives mine away: “end of text” ends 40 of 40 candidate texts and no real one" in caplog.text
    shown = printed if command == "rank" else (tmp_path / "out" / "index.html").read_text()
    assert ("mine ⚠" in shown or "⚠ More" in shown, "warning sign" in caplog.text) == (is_marked, is_marked)


@pytest.mark.parametrize("command", ["rank", "sameness"])
def test_commands_warn_before_they_refuse(tmp_path, caplog, command):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps({"text": f"{PROMPT} on day {n}."}) + "\n" for n in range(12)))
    options = ["--reference", str(path), "--candidate", str(path), "--output", str(tmp_path / "out")]
    CliRunner().invoke(app, [command, *options])
    assert "12 of 12 texts of reference, mine, with 1 opening" in caplog.text


@pytest.mark.parametrize("command", ["rank", "sameness"])
def test_commands_warn_of_what_they_leave_out(tmp_path, caplog, command):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "texts.jsonl").write_text(json.dumps({"text": "One."}) + "\n")
    (folder / "essay.docx").write_text("an essay")
    options = ["--reference", str(folder), "--candidate", str(folder), "--output", str(tmp_path / "out")]
    CliRunner().invoke(app, [command, *options])
    assert re.search(r"left out: .*file.* \(1\)", caplog.text)


def test_a_collection_without_texts_is_one_sentence(tmp_path):
    (tmp_path / "mine.jsonl").write_text("")
    with pytest.raises(MacroscopeError, match=r"mine: no texts in .*mine\.jsonl; give files with texts"):
        read_counted("mine", make_reference([tmp_path / "mine.jsonl"], [], GivenFields()))
