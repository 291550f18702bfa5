"""Sources and kinds of systems: each is one folder, and adding one changes no other file."""

import ast
import json
import os
import re
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
import yaml

from macroscope.corpora import sources
from macroscope.corpora.options import Corpus
from macroscope.documents import read_documents
from macroscope.files import REPOSITORY, SNAKEFILE
from macroscope.registry import Plugin
from macroscope.systems import kinds
from macroscope.systems.options import SystemOptions

PACKAGE = REPOSITORY / "workflow" / "macroscope"
RULES = REPOSITORY / "workflow" / "rules"

THEIRS = {
    "poems/__init__.py": """
from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:PoemCorpus", read="reading:read_poems")
""",
    "poems/options.py": """
from typing import Literal

from macroscope.corpora.options import Corpus, TextFilters
from macroscope.corpora.raw_files import number_parts


class PoemCorpus(Corpus):
    source: Literal["poems"]
    book: str
    filters: TextFilters = TextFilters()

    def raw_parts(self, place, folder):
        return number_parts([self.book])
""",
    "poems/reading.py": """
from macroscope.readers.splits import assign_split
from macroscope.documents import Document, Section


def read_poems(options, path, provenance, workers):
    for number, text in enumerate(path.read_text().split("\\n\\n")):
        split = assign_split(str(number), options.valid_share, options.test_share)
        yield Document(str(number), split, None, (Section(None, text),))
""",
    "parrot/__init__.py": """
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:ParrotSystem",
    label="parrot",
    colour="black",
    stages={"generate": Stage("drawing:repeat", inputs="documents corpus seed", options="times", minutes=5)},
)
""",
    "parrot/options.py": """
from typing import Literal

from macroscope.systems.options import SystemOptions


class ParrotSystem(SystemOptions):
    kind: Literal["parrot"]
    times: int = 2
""",
    "parrot/drawing.py": """
from dataclasses import replace

from macroscope.documents import Provenance, Section, read_documents, write_documents


def repeat(documents, corpus, seed, options, output):
    samples = [
        replace(d, id=f"{seed}-{d.id}", split="test", sections=(Section(None, " ".join([d.text] * options.times)),))
        for d in read_documents(documents, "train")
    ]
    write_documents(output, samples, Provenance(corpus, {"system": "parrot"}, options.model_dump(mode="json")))
""",
    "theirs-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: theirs\nVersion: 1\n",
    "theirs-1.dist-info/entry_points.txt": (
        "[macroscope.sources]\npoems = poems\n[macroscope.systems]\nparrot = parrot\n"
    ),
}
"""Another package: a source that reads poems, and a kind of system that repeats its training documents."""


