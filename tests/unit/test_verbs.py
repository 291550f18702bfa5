"""Help and usage: -h and --version everywhere, status 2 for wrong usage, types and lists that people read."""

import json
import logging
import re
import sys

import pytest
import typer

from macroscope import __version__, cli
from macroscope.cli.verbs import DEVELOPERS
from macroscope.files import REPOSITORY
from macroscope.gate.decision import EXIT_CODES


@pytest.fixture
def command(monkeypatch, capsys):
    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["macroscope", *arguments])
        with pytest.raises(SystemExit) as done:
            cli.main()
        said = capsys.readouterr()
        return done.value.code, said.out, said.err

    yield call
    logging.getLogger("macroscope").handlers = []


@pytest.mark.parametrize(
    "verb", [(), ("gate",), ("criticize",), ("critics",), ("statistics", "test"), ("timeline",), ("experiments",)]
)
def test_short_and_long_help_are_the_same(command, verb):
    assert command(*verb, "-h") == command(*verb, "--help")
    status, said, _ = command(*verb, "-h")
    assert status == 0
    assert not re.search(r"<(path|str|int|float|list)|list\[", said)


def test_users_verbs_come_before_those_of_developers(command):
    _, said, _ = command("--help")
    users, developers = said.split("Commands:")[1].split("Commands for developers:")
    assert re.findall(r"^  (\S+)", users, re.MULTILINE) == [
        *("criticize", "sensitivity", "rank", "sameness", "sentences", "copies", "timeline", "gate", "export"),
        *("run", "demo", "experiments", "reference", "human", "config", "statistics", "critics", "cluster"),
    ]
    assert re.findall(r"^  (\S+)", developers, re.MULTILINE)[:3] == ["corpora", "systems", "reporting"]
    assert "Begin with: macroscope criticize" in developers
    assert "--record" not in said
    assert "--log FILE" in said


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["criticize", "real.jsonl", "mine.jsonl"], "--candidate or --reference"),
        (["rank", "--candidate", "a.jsonl", "b.jsonl"], "--candidate or --reference"),
        (["run", "mine.yaml"], "--config"),
    ],
)
def test_files_without_an_option_are_refused_with_the_options_that_name_them(command, arguments, options):
    status, _, said = command(*arguments)
    file = arguments[1] if options == "--config" or arguments[1].endswith("jsonl") else "b.jsonl"
    assert (status, f"{file}: each file needs an option before it, {options};" in said) == (2, True)


@pytest.mark.parametrize("group", ["human", "critics", "corpora", "statistics"])
def test_the_sentence_beside_a_verb_is_whole_and_users_come_first(command, group):
    _, said, _ = command(group, "--help")
    users, *developers = re.split(r"^Commands.*:$", said, flags=re.MULTILINE)[1:]
    rows = [row for listed in (users, *developers) for row in re.split(r"\n  (?=\S)", listed)[1:]]
    assert len(rows) > 1
    assert [row for row in rows if not row.strip().endswith(".")] == []
    assert said.find("Commands:") < (said.find("Commands for developers:") if developers else len(said))


def test_types_are_words(command):
    _, said, _ = command("criticize", "-h")
    for words in ("--reference FILE", "--output FOLDER", "--critic NAME", "--seed NUMBER", "--cores NUMBER"):
        assert words in said


def test_folders_are_called_folders(command):
    for verb in ("sheet", "collect", "segments", "check", "baseline"):
        _, said, _ = command("human", verb, "-h")
        assert "--output FOLDER" in said, verb


@pytest.mark.parametrize(("line", "completed"), [("macroscope exper", "experiments"), ("macroscope gate --j", "--j")])
def test_the_shell_completes_commands_and_options(command, monkeypatch, line, completed):
    monkeypatch.setenv("_MACROSCOPE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    status, said, _ = command()
    assert (status or 0) == 0
    assert said.split()[0].startswith(completed)


def test_versions_of_what_matters(command):
    status, said, _ = command("--version")
    assert status == 0
    assert said.splitlines()[0] == f"macroscope {__version__}, workflow in {REPOSITORY}"
    names = [line.split()[0] for line in said.splitlines()]
    assert {"Python", "snakemake", "numpy", "pandas", "pyarrow", "torch", "transformers"} <= {*names}


@pytest.mark.parametrize("options", [("--version", "--json"), ("--json", "--version")])
def test_versions_for_programs(command, options):
    status, said, _ = command(*options)
    assert status == 0
    versions = json.loads(said)
    assert versions["macroscope"] == __version__
    assert {"snakemake", "torch"} <= {*versions["packages"]}


WITHOUT_JSON = {"run", "demo", "critics make-environment"}
"""Commands whose output is Snakemake's, and those that print nothing."""


def test_commands_that_print_for_people_print_for_programs(command):
    group = typer.main.get_command(cli.app)
    context = typer.Context(group)

    def verbs(path, below):
        for name in below.list_commands(context):
            verb = below.get_command(context, name)
            if verb.rich_help_panel != DEVELOPERS:
                yield from verbs([*path, name], verb) if hasattr(verb, "list_commands") else [([*path, name], verb)]

    without = [" ".join(path) for path, verb in verbs([], group) if not any("--json" in p.opts for p in verb.params)]
    assert {*without} == WITHOUT_JSON


@pytest.mark.parametrize(
    "arguments",
    [
        ("--lgo", "x", "gate"),
        ("gaet",),
        ("--json",),
        ("--json", "experiments"),
        ("--log",),
        ("gate",),
        ("gate", "--baselin", "x"),
        ("gate", "--candidate", "x", "--policy", "y"),  # no --baseline
        ("criticize",),
        ("criticize", "--reference", "a", "--candidate", "b", "--output", "c", "--cores", "none"),
        ("critics", "run"),
        ("config", "check"),
        ("statistics", "correlate", "--statistics", "a", "--judgements", "b", "--system", "x"),
        ("human", "sheet", "--output", "x"),
    ],
)
def test_wrong_usage_has_one_status(command, arguments):
    status, _, error = command(*arguments)
    assert status == 2
    assert "rror: " in error
    assert "Traceback" not in error


def test_no_verdict_has_the_status_of_wrong_usage():
    """A build server that accepts INCONCLUSIVE must not accept a misspelt flag."""
    assert not {2, 3} & {*EXIT_CODES.values()}
    assert len({*EXIT_CODES.values()}) == 3
