"""`macroscope run`, `demo` and `experiments`."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from macroscope import extras
from macroscope.cli import main
from macroscope.errors import IN_PART
from macroscope.execution import snakemake_command
from macroscope.files import REPOSITORY, SNAKEFILE, SNAKEMAKE_PROFILE


@pytest.fixture
def call(monkeypatch, tmp_path):
    """Call the command line in an empty folder; the command that it would run is returned."""
    monkeypatch.chdir(tmp_path)
    for name in ("real.jsonl", "mine.jsonl"):
        (tmp_path / name).touch()
    became = []
    monkeypatch.setattr(snakemake_command, "_run", lambda command, left_out: became.append(command) or 0)

    def called(*arguments, status=0):
        monkeypatch.setattr(sys, "argv", ["macroscope", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        assert (end.value.code or 0) == status
        return became[-1][1:] if became else None

    return called


CONFIG = """
corpora: {c: {source: files, files: [real.jsonl], split: test}}
systems: {s: {kind: files, files: [mine.jsonl]}}
comparisons: [{corpus: c, systems: [s], critics: [tendencies]}]
"""
SNAKEMAKE = ["-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile"]
PROFILE = ["--workflow-profile", str(SNAKEMAKE_PROFILE)]
LOGGER = ["--logger=macroscope"]


def test_run_passes_arguments_to_snakemake(call, tmp_path):
    (tmp_path / "my.yaml").write_text(CONFIG)
    assert call("run", "--config", "my.yaml") == [*SNAKEMAKE, "my.yaml", *PROFILE, *LOGGER]
    for rest, logger in ((["--cores", "2", "-n"], LOGGER), (["-np"], []), (["--quiet", "-n"], [])):
        assert call("run", "--config", "my.yaml", *rest) == [*SNAKEMAKE, "my.yaml", *PROFILE, *logger, *rest]
    cluster = ["--workflow-profile", "slurm"]
    assert call("run", "--config", "my.yaml", *cluster) == [*SNAKEMAKE, "my.yaml", *LOGGER, *cluster]


def test_colours_can_be_switched_off(call, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "my.yaml").write_text(CONFIG)
    assert call("run", "--config", "my.yaml")[-2:] == ["--nocolor", *LOGGER]


def test_run_reports_errors_of_the_config(call, tmp_path, capsys):
    (tmp_path / "my.yaml").write_text(CONFIG + "sed: 1\n")
    assert call("run", "--config", "my.yaml", status=1) is None
    assert "did you mean 'seed'?" in capsys.readouterr().err


def test_run_refuses_a_config_without_the_files_that_it_names(call, tmp_path, capsys):
    (tmp_path / "mine.yaml").write_text(f"profile: profile.csv\n{CONFIG}")
    assert call("run", "--config", "mine.yaml", status=1) is None
    advice = f"mine.yaml: profile: no such file or folder: profile.csv; put it into {tmp_path}, or change the path"
    assert advice in capsys.readouterr().err


@pytest.mark.parametrize("path", sorted((REPOSITORY / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_run_takes_every_experiment_with_its_names_of_models_and_tables(call, path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    assert call("run", "--config", str(path)) == [*SNAKEMAKE, str(path), *PROFILE, *LOGGER]


def test_demo_runs_the_default_config_in_a_folder(call, tmp_path):
    command = call("demo", "--cores", "2")
    folder = ["--directory", "macroscope-demo", "--cores", "2"]
    assert command == [*SNAKEMAKE, str(REPOSITORY / "config.yaml"), *PROFILE, *LOGGER, *folder]
    assert (tmp_path / "macroscope-demo").is_dir()


def test_demo_without_models_says_how_to_install_them(call, tmp_path, capsys, monkeypatch):
    extras.is_installed.cache_clear()
    monkeypatch.setattr(extras, "find_spec", lambda package: package != "torch")
    call("demo", status=1)
    extras.is_installed.cache_clear()
    assert "the extra 'models' is not installed, and the config needs it for" in capsys.readouterr().err
    assert {path.suffix for path in tmp_path.iterdir()} == {".jsonl"}


def test_experiments_are_listed(call, capsys):
    call("experiments")
    titles = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert titles["simplewiki"] == "Simple English Wikipedia: language models trained from scratch, on one machine"
    assert max(map(len, titles.values())) < 100
    call("experiments", "--json")
    names = [record["name"] for record in json.loads(capsys.readouterr().out)]
    assert sorted(names) == sorted(path.stem for path in (REPOSITORY / "experiments").glob("*.yaml"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("critics", "list"),
        ("config", "check", str(REPOSITORY / "config" / "config.yaml")),
        ("statistics", "test", "--reference", "a.csv", "--candidate", "b.csv", "--permutations", "100"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_what_is_printed_for_people_is_printed_for_programs(arguments, call, tmp_path, capsys):
    for name, shift in (("a", 0), ("b", 1)):
        rows = (f"{number},{number % 5 + shift}" for number in range(20))
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,length", *rows]) + "\n")
    call(*arguments)
    text = capsys.readouterr().out
    call(*arguments, "--json")
    record = json.loads(capsys.readouterr().out)
    for value in record.values() if isinstance(record, dict) else [record[0].get("name") or record[0]["statistic"]]:
        assert value is None or str(value) in text


def test_an_experiment_is_copied_once(call, tmp_path, capsys):
    call("experiments", "cai2020")
    assert yaml.safe_load((tmp_path / "cai2020.yaml").read_text())["run"] == "cai2020"
    assert capsys.readouterr().out.endswith("then run: macroscope run --config cai2020.yaml\n")
    call("experiments", "cai2020", status=1)
    assert "cai2020.yaml: exists already; give another --output" in capsys.readouterr().err
    call("experiments", "cai2020", "--output", "copy.yaml", "--json")
    assert json.loads(capsys.readouterr().out)["file"] == "copy.yaml"
    call("experiments", "kai2020", status=1)
    assert "did you mean 'cai2020'?" in capsys.readouterr().err


def test_what_failed_is_left_out_in_further_passes_until_none_can_be(monkeypatch, tmp_path):
    passes = []

    def run(command, left_out):
        configs = command[command.index("--configfile") + 1 : command.index("--workflow-profile")]
        passes.append([Path(config).name for config in configs])
        if len(passes) < 3:  # it fails, and says what to leave out
            left_out.write_text("{}")
            return 1
        return IN_PART

    monkeypatch.setattr(snakemake_command, "_run", run)
    assert snakemake_command.run_snakemake(tmp_path / "my.yaml", []) == IN_PART
    assert passes == [["my.yaml"], ["my.yaml", "missing-1.json"], ["my.yaml", "missing-2.json"]]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 7), (signal.SIGINT, 7), (signal.SIGKILL, 128 + 9)])
def test_signals_are_passed_on_once(number, status, tmp_path):
    program = "import signal, sys, time\n"
    program += "for each in (signal.SIGTERM, signal.SIGINT): signal.signal(each, lambda *_: sys.exit(7))\n"
    program += "print('ready', flush=True); time.sleep(60)"
    code = f"""
import sys, os, threading
from pathlib import Path
from macroscope.execution.snakemake_command import _run
sys.exit(_run([sys.executable, "-c", {program!r}], Path("x")))
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        (child,) = psutil.Process(process.pid).children()
        (child if number == signal.SIGKILL else process).send_signal(number)
        assert process.wait() == status
