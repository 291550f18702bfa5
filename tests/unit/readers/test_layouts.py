"""Files in other people's layouts, each read as its users expect, or refused with one command (`layouts/*/NOTE.md`)."""

import json
import re

import pytest

from macroscope.criticize.inputs import GivenFields, make_candidates
from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import MODELS, describe_said, read_user_documents
from macroscope.readers.selection import FieldNames, Selection

from ...conftest import REAL_TEXT

LAYOUTS = REAL_TEXT / "layouts"
pytestmark = pytest.mark.skipif(
    not LAYOUTS.is_dir(), reason=f"{LAYOUTS} is not there; MACROSCOPE_REAL_TEXT names the folder that has it"
)
WRITE = "Write a short story about a brass key and the salt works."
SYSTEM = f"You write stories.\n\n{WRITE}"
CASES = {
    "alpaca_eval/model_outputs.json": (12, "model_outputs.json-1", WRITE, {"my-7b-v2": 12}, []),
    "alpaca_eval/results": (24, "gpt-4o/model_outputs.json-1", WRITE, {"gpt-4o": 12, "llama-8b": 12}, []),
    "arena_hard/gpt-x-mini.jsonl": (12, "u0", WRITE, {"gpt-x-mini": 12}, []),
    "axolotl/train.jsonl": (
        *(12, "train.jsonl-1", WRITE, {}),
        ["control tokens", "a chat template around the prompt"],
    ),
    "control_tokens/outputs.jsonl": (12, "outputs.jsonl-1", WRITE, {}, ["control tokens"]),
    "distilabel/train.jsonl": (
        24,
        "train.jsonl-1",
        WRITE,
        {"Qwen/Qwen2.5-7B-Instruct": 12, "meta-llama/Llama-3.1-8B-Instruct": 12},
        [],
    ),
    "koboldai/stories": (12, "story-0.json-1", None, {}, []),
    "langfuse/observations.csv": (
        *(12, "g0", SYSTEM, {"gpt-4o": 12}),
        ["observation that generates no text (SPAN, EVENT)", "a message in JSON around the text"],
    ),
    "langfuse/observations.json": (
        *(12, "g0", SYSTEM, {"gpt-4o": 12}),
        ["observation that generates no text (SPAN, EVENT)"],
    ),
    "meeting_vtt/v": (
        *(12, "meeting0.vtt", None, {}),
        ["names of speakers in a transcript", "numbers and times of subtitles"],
    ),
    "open_webui/all-chats-export.json": (12, "c0", WRITE, {"llama3.1:8b": 12}, ["a reasoning block (<think>)"]),
    "promptfoo/results.json": (24, "0", WRITE, {"openai:gpt-4o": 12, "ollama:llama3.1:8b": 12}, []),
    "sillytavern": (
        *(12, "Osric - 2026-1-1.jsonl-3", None, {"mistral-nemo-12b": 12}),
        ["messages of the user, and the header of the chat"],
    ),
    "wildchat/train.jsonl": (12, "0" * 32, WRITE, {"gpt-4-0314": 6, "gpt-3.5-turbo-0613": 6}, []),
    "wildchat/train-00000-of-00001.parquet": (12, "0" * 32, WRITE, {"gpt-4-0314": 6, "gpt-3.5-turbo-0613": 6}, []),
    "youtube_vtt/v": (
        *(12, "talk0.en.vtt", None, {}),
        ["lines of captions that repeat", "numbers and times of subtitles"],
    ),
}
"""Path -> number of texts, the first one's id and prompt, models, and what is left out; the first text is FIRST."""


def read(name, **how):
    provenance = Provenance("x")
    selection = Selection(authors="models", **how)
    path = LAYOUTS / name
    paths = sorted((path / "chats").glob("*.jsonl")) if name == "sillytavern" else [path]
    return list(read_user_documents(paths, provenance, 0.1, 0.1, selection)), provenance


def words(text):
    return text.split()


@pytest.fixture(scope="module")
def first():
    """Return the first text of most layouts, from a file that holds nothing else."""
    records = json.loads((LAYOUTS / "alpaca_eval/results/gpt-4o/model_outputs.json").read_text())
    return words(records[0]["output"])


@pytest.mark.parametrize("name", CASES)
def test_a_layout_is_read_as_its_users_expect(name, first):
    documents, provenance = read(name)
    number, identifier, prompt, models, left_out = CASES[name]
    assert (len(documents), documents[0].id, documents[0].prompt) == (number, identifier, prompt)
    assert provenance.source.get(MODELS, {}) == models
    assert [count.filter for count in provenance.counts if count.dropped] == left_out
    assert words(documents[0].text) == first


