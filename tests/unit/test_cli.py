"""The command line: one sentence and status 1 for bad input, a traceback in the log for a defect."""

import errno
import logging
import os
import re
import shutil
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

from macroscope import cli
from macroscope.cli.flags import parse_options
from macroscope.corpora.simulated import SimulatedCorpus
from macroscope.errors import MacroscopeError


def generation(documents, output):
    """Return the command that generates the control."""
    return (
        *("systems", "run", "--kind", "control", "--stage", "generate", "--options", '{"kind": "control"}'),
        *("--input", f"documents={documents}", "--value", "corpus=c", "--output", output),
    )


def test_bad_input_is_one_sentence(command, tmp_path):
    code, error = command(
        *generation(tmp_path / "none.parquet", tmp_path / "out.parquet"),
    )
    assert code == 1
    assert error == f"macroscope: error: {tmp_path / 'none.parquet'}: no such file or folder; give another path\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('{"source": "wikipeda"}', "--options, source: 'wikipeda' is not a source; did you mean 'wikipedia'?"),
        ('{"source": "files", "files": ["x"]}', "the raw files of 'files' are not made here"),
        ("{", "--options: not valid JSON"),
    ],
)
def test_only_a_source_that_makes_its_raw_files_is_simulated(command, tmp_path, options, message):
    flags = ("--seed", 1, "--raw", tmp_path / "raw", "--truth", tmp_path)
    code, error = command("corpora", "simulate", "--options", options, *flags)
    assert code == 2
    assert message in error


def test_full_disk_says_so(command, monkeypatch, tmp_path):
    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "out"))

    monkeypatch.setattr("macroscope.systems.control.generate_control", full)
    code, error = command(
        *generation(tmp_path, tmp_path / "out"),
    )
    assert code == 1
    assert "No space left on device; free some and run the same command again" in error


def test_full_disk_in_the_words_of_a_library(command, monkeypatch, tmp_path):
    def full(*arguments, **options):
        raise RuntimeError("Error while serializing: I/O error: File too large (os error 27)")

    monkeypatch.setattr("macroscope.systems.control.generate_control", full)
    code, error = command(*generation(tmp_path, tmp_path / "out"))
    assert (code, error.count("Traceback")) == (1, 0)
    assert "the disk: File too large; raise the limit" in error


def test_a_log_that_cannot_be_written_is_no_traceback():
    words = [sys.executable, "-m", "macroscope", "--log", "/dev/full", "config", "check", "none.yaml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "macroscope: error: none.yaml: no such file or folder; give another path\n",
    )


def test_a_job_leaves_its_error_to_snakemake_if_its_log_is_shown(tmp_path):
    environment = os.environ | {"MACROSCOPE_NAMES_FAILURES": "1"}
    words = ["--log", tmp_path / "job.log", "config", "check", "none.yaml"]
    said = []
    for options in (words, words[2:]):
        command = [sys.executable, "-m", "macroscope", *map(str, options)]
        said.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stderr)
    assert said == ["", (tmp_path / "job.log").read_text()]
    assert said[1].startswith("macroscope: error: none.yaml: ")


def test_a_reader_that_leaves_ends_the_command_without_a_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "macroscope", "critics", "list"]
    done = subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert done.stderr == ""


def test_a_log_replaces_only_logs(command, tmp_path):
    mine, log = tmp_path / "mine.jsonl", tmp_path / "log.txt"
    mine.write_text("a text\n")
    code, error = command("--log", mine, "config", "schema", "--output", tmp_path / "schema.json")
    assert (code, mine.read_text()) == (1, "a text\n")
    assert error.endswith("mine.jsonl: exists, and is not an earlier output of this command; give another path\n")
    for folder, status in ((tmp_path, 0), (tmp_path / "schema.json", 1), (tmp_path, 0)):
        assert command("--log", log, "config", "schema", "--output", folder / "schema.json")[0] == status
        logging.getLogger("macroscope").handlers[-1].close()