class Theirs:
    """Working directory where that package is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in THEIRS.items():
            path = folder / "site" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.lstrip("\n"))
        self.book = folder / "book.txt"
        self.book.write_text("\n\n".join(f"poem {number} has words" for number in range(40)))

    def config(self, **parrot: object) -> Path:
        path = self.folder / "config.yaml"
        config = {
            "corpora": {"verses": {"source": "poems", "book": str(self.book)}},
            "systems": {"polly": {"kind": "parrot", **parrot}},
            "comparisons": [{"corpus": "verses", "critics": ["tendencies"]}],
        }
        path.write_text(yaml.safe_dump(config))
        return path

    def run(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        paths = os.pathsep.join([str(self.folder / "site"), str(PACKAGE.parent)])
        command = [sys.executable, "-m", *map(str, arguments)]
        environment = os.environ | {"PYTHONPATH": paths}
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    return Theirs(tmp_path_factory.mktemp("theirs"))


def test_another_packages_source_and_kind_are_in_the_schema(theirs):
    done = theirs.run("macroscope", "config", "schema", "--output", theirs.folder / "schema.json")
    assert done.returncode == 0, done.stderr
    schema = json.loads((theirs.folder / "schema.json").read_text())
    for model, key in (("PoemCorpus", "book"), ("ParrotSystem", "times")):
        assert key in schema["$defs"][model]["properties"]
        assert schema["$defs"][model]["additionalProperties"] is False
    done = theirs.run("macroscope", "config", "check", theirs.config(time=3))
    assert done.returncode == 1
    assert "systems.polly.time: there is no such key; did you mean 'times'?" in done.stderr


def test_another_packages_source_and_kind_run_like_ours(theirs):
    config = theirs.config(times=3)
    samples = "results/default/systems/verses/polly/samples.parquet"
    run = ("snakemake", "--snakefile", SNAKEFILE, "--configfile", config, "--cores", "2", samples)
    done = theirs.run(*run)
    assert done.returncode == 0, done.stderr
    documents = list(read_documents(theirs.folder / samples))
    assert documents[0].text == "poem 0 has words poem 0 has words poem 0 has words"
    assert documents[0].id == "1-0"
    dry = theirs.run(*run, "--dry-run", "--forceall", "--set-resources", "generate_parrot:runtime=77")
    assert "runtime=77" in dry.stdout


def test_a_package_that_cannot_be_imported_is_named(theirs):
    points = theirs.folder / "site" / "theirs-1.dist-info" / "entry_points.txt"
    before = points.read_text()
    points.write_text(before + "owl = owls\n")
    done = theirs.run("macroscope", "config", "check", theirs.config())
    points.write_text(before)
    assert "the installed package theirs declares 'owl' in macroscope.systems" in done.stderr
    assert "Traceback" not in done.stderr


def declared() -> list[Plugin]:
    return [*sources().values(), *kinds().values()]


@pytest.mark.parametrize("plugin", declared(), ids=lambda plugin: plugin.package.removeprefix("macroscope."))
def test_declared_functions_and_options_exist(plugin):
    room = Corpus if plugin.name in sources() and plugin.package.startswith("macroscope.corpora") else SystemOptions
    assert issubclass(plugin.options, room)
    assert plugin.options.__doc__
    for name, stage in getattr(plugin.data, "all_stages", {}).items():
        inputs = {*stage.input_names, *stage.value_names, "output", *(["options"] if stage.options else [])}
        parameters = signature(stage.function(plugin.package)).parameters
        assert inputs == set(parameters), name
        assert set(stage.option_names) <= set(plugin.options.model_fields), name
        required = {key for key, field in plugin.options.model_fields.items() if field.is_required()} - {"kind"}
        assert not stage.options or required <= set(stage.option_names), name


def general_modules() -> list[Path]:
    """Return the modules that serve all sources and kinds: none of those that declare one."""
    rooms = [
        path
        for room in ("corpora", "systems")
        for path in (PACKAGE / room).glob("*.py")
        if f"macroscope.{room}.{path.stem}" not in {plugin.package for plugin in declared()}
    ]
    shared = [path for place in ("cli", "config", "plan", "reporting") for path in (PACKAGE / place).rglob("*.py")]
    general = [*rooms, *shared, *(PACKAGE / f"{name}.py" for name in ("jobs", "registry", "stages"))]
    return [path for path in general if path != PACKAGE / "plan" / "language_models.py"]  # the plan of one kind


NAMES = {*sources(), *kinds()} - {"files", "control"}
"""Names of sources and of kinds; 'files' has other meanings in code, and every run has a control."""
MODELS = {plugin.options.__name__ for plugin in declared()}


@pytest.mark.parametrize("path", general_modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_general_module_names_a_source_or_a_kind(path):
    tree = ast.parse(path.read_text())
    assert not {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)} & NAMES
    assert not {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & MODELS


@pytest.mark.parametrize("path", sorted(RULES.glob("*.smk")), ids=lambda path: path.name)
def test_no_general_rule_names_a_source_or_a_kind(path):
    assert not set(re.findall(r"[\"'](\w+)[\"']", path.read_text())) & NAMES
