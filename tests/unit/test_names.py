"""Names of runs, corpora, systems and files: refused in one sentence, or fit for paths and shells everywhere."""

import json
import re
import shlex
import string
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from macroscope.api.inputs import write_candidates
from macroscope.config.schema import parse_config
from macroscope.corpora.raw_files import number_parts
from macroscope.criticize.inputs import names_of_candidates
from macroscope.engine.tasks import steps_of
from macroscope.errors import MacroscopeError
from macroscope.files import SNAKEFILE
from macroscope.options import LONGEST_NAME
from macroscope.plan import Plan
from macroscope.plan.second_pass import part_of
from macroscope.reporting.chapters import critic_page
from macroscope.reporting.html_blocks import system_page
from macroscope.stages import ANY_NAME
from tests.fuzzing import FUZZ, is_one_sentence

LONGEST_OF_A_FILE = 255
"""Bytes of a file's name that the usual file systems take."""
HOSTILE = [
    *(
        "a b",
        "'",
        '"',
        "$(touch pwned)",
        "`x`",
        ";",
        "-rf",
        "--help",
        ".",
        "..",
        "../x",
        "/x",
        "a/b",
        "ü",
        "名",
        "\u202e",
    ),
    *(
        "a\n",
        "\n",
        "",
        " ",
        "{x}",
        "*",
        "?",
        "[1]",
        "~",
        "!",
        "#",
        "%s",
        "\\",
        "\x00",
        "\ud800",
        "control",
        "split_half",
    ),
    *("a.", ".a", "a..b", "gpt-neo-2.7B", "a.csv", "a.scores", "a.Scores", "a.scores.b"),
    *("con", "null", "all", "true", "x" * 9, "x" * 20, "ab" * 20, "x" * 240, "x" * 5000, "é" * 127),
    *("".join(map(str, range(60)))[:length] for length in (LONGEST_NAME, LONGEST_NAME + 1, 240)),
]
NAMES = st.sampled_from(HOSTILE) | st.text(max_size=8) | st.from_regex(r"[^\W_][\w-]*", fullmatch=True)


def fits(name):
    """Letters and marks of any script, digits, "-", "_" and ".", composed, in bytes that a path may have."""
    signs = not (".." in name or name.startswith(".") or name.lower().endswith((".", ".scores")))
    signs &= all(sign in "-_." or unicodedata.category(sign)[0] in "LMN" for sign in name)
    return signs and 0 < len(name.encode()) <= LONGEST_NAME and unicodedata.is_normalized("NFC", name)


def config_of(run="r", corpus="c", system="s", reference="real.jsonl", candidate="mine.jsonl", table=None):
    return {
        "run": run,
        "corpora": {corpus: {"source": "files", "files": [reference]}},
        "systems": {system: {"kind": "files", "files": [candidate]}},
        "comparisons": [{"corpus": corpus, "systems": [system], "critics": ["tendencies"]}],
        **({} if table is None else {"human_judgements": [{"corpus": corpus, "table": table}]}),
    }


def parsed(config):
    """Return the config, or None if it was rejected in one sentence."""
    try:
        checked = parse_config(config)
        Plan(checked)
    except MacroscopeError as error:
        is_one_sentence(str(error)[:4000])
        return None
    return checked


@FUZZ
@given(NAMES, NAMES, NAMES)
def test_any_names(run, corpus, system):
    config = parsed(config_of(run, corpus, system))
    if config is not None:
        assert all(map(fits, (run, corpus, system)))


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_in_each_place(name):
    repeats = re.search(r"(.+)\1{9}", name)
    is_fit = fits(name) and not name.startswith("-") and not repeats
    for place in ("run", "corpus", "system"):
        kept = place == "system" and name in ("control", "split_half")
        assert (parsed(config_of(**{place: name})) is not None) == (is_fit and not kept), (place, name)


SENTENCES = {
    "x" * 240: f"a name has at most {LONGEST_NAME} bytes, and this one 240; shorten it",
    "名" * 40: "and this one 120; shorten it",
    "e\u0301": "is not in Unicode's composed form (NFC)",
    **dict.fromkeys(
        ["a b", "a\n", "-a", "..", "$(x)", "µ", "", "a/b", "{a}", "\u0301a"],
        "is not a name: names have letters, digits",
    ),
    "ab" * 20: "the workflow cannot use names that repeat 'ab' ten times or more; give another",
    1: "a name is text, and YAML takes this one for 1; put it in quotation marks",
    False: "a name is text, and YAML takes this one for False",
    None: "a name is text, and YAML takes this one for None",
}


@pytest.mark.parametrize("name", SENTENCES)
def test_what_is_wrong_with_a_name_is_said(name):
    for place, group in (("run", "run"), ("corpus", "corpora."), ("system", "systems.")):
        with pytest.raises(MacroscopeError, match=re.escape(SENTENCES[name])) as error:
            parse_config(config_of(**{place: name}))
        assert str(error.value).startswith(f"config: {group}")
        is_one_sentence(str(error.value))


@FUZZ
@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/\x00"), min_size=1, max_size=250), max_size=12)
)
def test_names_from_files(files):
    names = names_of_candidates([Path(file) for file in files])
    assert list(names.values()) == [Path(file) for file in files]
    assert all(map(fits, names))
    parts = number_parts(files)
    assert list(parts.values()) == files
    assert all(fits(part[4:] or "x") and len(f"{part}.parquet.json") < LONGEST_OF_A_FILE for part in parts)


