"""Fields of records: prompts, ids, and those that the user names."""

import pandas as pd
import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.paths import number_pattern
from macroscope.readers.reading import PROMPT_REMOVED, READ_AS, REMARKS, read_user_documents
from macroscope.readers.selection import FieldNames, Selection

from .records import PROMPTS, TEXTS, read, write


def test_a_prompt_at_the_beginning_of_a_generated_text_is_taken_off_and_counted(tmp_path):
    records = [{"prompt": PROMPTS[n], "generated_text": (PROMPTS[n] + " " if n else "") + TEXTS[n]} for n in (0, 1)]
    documents_read, provenance = read(write(tmp_path / "f.jsonl", records))
    assert [text for *_, text in documents_read] == list(TEXTS)
    assert (PROMPT_REMOVED, 1) in [(count.filter, count.dropped) for count in provenance.counts]


def test_a_text_of_ours_that_begins_with_its_prompt_stays_whole(tmp_path):
    records = [{"prompt": PROMPTS[0], "text": f"{PROMPTS[0]} {TEXTS[0]}"}, {"prompt": PROMPTS[1], "text": TEXTS[1]}]
    documents_read, _ = read(write(tmp_path / "f.jsonl", records))
    whole = f"{PROMPTS[0]} {TEXTS[0]}"
    assert [record[1:] for record in documents_read] == [(PROMPTS[0], whole), (PROMPTS[1], TEXTS[1])]


def test_prompts_pair_texts_whatever_their_first_words(tmp_path):
    records = [{"prompt": "One  long\nprompt", "completion": text} for text in TEXTS]
    path = write(tmp_path / "f.jsonl", [*records, {"prompt": "Another", "completion": "Yes."}])
    openings = [document.opening for document in read_user_documents([path], Provenance("test"), 0.1, 0.1)]
    assert openings[0] == openings[1] != openings[2]
    assert openings[0].startswith("prompt:")


def test_fields_that_the_user_names(tmp_path):
    records = [{"n": n, "ask": PROMPTS[n], "reply": {"parts": [{"body": TEXTS[n]}]}, "a.b": "Dots."} for n in (0, 1)]
    path = write(tmp_path / "f.jsonl", records)
    selection = Selection(FieldNames(text="reply.parts.0.body", prompt="ask", id="n"))
    documents_read, provenance = read(path, selection)
    assert documents_read == list(zip(("0", "1"), PROMPTS, TEXTS, strict=True))
    assert list(provenance.source[READ_AS]) == ["records (text: reply.parts.0.body, prompt: ask, id: n)"]
    assert [text for *_, text in read(path, Selection(FieldNames(text="a.b")))[0]] == ["Dots.", "Dots."]


def test_several_texts_of_a_prompt_in_fields_of_one_name(tmp_path):
    records = [{"ask": PROMPTS[n], "id": n, "out1": TEXTS[n], "out2": f"{TEXTS[n]} Twice."} for n in (0, 1)]
    for name in ("f.jsonl", "f.csv"):
        path = write(tmp_path / name, records) if name == "f.jsonl" else tmp_path / name
        if name == "f.csv":
            pd.DataFrame(records).to_csv(path, index=False)
        with pytest.raises(
            MacroscopeError, match=r"for example ⟨text_field=out\*⟩, the 2 texts of each record \(with ⟨join⟩"
        ):
            read(path)
        documents_read, provenance = read(path, Selection(FieldNames(text="out*", prompt="ask")))
        assert [text for *_, text in documents_read] == [f"{text}{end}" for text in TEXTS for end in ("", " Twice.")]
        assert [prompt for _, prompt, _ in documents_read] == [PROMPTS[n] for n in (0, 0, 1, 1)]
        assert list(provenance.source[READ_AS]) == ["records (text: out*, prompt: ask, id: id)"]
    with pytest.raises(MacroscopeError, match=r"no field 'in\*'"):
        read(tmp_path / "f.csv", Selection(FieldNames(text="in*")))


@pytest.mark.parametrize(
    ("name", "names", "pattern"),
    [
        ("s1", ["ask", "s1", "s2", "s3"], "s*"),
        ("out_0", ["out_0", "out_1"], "out_*"),
        ("gpt4", ["gpt3", "gpt4"], None),  # two models
        ("s1", ["s1", "s2", "s_id"], None),  # the pattern would read the id, too
        ("s1", ["s1", "s2", "s2_score"], None),
        ("s1", ["s1"], None),
        ("text", ["text", "texts"], None),
    ],
)
def test_a_pattern_is_proposed_for_numbered_fields_alone(name, names, pattern):
    assert number_pattern(name, names) == pattern


