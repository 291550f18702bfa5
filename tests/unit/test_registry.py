"""Discovery: sub-packages that declare themselves, and entry points of other packages."""

from importlib.metadata import EntryPoint

import pytest

from macroscope import critics as room
from macroscope import registry
from macroscope.critics.declaration import Critic
from macroscope.errors import MacroscopeError
from macroscope.registry import Plugin, discover, require
from macroscope.systems.declaration import Kind

ROOM, GROUP = "macroscope.systems", "macroscope.systems"


@pytest.fixture
def installed(monkeypatch):
    """Let other packages have declared something."""

    def install(**values):
        points = [EntryPoint(name, value, GROUP) for name, value in values.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: points)

    return install


def test_declarations_are_found_in_alphabetical_order(installed):
    installed(zebra="macroscope.systems.ngram", ape="macroscope.systems.ngram:KIND")
    plugins = discover(ROOM, "KIND", Kind, GROUP)
    assert list(plugins) == sorted(plugins)
    assert {"ape", "control", "ngram", "zebra"} <= set(plugins)
    assert plugins["ape"].options is plugins["zebra"].options is plugins["ngram"].options
    assert plugins["ngram"].package == "macroscope.systems.ngram"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "control",
            "macroscope.systems.ngram",
            "declares 'control' .* and macroscope.systems.control is called so",
        ),
        ("ape", "apes", "declares 'ape' .* apes cannot be imported .*; repair or uninstall it"),
        ("ape", "macroscope.systems.ngram:CRITIC", "cannot be imported"),
        ("ape", "macroscope.corpora.files:SOURCE", "is not a Kind; see docs/extending.md"),
    ],
)
def test_another_packages_mistake_is_one_sentence(installed, name, value, message):
    installed(**{name: value})
    with pytest.raises(MacroscopeError, match=message):
        discover(ROOM, "KIND", Kind, GROUP)


def test_missing_names_are_reported_with_the_nearest_one():
    plugins = discover(ROOM, "KIND", Kind)
    with pytest.raises(MacroscopeError, match="there is no kind of system 'ngam'; did you mean 'ngram'"):
        require("ngam", plugins, "kind of system")
    with pytest.raises(MacroscopeError, match="ngram has no stage 'generat'; did you mean 'generate'"):
        plugins["ngram"].stage("generat")
    assert plugins["ngram"].stage("summarise_perplexity").run == "macroscope.systems.perplexity:summarise_perplexity"
    with pytest.raises(MacroscopeError, match="control has no stage 'summarise_perplexity'"):
        plugins["control"].stage("summarise_perplexity")


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (
            "coherence = theirs",
            "the installed package their-critics declares 'coherence' in macroscope.critics, and"
            " macroscope.critics.coherence is called so already; rename its entry point, or uninstall it",
        ),
        (
            "questions = theirs",
            "the installed package their-critics declares 'questions' in macroscope.critics, and theirs cannot be"
            " imported (No module named 'theirs'); repair or uninstall it",
        ),
        (
            "questions = broken",
            "the installed package their-critics declares 'questions' in macroscope.critics, and broken cannot be"
            " imported (ZeroDivisionError: division by zero); repair or uninstall it",
        ),
        (
            "questions = macroscope.systems.ngram:KIND",
            "the installed package their-critics declares 'questions' in macroscope.critics, and"
            " macroscope.systems.ngram:KIND is not a Critic; see docs/extending.md",
        ),
    ],
)
def test_a_critic_that_is_none_is_one_sentence_that_names_its_distribution(tmp_path, monkeypatch, point, message):
    folder = tmp_path / "their_critics-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: their-critics\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[macroscope.critics]\n{point}\n")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MacroscopeError) as error:
        discover("macroscope.critics", "CRITIC", Critic, "macroscope.critics")
    assert str(error.value) == message


@pytest.mark.parametrize("name", ["perplexity", "my-critic", "Questions"])
def test_a_critic_that_cannot_be_called_so_is_one_sentence(monkeypatch, name):
    declared = Plugin(name, "their_critics", room.critics()["strings"].data)
    monkeypatch.setattr(room, "discover", lambda *_: {name: declared})
    with pytest.raises(MacroscopeError, match=f"'{name}' of their_critics is not a valid name of a critic"):
        room.critics.__wrapped__()