def test_candidates_are_the_models_of_a_file():
    for name in ("alpaca_eval/annotations.json", "distilabel/train.jsonl", "promptfoo/results.json"):
        assert len(make_candidates([LAYOUTS / name], GivenFields())) == 2
    assert list(make_candidates([LAYOUTS / "semeval/subtaskA_dev_monolingual.jsonl"], GivenFields())) == [
        "chatGPT",
        "bloomz",
    ]
    for name, steps in {"trl/completions.table.json": 3, "trl/completions_00030.parquet": 3, "verl/1.jsonl": 1}.items():
        assert len(make_candidates([LAYOUTS / name], GivenFields(model="step"))) == steps


def test_a_field_of_the_model_need_not_be_in_headers():
    chats = LAYOUTS / "sillytavern/chats"
    assert list(make_candidates([chats], GivenFields(model="extra.model"))) == ["mistral-nemo-12b"]


def test_people_s_texts_of_semeval_are_the_reference():
    provenance = Provenance("x")
    path = LAYOUTS / "semeval/subtaskA_dev_monolingual.jsonl"
    documents = list(read_user_documents([path], provenance, 0.1, 0.1, Selection(authors="people")))
    assert len(documents) == 12
    assert not provenance.source.get(MODELS)


@pytest.mark.parametrize("name", ["chosen", "rejected"])
def test_a_preference_s_texts_are_named_by_their_field(name, first):
    with pytest.raises(MacroscopeError, match="⟨text_field=chosen⟩ or ⟨text_field=rejected⟩, the last answer"):
        read("preferences/train_prefs.jsonl")
    documents, _ = read("preferences/train_prefs.jsonl", fields=FieldNames(text=name))
    assert (len(documents), documents[0].prompt) == (12, WRITE)
    assert (words(documents[0].text) == first) == (name == "chosen")


def test_five_columns_are_one_story(first):
    documents, _ = read("rocstories/ROCStories_winter2017.csv")
    assert (documents[0].id, documents[0].title) == ("00000000", "Tale 0")
    joined, _ = read("rocstories/ROCStories_winter2017.csv", fields=FieldNames(text="sentence*"), join=True)
    assert len(documents) == len(joined) == 12
    assert words(documents[0].text) == words(joined[0].text) == first[: len(words(joined[0].text))]


def test_chapters_of_gutenberg_are_read_without_header_and_licence(first):
    documents, _ = read("gutenberg/books")
    assert (len(documents), documents[0].title) == (12, "Tales 0")
    assert [section.title for section in documents[0].sections] == ["abstract", "CHAPTER I.", "CHAPTER II."]
    assert words(documents[0].sections[1].text) == first
    assert "\n" not in documents[0].sections[1].text.replace("\nFor a", "")  # joined lines, two paragraphs
    assert "licence" not in documents[0].text


def test_marks_of_markdown_are_no_words(first):
    documents, provenance = read("markdown/m")
    assert [count.dropped for count in provenance.counts if "Markdown" in count.filter and count.dropped] == [12] * 6
    assert words(documents[0].sections[0].text) == first[: len(words(documents[0].sections[0].text))]
    assert not re.search(r"https?:|\[\^|\||!\[", documents[0].text)


def test_cut_texts_are_counted():
    assert describe_said(read("truncated/responses.jsonl")[1]) == ["9 texts of 12 cut at a limit, as the records say"]


def test_a_line_of_writing_prompts_is_a_text_with_the_prompt_beside_it():
    documents, _ = read("writing_prompts/test.wp_target", detokenize=True)
    assert len(documents) == 12
    assert documents[0].prompt == "[ WP ] Write a short story about a brass key and the salt works ."
    assert "<newline>" not in documents[0].text
    assert " ." not in documents[0].text
    assert len(read("writing_prompts/test.wp_target.txt")[0]) == 12


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("books/tale0.epub", "`pandoc -t gfm-raw_html --wrap=none -s tale0.epub -o tale0.md`"),
        ("books/tale0.html", "`pandoc -t gfm-raw_html --wrap=none -s tale0.html -o tale0.md`"),
        ("books/tale0.docx", "`pandoc -t gfm-raw_html --wrap=none -s tale0.docx -o tale0.md`"),
        ("latex/src", "`pandoc -t gfm-raw_html --wrap=none -s paper0.tex -o paper0.md`"),
        ("writing_prompts/test.wp_source", "WritingPrompts' prompts, which is not read; give the .wp_target file"),
        ("wikipedia_xml/Wikipedia-20260101.xml", r"{source: wikipedia, files: \[Wikipedia-20260101.xml\]}"),
    ],
)
def test_other_files_are_refused_with_one_command(name, sentence):
    with pytest.raises(MacroscopeError, match=sentence):
        read(name)


@pytest.mark.parametrize("name", ["books/converted", "latex/converted"])
def test_files_of_an_older_command_are_cleaned(name):
    documents, _ = read(name)
    assert not re.search(r":::|\{[.#]|\[@|calibre", "\n".join(document.text for document in documents))
