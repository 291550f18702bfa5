"""The texts of a record: of several models, sides, turns and samples; their prompts, and where they were cut."""

import json
import zipfile
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.parsing import CUT, SAID, STATED
from macroscope.readers.reading import MODELS, PROMPT_REMOVED, READ_AS, describe_said, read_user_documents
from macroscope.readers.selection import Selection

from .layouts import (
    batch_line,
    chat,
    helm_state,
    inspect_sample,
    lm_eval_row,
    message_batch_line,
)
from .records import PROMPTS, TEXTS, read, write


def test_rows_inside_of_an_object_are_read(tmp_path):
    viewer = {"features": [], "rows": [{"row_idx": n, "row": {"text": text}} for n, text in enumerate(TEXTS)]}
    cases = {"testCases": [{"name": f"s{n}", "input": "?", "actualOutput": text} for n, text in enumerate(TEXTS)]}
    for content in (viewer, cases):
        (tmp_path / "f.json").write_text(json.dumps(content))
        assert [text for *_, text in read(tmp_path / "f.json")[0]] == list(TEXTS)


def test_people_s_essays_are_told_by_their_label(tmp_path):
    (tmp_path / "f.csv").write_text(f"id,text,generated\na,{TEXTS[0]},0\nb,{TEXTS[1]},1\n")
    assert read(tmp_path / "f.csv", Selection(authors="models"))[0] == [("b", None, TEXTS[1])]
    assert read(tmp_path / "f.csv", Selection(authors="people"))[0] == [("a", None, TEXTS[0])]


def test_texts_of_two_models_in_a_record(tmp_path):
    record = {
        "instruction": PROMPTS[0],
        "output_1": TEXTS[0],
        "generator_1": "a",
        "output_2": TEXTS[1],
        "generator_2": "b",
    }
    documents_read, provenance = read(write(tmp_path / "f.jsonl", [record]))
    assert documents_read == [("f.jsonl-1", PROMPTS[0], TEXTS[0]), ("f.jsonl-1-2", PROMPTS[0], TEXTS[1])]
    assert provenance.source[MODELS] == {"a": 1, "b": 1}


def test_texts_of_several_models_in_a_list(tmp_path):
    completions = [{"model": name, "response": text} for name, text in zip("ab", TEXTS, strict=True)]
    path = write(tmp_path / "f.jsonl", [{"instruction": PROMPTS[0], "completions": completions}])
    assert read(path, Selection(only_model="b"))[0] == [("f.jsonl-1", PROMPTS[0], TEXTS[1])]


def test_people_s_texts_beside_a_model_s_are_no_candidate(tmp_path):
    records = [{"text": f"By {model}.", "model": model} for model in ("human", "gpt")]
    path = write(tmp_path / "f.jsonl", records)
    assert [text for *_, text in read(path, Selection(authors="models"))[0]] == ["By gpt."]
    assert [text for *_, text in read(path, Selection(authors="people"))[0]] == ["By human."]
    path = write(tmp_path / "f.jsonl", records[1:])  # a model's texts may be a reference
    assert [text for *_, text in read(path, Selection(authors="people"))[0]] == ["By gpt."]


@pytest.mark.parametrize(
    ("record", "cut"),
    [
        ({"choices": [{"text": TEXTS[0], "finish_reason": "length"}, {"text": TEXTS[1], "finish_reason": "stop"}]}, 1),
        ({"text": TEXTS[0], "stop_reason": "max_tokens"}, 1),
        ({"prompt": PROMPTS[0], "completion": TEXTS[0], "truncated": True}, 1),
        ({"response": TEXTS[0], "done_reason": "stop"}, 0),
        ({"text": TEXTS[0]}, None),
    ],
)
def test_cut_texts_are_said(record, cut, tmp_path):
    _, provenance = read(write(tmp_path / "f.jsonl", [record]))
    stated = 2 if "choices" in record else 1
    assert provenance.source.get(SAID, {}) == ({} if cut is None else {STATED: stated} | ({CUT: cut} if cut else {}))
    assert describe_said(provenance) == [f"1 text of {stated} cut at a limit, as the records say"] * bool(cut)


def test_a_harness_s_rows_of_several_filters_are_one_text(tmp_path):
    rows = [lm_eval_row(number, name) for name in ("strict-match", "flexible-extract") for number in (0, 1)]
    documents_read, provenance = read(write(tmp_path / "samples_x.jsonl", rows))
    assert documents_read == list(zip(("0", "1"), PROMPTS, TEXTS, strict=True))
    assert {count.filter: count.dropped for count in provenance.counts}["the same document again (id and text)"] == 2