def test_a_missing_file_is_named_with_one_of_a_similar_name(command, tmp_path):
    (tmp_path / "real.jsonl").write_text("a text\n")
    for name, advice in (
        ("rael.jsonl", "; did you mean '{}/real.jsonl'?"),
        ("none/real.jsonl", ", nor is there a folder {}/none"),
    ):
        code, error = command("config", "check", tmp_path / name)
        assert code == 1
        assert f"{name}: no such file or folder{advice.format(tmp_path)}" in error


def test_places_that_cannot_be_written_are_one_sentence(command, tmp_path):
    (tmp_path / "file").write_text("x")
    for output in (tmp_path / "file" / "out", tmp_path / ("n" * 300)):
        code, error = command("config", "schema", "--output", output)
        assert code == 1
        assert "Traceback" not in error
        assert error.startswith("macroscope: error: ")


def test_errors_of_the_system_are_one_sentence(command, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for place in ("/proc/none/out", tmp_path / "loop" / "out"):
        for arguments in (["config", "schema", "--output", place], ["--log", place, "config", "check", "none"]):
            code, error = command(*arguments)
            assert code == 1
            assert error.startswith(f"macroscope: error: {place}: ")
            assert "Traceback" not in error


def test_pipes_are_not_arguments_and_the_gate_has_its_own_status(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert command("config", "check", tmp_path / "pipe")[0] == 1
    code, error = command("gate", "--candidate=r", "--baseline=r", f"--policy={tmp_path / 'pipe'}")
    assert code == 3
    assert error == f"macroscope: error: {tmp_path / 'pipe'}: a pipe, not a file; give the path of a file or folder\n"


@pytest.mark.parametrize("form", ["{} {}", "{}={}"])
def test_an_output_that_is_also_an_input_is_an_error(command, tmp_path, form):
    path, link = tmp_path / "a.csv", tmp_path / "link.csv"
    path.write_text("x\n1\n2\n")
    link.symlink_to(path)
    arguments = form.format("--output", link).split()
    code, error = command("statistics", "test", "--reference", path, "--candidate", path, *arguments)
    assert code == 1
    assert f"{link}: an output, and another argument names this file, too" in error
    assert path.read_text() == "x\n1\n2\n"


@pytest.mark.parametrize(
    "arguments",
    [
        "gate --candidate results/r --policy p.yaml --output both --junit both",
        "timeline results/r --output both.svg --figure=both",
        "timeline results/r --output texts/../both.pdf --figure both",
        "--log both rank --candidate texts --reference texts --output both",
    ],
)
def test_two_outputs_of_one_path_are_an_error(command, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "texts").mkdir()
    code, error = command(*arguments.split())
    assert code == (3 if "gate" in arguments else 1)
    assert re.search(r"both.*: two outputs have this path; give another one", error)
    assert os.listdir(tmp_path) == ["texts"]


def test_texts_and_an_output_in_each_other_are_an_error(command, tmp_path):
    texts, output = tmp_path / "texts", tmp_path / "texts" / "judged"
    output.mkdir(parents=True)
    (output / "own.jsonl").write_text('{"text": "A fox ran."}\n')
    real = tmp_path / "real.jsonl"
    shutil.copy(output / "own.jsonl", real)
    code, error = command("criticize", "--reference", real, "--candidate", texts, "--output", output)
    assert (code, error.count("\n")) == (1, 1)
    assert f"{output}: is in {texts}, whose files are texts; give a path outside of it" in error
    code, error = command("criticize", "--reference", real, f"--candidate={output / 'own.jsonl'}", "--output", output)
    assert (code, error.count("\n")) == (1, 1)
    assert f"own.jsonl: is in the output {output}, which may hold nothing else; give another output" in error


def test_control_characters_of_texts_do_not_reach_the_terminal(command, monkeypatch, tmp_path):
    def prints(*arguments, **options):
        print("id \x1b[31mred\nnext\tcell")
        print("\x1b]0;title\x07", file=sys.stderr)
        logging.getLogger("macroscope").info("log \x1b[2J")
        sys.exit(0)

    monkeypatch.setattr("macroscope.systems.control.generate_control", prints)
    _, error = command("--log", tmp_path / "log", *generation(tmp_path, tmp_path / "out"))
    assert error == "\\x1b]0;title\\x07\nlog \\x1b[2J\n"
    assert (tmp_path / "log").read_text() == "log \\x1b[2J\n"


@pytest.mark.parametrize("seed", ["-5", "99999999999"])
def test_seeds_that_no_generator_takes_are_wrong_usage(command, seed, tmp_path):
    code, error = command("human", "sheet", "--output", tmp_path / "out", "--seed", seed)
    assert code == 2
    assert "'--seed'" in error


def test_a_defect_leaves_its_traceback_in_the_log(command, monkeypatch, tmp_path):
    def broken(*arguments, **options):
        raise KeyError("defect")

    monkeypatch.setattr("macroscope.systems.control.generate_control", broken)
    code, _ = command(
        *("--log", tmp_path / "job.log"),
        *generation(tmp_path, tmp_path / "out"),
    )
    assert code == 1
    log = (tmp_path / "job.log").read_text()
    assert "macroscope: unexpected error" in log
    assert "KeyError: 'defect'" in log


def test_options_as_json():
    assert parse_options(SimulatedCorpus, '{"source": "simulated", "documents": 3}').documents == 3
    with pytest.raises(MacroscopeError, match="not valid JSON"):
        parse_options(SimulatedCorpus, "{")
    with pytest.raises(MacroscopeError, match="documents"):
        parse_options(SimulatedCorpus, '{"source": "simulated", "documents": 0}')


def test_any_two_tables_can_be_tested(command, capsys, tmp_path):
    import pandas as pd

    for name, values in (("a", range(20)), ("b", range(5, 30))):
        pd.DataFrame({"x": values}).to_csv(tmp_path / f"{name}.csv", index=False)
    files = ("--reference", tmp_path / "a.csv", "--candidate", tmp_path / "b.csv")
    code, _ = command("statistics", "test", *files, "--permutations", 200, "--output", tmp_path / "out.csv")
    assert code == 0
    table = pd.read_csv(tmp_path / "out.csv").set_index("statistic")
    assert table.at["mean_difference", "value"] == 7.5
    code, error = command("statistics", "test", *files, "--column", "y")
    assert code == 1
    assert "no column 'y'" in error


def test_the_command_line_starts_at_once():
    code = "import sys, macroscope.cli; print(sorted({'numpy', 'pandas', 'torch', 'snakemake'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_damaged_shard_is_named(command, tmp_path):
    good, cut, spoilt = (tmp_path / f"{name}.parquet" for name in ("good", "cut", "spoilt"))
    pd.DataFrame({"id": [f"d{n}" for n in range(5000)]}).to_parquet(good)
    content = good.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    half = len(content) // 4
    spoilt.write_bytes(content[:half] + bytes(byte ^ 0x5A for byte in content[half : 2 * half]) + content[2 * half :])
    for shard in (cut, spoilt):
        code, error = command(
            *("critics", "run", "--critic", "strings", "--stage", "gather", "--output", tmp_path / "out.parquet"),
            *("--input", f"shards_of_latents={good}", "--input", f"shards_of_latents={shard}"),
        )
        assert code == 1
        assert error.count("\n") == 1
        assert f"{shard}: not a readable Parquet file (" in error
        assert "remove it, and run the command again to rebuild it" in error
        assert not (tmp_path / "out.parquet").exists()


def test_a_failure_with_sound_files_stays_a_defect(monkeypatch, tmp_path):
    pd.DataFrame({"id": ["d"]}).to_parquet(tmp_path / "good.parquet")
    monkeypatch.setattr(sys, "argv", ["macroscope", str(tmp_path), "--options", "{" * 5000])
    with pytest.raises(pa.ArrowInvalid):
        cli._explain(pa.ArrowInvalid("a column of another type"), 1)
