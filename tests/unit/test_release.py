"""The version, which is written once, and the notes of a release."""

import re
import sys

import pytest
import yaml

from macroscope import __version__
from macroscope.files import REPOSITORY

CHANGELOG = """# Changelog

## Unreleased

- New.

## 0.2.0 (2030-01-01)

### Fixed

- A thing.

## 0.1.0

- Old.
"""


@pytest.fixture
def read_notes(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "envs"))
    from release_notes import read_notes

    yield read_notes
    sys.modules.pop("release_notes")


def test_notes_are_the_section_of_the_version(read_notes):
    assert read_notes(CHANGELOG, "0.2.0") == "### Fixed\n\n- A thing.\n"
    assert read_notes(CHANGELOG, "0.1.0") == "- Old.\n"


def test_a_version_without_a_section_is_not_released(read_notes):
    with pytest.raises(SystemExit, match=re.escape("no section '## 0.3.0'; rename the section 'Unreleased'")):
        read_notes(CHANGELOG, "0.3.0")


def test_the_citation_has_the_version():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert str(citation["version"]) == __version__