def test_several_samples_of_a_prompt_have_ids_of_their_own(tmp_path):
    row = lm_eval_row(0, "none") | {"resps": [["A fox ran.", "A fox slept."]]}
    documents_read, _ = read(write(tmp_path / "f.jsonl", [row]))
    assert [(name, text) for name, _, text in documents_read] == [("0", "A fox ran."), ("0-2", "A fox slept.")]
    second = lm_eval_row(1, "none") | {"doc_id": 0}
    documents_read, _ = read(write(tmp_path / "f.jsonl", [lm_eval_row(0, "none"), second]))
    assert [name for name, *_ in documents_read] == ["0", "0-no2"]


def test_log_probabilities_are_no_texts(tmp_path):
    row = lm_eval_row(0, "none") | {
        "arguments": {"gen_args_0": {"arg_0": PROMPTS[0], "arg_1": " yes"}},
        "resps": [[["-1.5", "False"]]],
    }
    path = write(tmp_path / "samples_a.jsonl", [row])
    with pytest.raises(MacroscopeError, match="lm-evaluation-harness samples without any text"):
        read(path)
    write(tmp_path / "samples_b.jsonl", [lm_eval_row(0, "none")])
    documents_read, provenance = read(tmp_path)
    assert [text for *_, text in documents_read] == [TEXTS[0]]
    assert ("file of a folder without texts that are known", 1) in [(c.filter, c.dropped) for c in provenance.counts]


def test_a_log_of_inspect_ai_in_both_of_its_files(tmp_path):
    samples = [inspect_sample(0), inspect_sample(1), inspect_sample(0, epoch=2)]
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "eval": {"model": "m"}, "samples": samples}, indent=2))
    in_zip, provenance = read(tmp_path / "log.eval")
    assert sorted(in_zip) == sorted(read(tmp_path / "log.json")[0])
    assert [name for name, *_ in in_zip] == ["0", "0, epoch 2", "1"]
    assert provenance.source[MODELS] == {"a/model": 3}


@pytest.mark.parametrize("indent", [None, 2])
def test_a_scenario_state_of_helm(indent, tmp_path):
    failed = helm_state(0) | {"result": {"success": False, "completions": []}}
    content = {"adapter_spec": {"model": "openai/gpt2"}, "request_states": [helm_state(0), helm_state(1), failed]}
    (tmp_path / "scenario_state.json").write_text(json.dumps(content, indent=indent))
    documents_read, provenance = read(tmp_path / "scenario_state.json")
    assert documents_read == list(zip(("id0", "id1"), PROMPTS, TEXTS, strict=True))
    assert {count.filter: count.dropped for count in provenance.counts}["document without text"] == 1


@pytest.mark.parametrize("underscores", ["", "__"])
def test_details_of_lighteval(underscores, tmp_path):
    rows = [
        {
            f"{underscores}doc{underscores}": {"query": PROMPTS[n], "id": f"s{n}", "choices": [""]},
            f"{underscores}model_response{underscores}": {"text": [TEXTS[n]], "input": PROMPTS[n]},
            f"{underscores}metric{underscores}": {"em": 1.0},
        }
        for n in (0, 1)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "details.parquet")
    assert read(tmp_path / "details.parquet")[0] == list(zip(("s0", "s1"), PROMPTS, TEXTS, strict=True))