def test_a_missing_field_is_named_with_those_found(tmp_path):
    path = write(tmp_path / "f.jsonl", [{"a": "x", "b": "y"}, {"a": "x"}, {"a": "x"}, {"a": "x"}])
    with pytest.raises(MacroscopeError, match=r"f\.jsonl: no field 'c'; .*first 4 lines: 'a' 100%, 'b' 25%"):
        read(path, Selection(FieldNames(text="c")))
    with pytest.raises(MacroscopeError, match=r"line 2 has no field 'b'; .*first 4 lines: 'a' 100%, 'b' 25%"):
        read(path, Selection(FieldNames(text="b")))
    with pytest.raises(
        MacroscopeError, match=r"give it with ⟨text_field⟩ \(fields of the first 4 lines: 'a' 100%, 'b'"
    ):
        read(path)
    path = write(tmp_path / "f.jsonl", [{"text": "x"}, {"id": 1}])
    with pytest.raises(MacroscopeError, match=r"line 2 has neither 'sections' nor 'text'; .*'text' 50%, 'id' 50%"):
        read(path)


def test_a_path_leads_into_lists(tmp_path):
    rows = [
        {"n": n, "out": {"tries": [[{"text": text}, {"score": 1}], [{"text": "Again."}]]}}
        for n, text in enumerate(TEXTS)
    ]
    path = write(tmp_path / "f.jsonl", rows)
    with pytest.raises(MacroscopeError, match=r"; texts inside of them: 'out.tries\[\]\[\].text' \(8 characters\)"):
        read(path)
    texts = [text for _, _, text in read(path, Selection(FieldNames(text="out.tries[][].text")))[0]]
    assert texts == [TEXTS[0], "Again.", TEXTS[1], "Again."]
    with pytest.raises(MacroscopeError, match=r"no field 'out.tries\[\].missing'"):
        read(path, Selection(FieldNames(text="out.tries[].missing")))


def test_longer_fields_and_rival_formats_are_remarked(tmp_path):
    record = {
        "text": TEXTS[0],
        "body": "word " * 30,
        "messages": [{"role": "user", "content": PROMPTS[1]}, {"role": "assistant", "content": TEXTS[1]}],
    }
    _, provenance = read(write(tmp_path / "f.jsonl", [record]))
    rival, longer = provenance.source[REMARKS]
    assert rival.startswith("also possible: chats (messages)")
    assert "'body' (150 characters)" in longer


def test_a_null_text_is_a_document_without_text(tmp_path):
    documents_read, provenance = read(write(tmp_path / "f.jsonl", [{"text": None}, {"text": TEXTS[0]}]))
    assert [text for *_, text in documents_read] == [TEXTS[0]]
    assert {count.filter: count.dropped for count in provenance.counts}["document without text"] == 1


def test_an_id_that_comes_again_is_another_sample_of_a_model_and_an_error_among_real_texts(tmp_path):
    records = [{"id": "7", "text": text} for text in (*TEXTS, TEXTS[0])]
    path = write(tmp_path / "f.jsonl", records)
    provenance = Provenance("test")
    documents = read_user_documents([path], provenance, 0.1, 0.1, Selection(authors="models"))
    assert [document.id for document in documents] == ["7", *(f"7 (sample {n + 2})" for n in range(len(TEXTS) - 1))]
    assert {count.filter: count.dropped for count in provenance.counts}["the same document again (id and text)"] == 1
    with pytest.raises(MacroscopeError, match="another text has the id '7', too"):
        list(read_user_documents([path], Provenance("test"), 0.1, 0.1, Selection(authors="people")))


def test_a_named_text_keeps_the_prompt_that_stands_beside_it(tmp_path):
    rows = [
        {"prompt": prompt, "samples": [f"{prompt} {text}", text]} for prompt, text in zip(PROMPTS, TEXTS, strict=True)
    ]
    path = write(tmp_path / "f.jsonl", rows)
    documents_read, provenance = read(path, Selection(FieldNames(text="samples[]")))
    assert [(prompt, text) for _, prompt, text in documents_read] == [
        (prompt, text) for prompt, text in zip(PROMPTS, TEXTS, strict=True) for _ in range(2)
    ]
    assert "prompt: prompt" in str(provenance.source[READ_AS])
    prompts = read(path, Selection(FieldNames(text="prompt")))[0]
    assert [(prompt, text) for _, prompt, text in prompts] == [(None, prompt) for prompt in PROMPTS]