@pytest.mark.parametrize("name", ["模型", "काम", "модель-2.5", "Ünïcode_7", "gpt-neo-2.7B", "Meta-Llama-3.1-8B.q4_0"])
def test_names_in_any_script_and_with_dots_are_kept(name):
    """They are names of files, wildcards of Snakemake, columns and cells of LaTeX."""
    (called,) = names_of_candidates([Path(f"{unicodedata.normalize('NFD', name)}.jsonl")])
    assert called == name
    config = parsed(config_of(name, name, name))
    assert config is not None
    assert Plan(config).systems.samples(name, name) == f"results/{name}/systems/{name}/{name}/samples.parquet"
    assert re.fullmatch(ANY_NAME, name)


def test_a_path_has_one_system_whatever_the_dots_of_its_names():
    """Systems "a" and "a.b": no file of one is that of the other, and no name ends as a file of scores does."""
    config = config_of(corpus="c.x", system="a")
    config["corpora"]["c"] = config["corpora"]["c.x"]
    config["systems"]["a.b"] = config["systems"]["a"]
    config["comparisons"] = [
        {"corpus": corpus, "systems": ["a", "a.b"], "critics": ["topics"]} for corpus in ("c", "c.x")
    ]
    made = steps_of(Plan(parse_config(config)))
    folder = "results/r/statistics/topics"
    for corpus in ("c", "c.x"):
        for system in ("a", "a.b"):
            for ending in (".csv", ".scores.csv"):
                (found_in,) = [w for step in made if (w := step.match(f"{folder}/{corpus}/{system}{ending}"))]
                assert (found_in.corpus, found_in.system) == (corpus, system)
        for ending in (".two_sample_test.csv", ".pairs.csv", ".power.csv"):
            matches = [w for step in made if (w := step.match(f"{folder}/{corpus}{ending}"))]
            assert [match.corpus for match in matches] in ([], [corpus])
            assert part_of(f"{folder}/{corpus}{ending}", "results/r").corpus == corpus
    of_critic = "results/r/critics/narrative/c.x"
    (detector,) = [w for step in made if (w := step.match(f"{of_critic}/detectors/missing.v1.5"))]
    assert (detector.task, detector.detector) == ("missing", "v1.5")
    (probing,) = [w for step in made if (w := step.match("results/r/critics/clusters/c.x/probing/e.v1.5.own.parquet"))]
    assert (probing.encoder, probing.side) == ("e.v1.5", "own")
    assert system_page("c.x", "a") != system_page("c", "x.a")
    assert critic_page("clusters-a.b", "c") != critic_page("clusters-a", "b.c")


def test_names_from_python_keep_their_dots(tmp_path):
    (tmp_path / "sample.v2.jsonl").write_text("")
    given = {"gpt-neo-2.7B": ["text"], "org/m.txt": ["text"], "x.scores": ["text"], "m": tmp_path / "sample.v2.jsonl"}
    files = write_candidates(given, tmp_path / "here")
    assert list(names_of_candidates(files)) == ["gpt-neo-2.7B", "org-m-txt", "x-scores", "m"]


def test_candidates_with_long_names_stay_apart():
    files = [Path(f"{folder}/{'x' * 240}.jsonl") for folder in "abcdefghijkl"]
    assert len(names_of_candidates(files)) == 12


ALPHABET = string.ascii_letters + string.digits
ODD_FILES = [
    *(
        "a b.jsonl",
        " a.jsonl",
        "it's.jsonl",
        'say "a".jsonl',
        "$(touch pwned).jsonl",
        "`touch pwned`.jsonl",
        "a;b.jsonl",
    ),
    *(
        "-n.jsonl",
        "--help",
        "a&b|c;d.jsonl",
        "*?[a].jsonl",
        "~.jsonl",
        "#a.jsonl",
        "a\\b.jsonl",
        "é.jsonl",
        "e\u0301.jsonl",
    ),
    *(
        "отчёт.jsonl",
        "\u202e.jsonl",
        "!a.jsonl",
        "%s.jsonl",
        "a=b,c.jsonl",
        "null",
        "train.jsonl",
        "a:b.jsonl",
        "ab" * 100,
    ),
]
FILES = {"reference": 're\'al $(touch pwned);`x` "ü".jsonl', "candidate": "-rf " + "n" * 240 + ".jsonl"}


def test_shells_get_each_name_as_one_word(tmp_path):
    """A dry-run with names that are as long and odd as they may be: what a shell would make of its commands."""
    paths = {role: tmp_path / name for role, name in FILES.items()}
    for path in paths.values():
        path.write_text('{"text": "A fox ran. It rained."}\n')
    longest = {place: (place + ALPHABET * 9)[:LONGEST_NAME] for place in ("run", "corpus", "system")}
    config = config_of(**longest, **{role: str(path) for role, path in paths.items()})
    for number, name in enumerate(ODD_FILES):
        (tmp_path / name).write_text("")
        config["systems"][f"s{number}"] = {"kind": "files", "files": [name]}
    config["comparisons"][0]["systems"] = "all"
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config, allow_unicode=True))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(SNAKEFILE), "--configfile", "config.yaml"]
    command += ["--cores", "1", "--dry-run", "--printshellcmds", "--nocolor", "--quiet", "host"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    commands = [line for line in output.splitlines() if "macroscope --log" in line or "macroscope " in line]
    words = [word for line in commands for word in shlex.split(line)]
    words += [file for word in words if word.startswith("{") for file in json.loads(word).get("files", ())]
    for path in paths.values():
        assert str(path) in words, commands[:3]
    assert set(ODD_FILES) <= set(words)
    assert not (tmp_path / "pwned").exists()
    produced = re.findall(r"^ +(?:output|log|benchmark): (.*)$", output, re.MULTILINE)
    assert produced
    assert max(len(part.encode()) for line in produced for p in line.split(", ") for part in p.split("/")) < 230