def test_older_details_of_lighteval(tmp_path):
    rows = [{"example": "?", "full_prompt": PROMPTS[n], "predictions": repr([TEXTS[n]])} for n in (0, 1)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet")[0] == list(zip(("d.parquet-1", "d.parquet-2"), PROMPTS, TEXTS, strict=True))


def test_battles_of_an_arena_hold_a_text_of_each_model(tmp_path):
    battle = {
        "question_id": "s",
        "model_a": "a",
        "model_b": "b",
        "conversation_a": chat(0),
        "conversation_b": [chat(0)[0], chat(1)[1]],
    }
    path = write(tmp_path / "f.jsonl", [battle])
    documents_read, provenance = read(path)
    assert documents_read == [("s", PROMPTS[0], TEXTS[0]), ("s-2", PROMPTS[0], TEXTS[1])]
    assert provenance.source[MODELS] == {"a": 1, "b": 1}
    assert read(path, Selection(only_model="b"))[0] == [("s", PROMPTS[0], TEXTS[1])]


def test_the_answers_of_a_conversation_but_the_last_are_its_prompt(tmp_path):
    longer = [*chat(0), {"role": "user", "content": PROMPTS[1]}, {"role": "assistant", "content": TEXTS[1]}]
    documents_read, _ = read(write(tmp_path / "f.jsonl", [{"messages": longer}]))
    assert documents_read == [("f.jsonl-1", "\n\n".join((PROMPTS[0], TEXTS[0], PROMPTS[1])), TEXTS[1])]


def test_turns_are_texts_of_their_own(tmp_path):
    record = {"question_id": 81, "model_id": "m", "choices": [{"index": 0, "turns": list(TEXTS)}]}
    assert read(write(tmp_path / "f.jsonl", [record]))[0] == [("81", None, TEXTS[0]), ("81-2", None, TEXTS[1])]


SIDES = {
    "M4 pairs": {"prompt": PROMPTS[0], "human_text": "By hand.", "machine_text": "By machine.", "model": "cohere"},
    "HC3 pairs": {"question": PROMPTS[0], "human_answers": ["By hand.", "Also."], "chatgpt_answers": ["By machine."]},
}


@pytest.mark.parametrize("name", SIDES)
def test_each_side_has_its_texts_with_the_same_id_and_prompt(name, tmp_path):
    path = write(tmp_path / "f.jsonl", [SIDES[name]])
    people, provenance = read(path, Selection(authors="people"))
    models, _ = read(path, Selection(authors="models"))
    assert people[0] == ("f.jsonl-1", PROMPTS[0], "By hand.")
    assert models == [("f.jsonl-1", PROMPTS[0], "By machine.")]
    (described,) = provenance.source[READ_AS]
    assert described.startswith(name)
    assert described.endswith("the texts of people")


def test_pairs_in_columns(tmp_path):
    (tmp_path / "f.json").write_text(json.dumps({"original": ["By hand.", "Too."], "sampled": ["By machine.", "So."]}))
    assert read(tmp_path / "f.json", Selection(authors="people"))[0][1] == ("f.json-2", None, "Too.")
    assert read(tmp_path / "f.json", Selection(authors="models"))[0][1] == ("f.json-2", None, "So.")


def test_rows_of_raid(tmp_path):
    common = {
        "adv_source_id": "",
        "decoding": "greedy",
        "attack": "none",
        "domain": "books",
        "title": "t",
        "prompt": "",
    }
    rows = [
        common | {"id": f"{n}", "source_id": "s0", "model": model, "generation": f"By {model}."}
        for n, model in enumerate(("human", "gpt4", "mpt"))
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "raid.parquet")
    assert read(tmp_path / "raid.parquet", Selection(authors="people"))[0] == [("s0", None, "By human.")]
    documents_read, provenance = read(tmp_path / "raid.parquet", Selection(authors="models"))
    assert [text for *_, text in documents_read] == ["By gpt4.", "By mpt."]
    assert provenance.source[MODELS] == Counter(gpt4=1, mpt=1)
    only = Selection(authors="models", only_model="mpt")
    assert [text for *_, text in read(tmp_path / "raid.parquet", only)[0]] == ["By mpt."]


def test_the_template_of_an_instruction_is_not_judged(tmp_path):
    path = tmp_path / "alpaca.json"
    template = "Below is an instruction.\n\n### Instruction:\nSay it.\n\n### Input:\nA fox.\n\n### Response:\n"
    record = {"instruction": "Say it.", "input": "A fox.", "output": "It ran."}
    path.write_text(json.dumps([record | {"text": f"{template}It ran."}] * 2))
    assert {document.text for document in read_user_documents([path], Provenance("x"), 0.1, 0.1)} == {"It ran."}
    path.write_text(json.dumps([record | {"text": "A text of its own."}]))
    assert [document.text for document in read_user_documents([path], Provenance("x"), 0.1, 0.1)] == [
        "A text of its own."
    ]


def test_a_prompt_that_is_echoed_after_a_blank_is_taken_off(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"prompt": "A fox ran.\n", "completion": " A fox ran. It rained."}))
    provenance = Provenance("x")
    assert [document.text for document in read_user_documents([path], provenance, 0.1, 0.1)] == ["It rained."]
    assert [count.dropped for count in provenance.counts if count.filter == PROMPT_REMOVED] == [1]


def test_attacked_texts_of_raid_are_left_out_and_counted(tmp_path):
    path = tmp_path / "raid.jsonl"
    rows = [
        {"source_id": "s", "model": "gpt2", "attack": attack, "generation": text}
        for attack, text in (("none", "A fox ran."), ("upper_lower", "a fOX RAN."), ("synonym", "A fox sprinted."))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    provenance = Provenance("x")
    assert [document.text for document in read_user_documents([path], provenance, 0.1, 0.1)] == ["A fox ran."]
    assert {count.filter: count.dropped for count in provenance.counts}["text altered by an attack"] == 2


def test_results_of_a_batch_are_described_as_they_are(tmp_path):
    described = {
        make: read(write(tmp_path / f"{make.__name__}.jsonl", [make(0)]))[1].source[READ_AS]
        for make in (batch_line, message_batch_line)
    }
    assert "text: response.body.choices[], " in str(described[batch_line])
    assert "text: result.message.content, " in str(described[message_batch_line])
