"""Fields in messages: their words in a command, in a call from Python and in a config."""

import inspect
import re
from typing import get_args

import pytest

from macroscope import compare, find_copies
from macroscope.api.arguments import as_argument
from macroscope.cli import app
from macroscope.errors import MacroscopeError
from macroscope.fields import Field, as_key, as_option, name_field, word_all, word_fields
from macroscope.files import PACKAGE

MESSAGE = "give it with ⟨text_field⟩, for example ⟨text_field=body⟩"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (as_option, "give it with --text-field, for example --text-field body"),
        (as_argument, "give it with `text_field`, for example text_field='body'"),
        (as_key, "give it with fields.text, for example fields.text: body"),
    ],
)
def test_each_face_has_words_of_its_own(words, message):
    assert word_fields(MESSAGE, words) == message
    assert word_all({"notes": [MESSAGE, 3]}, words) == {"notes": [message, 3]}


@pytest.mark.parametrize("value", ["a b", "⟨x⟩", "100%", "sample*", "ß", ""])
def test_values_are_kept(value):
    assert word_fields(str(MacroscopeError(name_field("text_field", value))), lambda _, given: given) == value


def test_brackets_of_texts_are_no_fields():
    assert word_fields("⟨ψ|φ⟩ and ⟨text⟩", as_option) == "⟨ψ|φ⟩ and ⟨text⟩"


def test_every_named_field_is_one_that_users_can_give():
    """A misspelt name would stay as it is."""
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    named = set(re.findall(r"⟨(\w+)[=⟩]", sources))
    assert named <= set(get_args(Field))
    options = {name for command in app.registered_commands for name in inspect.signature(command.callback).parameters}
    arguments = [name for function in (compare, find_copies) for name in inspect.signature(function).parameters]
    for name in get_args(Field):
        assert name in options
        assert as_argument(name, None).strip("`") in arguments


@pytest.mark.parametrize("folder", ["corpora", "criticize", "readers"])
def test_modules_that_all_faces_share_name_no_options(folder):
    sources = {path: path.read_text(encoding="utf-8") for path in (PACKAGE / folder).rglob("*.py")}
    options = [as_option(name, None) for name in get_args(Field)]
    assert not [path for path, text in sources.items() for option in options if re.search(rf"{option}(?![\w-])", text)]
