"""Messages about bad input in docs/bad-input.md: the command line prints each as one sentence, with status 1."""

import contextlib
import json
import os
import re
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.cli import main
from macroscope.files import REPOSITORY
from tests.fuzzing import is_one_sentence

GOOD = "".join(json.dumps({"id": f"d{n}", "text": f"Text {n}. It is so. And so."}) + "\n" for n in range(8))
PROFILE = ["criticize", "--reference", "real.jsonl", "--candidate", "{}", "--output", "out", "--dry-run"]
RUN = PROFILE[:-1]

TEXTS = {
    "two real texts of one id": (
        "real.jsonl",
        '{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}',
        "real.jsonl, line 2: an earlier document with another text has the id 'x', too",
    ),
    "a key twice": ("a.jsonl", '{"text": "a", "text": "b"}', "line 1 is not usable JSON (the key 'text' stands twice)"),
    "columns of one name": ("a.csv", "text,text\na,b\n", "two columns are called 'text'; rename one"),
    "log-probabilities": (
        "a.jsonl",
        '{"doc_id": 0, "resps": [[["-1.5", "False"]]], "arguments": [["Is it?", " yes"]]}',
        "lm-evaluation-harness samples without any text",
    ),
    "no text": (
        "a.jsonl",
        '{"txt": "a"}',
        "give it with --text-field (fields of the first line: 'txt' 100%), for example --text-field txt",
    ),
    "another format": ("a.docx", "PK", "unknown format; a.docx is a Word document, which is not read; convert"),
    "JSON Lines that are called text": ("a.txt", '{"text": "a"}', "JSON Lines in a text file; call it .jsonl"),
    "another encoding": ("a.jsonl", b'{"text": "caf\xe9"}', "line 1 is not valid UTF-8 (byte 14); save it as UTF-8"),
    "half a character": ("a.jsonl", '{"text": "a\\ud800"}', r"has half a character, '\ud800'"),
    "deep nesting": ("a.json", "[" * 100_000, "is not usable JSON (nested too deep)"),
    "many digits": (
        "a.jsonl",
        '{"text": "a", "id": ' + "9" * 5000 + "}",
        "line 1 is not usable JSON (Exceeds the limit",
    ),
    "a download that ended": ("a.jsonl.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\3\xab", "the compressed data are broken"),
    "no Parquet": ("a.parquet", "PAR1", "not a readable Parquet file"),
    "one text": ("a.jsonl", '{"text": "a"}', "1 text; give at least 2 in each collection"),
    "one text of several lines": ("a.txt", "A fox.\nA hen.", "a.txt is read as one text, and has 2 lines; if it holds"),
    "braces": ("a{b}.jsonl", GOOD, "the workflow cannot use paths with '{', as in"),
    "a name that is no UTF-8": (
        os.fsdecode(b"caf\xe9.jsonl"),
        GOOD,
        r"the workflow cannot use paths with '\udce9', as in",
    ),
}


