"""Plug-ins: whatever their code raises is theirs, is one sentence that names the package, and never a success."""

import pickle
import subprocess
import sys

import pytest

from macroscope import critics as room
from macroscope.errors import MacroscopeError, PluginError, blame_plugins, contain_import, describe

from ..plugins import CRITIC, WORK, install

EXIT = "import sys\nsys.exit(0)\n"


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (EXIT, "it ends the program, with status 0"),
        ("1 / 0\n", "ZeroDivisionError: division by zero"),
        ("raise BaseException('no')\n", "BaseException: no"),
        ("import there_is_no_such_package\n", "No module named 'there_is_no_such_package'"),
        (CRITIC.replace('"project"', '"projct"'), "declares no `output`; did you mean 'project'?"),
    ],
)
def test_an_import_that_fails_or_ends_the_program_is_one_sentence(tmp_path, monkeypatch, module, reason):
    install(tmp_path, monkeypatch, module)
    with pytest.raises(PluginError) as error:
        room.critics()
    assert str(error.value).startswith("the installed package their-critics declares 'theirs' in macroscope.critics")
    assert reason in str(error.value)
    assert pickle.loads(pickle.dumps(error.value)).traceback == error.value.traceback  # from a worker process


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("work:LATENTS", "work:NOSUCH"),
        ("work:LATENTS", "nosuch:LATENTS"),
        ("work:project", "work:NOSUCH"),
        ("work:TheirOptions", "work:NOSUCH"),
        ("macroscope.critics.numeric_latents:STATISTICS", "macroscope.critics.numeric_latents:NOSUCH"),
    ],
)
def test_a_declaration_that_names_what_does_not_exist_is_invalid(tmp_path, monkeypatch, right, wrong):
    install(tmp_path, monkeypatch, CRITIC.replace(right, wrong))
    with pytest.raises(MacroscopeError, match=f"their-critics declares 'theirs' .* names {wrong}, which does not"):
        room.critics()


def test_an_option_of_a_critic_without_a_default_is_named(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, work=WORK.replace("size: int = 1", "size: int"))
    with pytest.raises(MacroscopeError, match=r"their-critics, 'theirs': the option 'size' has no valid default"):
        _ = room.critics()["theirs"].default_options


def test_what_a_declaration_names_is_imported_in_the_same_way(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, work=EXIT + WORK)
    for missing in ("options", "stage"):
        plugin = room.critics()["theirs"]
        with pytest.raises(PluginError, match=r"theirs.work:.* of the installed package their-critics cannot be imp"):
            plugin.options if missing == "options" else plugin.stage("project").function(plugin.package)


def test_a_stage_that_raises_or_exits_is_the_errors_of_its_package(tmp_path, monkeypatch, command):
    for number, (fault, reason) in enumerate((("1 / 0", "ZeroDivisionError"), ("raise SystemExit(0)", "it ends"))):
        install(tmp_path / str(number), monkeypatch, work=WORK.replace("documents = list(texts)", fault))
        words = ("--input", "texts=none.parquet", "--value", "seed=1", "--output", tmp_path / "out")
        code, error = command("critics", "run", "--critic", "theirs", "--stage", "project", *words)
        assert code == 1
        *traceback, sentence = error.splitlines()
        assert sentence.startswith(
            "macroscope: error: the installed package their-critics (theirs.work: work.py, line "
        )
        assert reason in sentence
        assert "not of macroscope" in sentence
        assert sum("File " in line for line in traceback) == 1  # the part that is theirs
        assert "unexpected" not in error


def test_bad_input_that_a_plug_in_finds_stays_a_sentence(tmp_path, monkeypatch, command):
    fault = "from macroscope.errors import MacroscopeError; raise MacroscopeError('a text is empty')"
    install(tmp_path, monkeypatch, work=WORK.replace("documents = list(texts)", fault))
    words = ("--input", "texts=none.parquet", "--value", "seed=1", "--output", tmp_path / "out")
    code, error = command("critics", "run", "--critic", "theirs", "--stage", "project", *words)
    assert (code, error) == (1, "macroscope: error: a text is empty\n")


def test_errors_and_exits_of_our_own_code_pass_unchanged():
    for error in (KeyError("defect"), SystemExit(2), MacroscopeError("bad input"), KeyboardInterrupt()):
        with pytest.raises(type(error)) as passed, blame_plugins():
            raise error
        assert passed.value is error
    with pytest.raises(KeyboardInterrupt), contain_import("x"):
        raise KeyboardInterrupt
    assert describe(ValueError()) == "ValueError"


def test_a_broken_plug_in_is_no_verdict_and_no_obstacle_to_help(tmp_path, monkeypatch):
    install(tmp_path, monkeypatch, EXIT)
    places = {"PYTHONPATH": f"{tmp_path}:{':'.join(sys.path)}"}
    gate = ("gate", "--baseline", "old", "--candidate", "new", "--policy", "policy.yaml", "--init")
    for words, status, text in ((["--help"], 0, "criticize"), (gate, 3, "error: "), (["critics", "list"], 1, "their-")):
        done = subprocess.run(
            [sys.executable, "-m", "macroscope", *words], env=places, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert text in done.stdout + done.stderr