def said(capsys, monkeypatch, *arguments, status=1):
    """The one line that the command line ends with."""
    monkeypatch.setattr(sys, "argv", ["macroscope", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == status
    errors = capsys.readouterr().err.rstrip("\n")
    is_one_sentence(errors)
    assert errors.startswith("macroscope: error: ")
    return errors


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "real.jsonl").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", TEXTS)
def test_texts(case, folder, capsys, monkeypatch):
    name, content, sentence = TEXTS[case]
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert sentence in said(capsys, monkeypatch, *(word.replace("{}", name) for word in PROFILE))


def test_files_are_told_apart_by_their_whole_names(folder, capsys, monkeypatch):
    (folder / "texts").mkdir()
    for name in ("Dr. Smith.txt", "Dr. Jones.txt"):
        (folder / "texts" / name).write_text(f"Of {name}.")
    monkeypatch.setattr(sys, "argv", ["macroscope", *PROFILE[:4], "texts", *PROFILE[5:]])
    with contextlib.suppress(SystemExit):
        main()
    assert re.search("^documents +8 +2$", capsys.readouterr().out, re.MULTILINE)


def test_the_profile_for_programs(folder, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["macroscope", *PROFILE[:4], "real.jsonl", *PROFILE[5:], "--json"])
    with contextlib.suppress(SystemExit):
        main()
    printed = json.loads(capsys.readouterr().out)
    real, candidate = printed["collections"]
    assert (real["name"], real["documents"], candidate["documents"]) == ("reference", 8, 8)
    assert candidate["longest"]["words"] == 7
    assert printed["critics"]["tendencies"] == 8
    assert any("left out" in note for note in printed["notes"])


def test_a_damaged_parquet(folder, capsys, monkeypatch):
    pq.write_table(pa.table({"text": ["One text.", "Another."] * 50}), folder / "a.parquet")
    content = bytearray((folder / "a.parquet").read_bytes())
    content[10:40] = bytes(30)
    (folder / "a.parquet").write_bytes(content)
    assert "a.parquet: not a readable Parquet file" in said(
        capsys, monkeypatch, *PROFILE[:4], "a.parquet", *PROFILE[5:]
    )


COMMANDS = {
    "no such file": ([*PROFILE[:4], "none.jsonl", *PROFILE[5:]], "none.jsonl: no such file or folder"),
    "a long name": ([*PROFILE[:4], "x" * 300, *PROFILE[5:]], "File name too long; give a shorter name"),
    "no cores": (
        [*RUN[:4], "real.jsonl", *RUN[5:], "--cores", "0"],
        "--cores 0: give a whole number above 0, or 'all'",
    ),
    "a critic that is none": (
        [*PROFILE[:4], "real.jsonl", *PROFILE[5:], "--critic", "cluster"],
        "did you mean 'clusters'?",
    ),
    "no output": ([*RUN[:4], "real.jsonl"], "no folder for the report: give --output FOLDER, or --dry-run"),
    "an output that is a file": (
        [*PROFILE[:4], "real.jsonl", "--output", "notes.txt", "--dry-run"],
        "not a folder; give",
    ),
    "an output in braces": (
        [*PROFILE[:4], "real.jsonl", "--output", "o{8}", "--dry-run"],
        "the workflow cannot use paths with '{', as in",
    ),
    "an output with other things": (
        [*PROFILE[:4], "real.jsonl", "--output", "thesis", "--dry-run"],
        "a folder with other things in it; give",
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands(case, folder, capsys, monkeypatch):
    arguments, sentence = COMMANDS[case]
    (folder / "notes.txt").touch()
    (folder / "thesis").mkdir()
    (folder / "thesis" / "notes.txt").touch()
    assert sentence in said(capsys, monkeypatch, *arguments, status=2 if case in ("no cores", "no output") else 1)


def test_a_dry_run_finds_a_critic_of_other_texts_and_needs_no_output(folder, capsys, monkeypatch):
    texts = [json.dumps({"text": f"Text {n}.", "split": ("train", "valid", "test")[n % 3]}) for n in range(9)]
    (folder / "real.jsonl").write_text("\n".join(texts))
    arguments = [word.replace("{}", "real.jsonl") for word in PROFILE if word not in ("--output", "out")]
    sentence = said(capsys, monkeypatch, *arguments, "--critic", "synthetic")
    assert "critic 'synthetic' judges texts by the known process of their corpus" in sentence


CORPUS = "corpora: {{c: {{source: wikipedia, {}}}}}\n"
COMPARED = "comparisons: [{corpus: c, critics: [tendencies]}]\n"
CONFIGS = {
    "a misspelt key": ("seeds: 2\n", "seeds: there is no such key; did you mean 'seed'?"),
    "a key twice": ("seed: 1\nseed: 2\n", "the key 'seed' stands twice, in line 1 and in line 2; keep one of them"),
    "a switch for a number": ("seed: true\n", "'seed' is a number, not true"),
    "a seed beyond all": ("seed: 99999999999\n", "seed: input should be less than or equal to 2147483647"),
    "a long name": (f"run: {'a' * 240}\n", "run: a name has at most 100 bytes, and this one 240; shorten it"),
    "a name with a space": ("run: a b\n", "run: 'a b' is not a name: names have letters, digits, '-', '_' and '.'"),
    "nothing": ("", "a config has keys, such as 'corpora:', and this one is empty"),
    "a list": ("- a", "a config has keys, such as 'corpora:', and this one is a list"),
    "bytes": (b"\x00\xff\xfe", "not a file of UTF-8 text"),
    "itself": ("a: &a [*a]\n", "a: there is no such key"),
    "a dump that is none": (
        f"{CORPUS.format('dump: frwiki')}{COMPARED}",
        "c.yaml: corpora.c.dump: 'frwiki' is not a source of resources/sources.yaml; did you mean 'enwiki'?",
    ),
    "a corpus of nothing": (
        f"{CORPUS.format('language: en')}{COMPARED}",
        "c.yaml: corpora.c: no raw files; give 'dump', a source of resources/sources.yaml, or 'files'",
    ),
    "a system of no data set": (
        f"{CORPUS.format('files: [a.xml]')}systems: {{s: {{kind: files, dataset: gpt2}}}}\n{COMPARED}",
        "c.yaml: systems.s.dataset: 'gpt2' is not a source of resources/sources.yaml",
    ),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_configs(case, folder, capsys, monkeypatch):
    content, sentence = CONFIGS[case]
    (folder / "c.yaml").write_bytes(content if isinstance(content, bytes) else content.encode())
    assert sentence in said(capsys, monkeypatch, "config", "check", "c.yaml")


NEIGHBOURS = ["test_names", "test_surroundings", "test_cli", "readers/test_archives", "readers/test_fuzzing"]
NEIGHBOURS += ["corpora/test_retrieval"]


def test_what_the_page_quotes_is_tried_here():
    """Each sentence, or part of one, in the last column of the table stands in a test."""
    tests = "".join((Path(__file__).parent / f"{name}.py").read_text() for name in ["test_front_door", *NEIGHBOURS])
    tried = re.sub(r"\\(?=[().])", "", tests)
    page = (REPOSITORY / "docs" / "bad-input.md").read_text()
    quoted = [part for line in page.splitlines() for part in re.findall('"([^"]+)"', line.rsplit("|", 2)[-2:][0])]
    assert len(quoted) > 15
    assert not [part for part in quoted if part.strip("… ") not in tried]
