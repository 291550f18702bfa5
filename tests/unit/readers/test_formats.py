"""Files of harnesses, servers and data sets, in the layouts that their programs write: the prompt, the text, the id."""

import pytest

from macroscope.readers.formats import FORMATS
from macroscope.readers.reading import READ_AS, REMARKS

from .layouts import (
    batch_line,
    chat,
    chatgpt_conversation,
    chatgpt_conversation_without_its_end,
    claude_conversation,
    claude_conversation_of_parts,
    eee_line,
    gemini_line,
    inspect_sample,
    message_batch_line,
    openassistant_tree,
    raw_response,
)
from .records import PROMPTS, TEXTS, read, write

IDS = {"numbers": ("0", "1"), "s": ("s0", "s1"), "lines": ("f.jsonl-1", "f.jsonl-2")}
LINES = {
    "inspect_ai log": (inspect_sample, "numbers", tuple(f"Be brief.\n\n{prompt}" for prompt in PROMPTS)),
    "Every Eval Ever samples": (eee_line, "s", PROMPTS),
    "results of a batch": (batch_line, "s", None),
    "results of a batch (another server)": (message_batch_line, "s", None),
    "chats (messages)": (lambda n: {"messages": chat(n)}, "lines", PROMPTS),
    "chats (conversations)": (
        lambda n: {"id": f"s{n}", "conversations": chat(n, ("human", "gpt"), ("from", "value"))},
        "s",
        PROMPTS,
    ),
    "MT-bench answers": (
        lambda n: {"question_id": f"s{n}", "model_id": "m", "choices": [{"index": 0, "turns": [TEXTS[n]]}]},
        "s",
        None,
    ),
    "prompts and completions": (lambda n: {"prompt": PROMPTS[n], "completion": TEXTS[n]}, "lines", PROMPTS),
    "instructions and outputs": (
        lambda n: {"instruction": PROMPTS[n], "input": "", "output": TEXTS[n]},
        "lines",
        PROMPTS,
    ),
    "generated texts": (lambda n: {"prompt": PROMPTS[n], "generated_text": PROMPTS[n] + TEXTS[n]}, "lines", PROMPTS),
    "prompts and lists of completions": (
        lambda n: {"prompt": PROMPTS[n], "completions": [TEXTS[n]]},
        "lines",
        PROMPTS,
    ),
    "outputs of vLLM": (
        lambda n: {"prompt": PROMPTS[n], "outputs": [{"index": 0, "text": TEXTS[n]}]},
        "lines",
        PROMPTS,
    ),
    "responses of a server": (raw_response, "lines", None),
    "responses": (lambda n: {"prompt": PROMPTS[n], "response": TEXTS[n]}, "lines", PROMPTS),
    "responses (another server)": (lambda n: {"model": "m", "response": TEXTS[n], "done": True}, "lines", None),
    "responses of Gemini": (gemini_line, "s", PROMPTS),
    "conversations of a ChatGPT export": (chatgpt_conversation, "s", PROMPTS),
    "conversations of a ChatGPT export (another program)": (chatgpt_conversation_without_its_end, "s", PROMPTS),
    "conversations of a Claude export (another year)": (claude_conversation_of_parts, "s", PROMPTS),
    "conversations of a Claude export": (claude_conversation, "s", PROMPTS),
    "message trees of OpenAssistant": (openassistant_tree, "s", PROMPTS),
    "turns of UltraChat": (lambda n: {"id": f"s{n}", "data": [PROMPTS[n], TEXTS[n]]}, "s", PROMPTS),
    "responses of Anthropic": (
        lambda n: {
            "type": "message",
            "role": "assistant",
            "id": f"s{n}",
            "content": [{"type": "text", "text": TEXTS[n]}],
        },
        "s",
        None,
    ),
    "completions of several models": (
        lambda n: {"instruction": PROMPTS[n], "completions": [{"model": "a", "response": TEXTS[n]}]},
        "lines",
        PROMPTS,
    ),
    "results of promptfoo": (
        lambda n: {"promptIdx": 0, "testIdx": n, "prompt": {"raw": PROMPTS[n]}, "response": {"output": TEXTS[n]}},
        "numbers",
        PROMPTS,
    ),
    "observations of Langfuse": (
        lambda n: {
            "id": f"s{n}",
            "traceId": "t",
            "type": "GENERATION",
            "input": [{"role": "user", "content": PROMPTS[n]}],
            "output": {"role": "assistant", "content": TEXTS[n]},
        },
        "s",
        PROMPTS,
    ),
    "segments of axolotl": (
        lambda n: {"segments": [{"label": False, "text": PROMPTS[n]}, {"label": True, "text": TEXTS[n]}]},
        "lines",
        PROMPTS,
    ),
    "stories of KoboldAI": (
        lambda n: {"gamestarted": True, "prompt": TEXTS[n][:5], "memory": "Plain.", "actions": [TEXTS[n][5:], ""]},
        "lines",
        None,
    ),
    "stories of ROCStories": (
        lambda n: {
            "storyid": f"s{n}",
            "storytitle": "T",
            "sentence1": TEXTS[n].split(" ", 1)[0],
            "sentence2": TEXTS[n].split(" ", 1)[1],
        },
        "s",
        None,
    ),
    "chats of SillyTavern": (lambda n: {"mes": TEXTS[n], "is_user": False, "extra": {"model": "m"}}, "lines", None),
    "chats of Open WebUI": (
        lambda n: {"id": f"s{n}", "chat": {"messages": [*chat(n)[:1], chat(n)[1] | {"model": "m"}]}},
        "s",
        PROMPTS,
    ),
    "chats (talk)": (lambda n: {"uid": f"s{n}", "talk": chat(n)}, "s", PROMPTS),
    "prompts and generations": (
        lambda n: {"instruction": PROMPTS[n], "generation": TEXTS[n], "model_name": "m"},
        "lines",
        PROMPTS,
    ),
    "prompts and responses": (lambda n: {"question": PROMPTS[n], "responses": [TEXTS[n]]}, "lines", PROMPTS),
    "prompts and outputs": (lambda n: {"prompt": PROMPTS[n], "output": TEXTS[n]}, "lines", PROMPTS),
    "documents": (lambda n: {"id": f"s{n}", "prompt": PROMPTS[n], "text": TEXTS[n]}, "s", PROMPTS),
    "samples of OpenAI evals": (
        lambda n: {
            **{"run_id": "r", "event_id": n, "sample_id": f"s{n}", "type": "sampling"},
            "data": {"prompt": [{"role": "user", "content": PROMPTS[n]}], "sampled": [TEXTS[n]]},
        },
        "s",
        PROMPTS,
    ),
    "runs of LangSmith": (
        lambda n: {
            **{"id": f"s{n}", "run_type": "llm", "inputs": {"messages": [[{"kwargs": {"content": PROMPTS[n]}}]]}},
            "outputs": {"generations": [[{"text": TEXTS[n], "message": {}}]]},
        },
        "s",
        PROMPTS,
    ),
    "examples with inputs and outputs": (
        lambda n: {"id": f"s{n}", "inputs": {"question": PROMPTS[n]}, "outputs": {"answer": TEXTS[n]}},
        "s",
        PROMPTS,
    ),
    "inputs and outputs": (lambda n: {"inputs": PROMPTS[n], "outputs": TEXTS[n], "tokens": 3}, "lines", PROMPTS),
    "tasks of Label Studio": (
        lambda n: {
            **{"id": n, "data": {"prompt": PROMPTS[n]}},
            "annotations": [
                {"result": [{"type": "textarea", "value": {"text": [TEXTS[n]]}}, {"type": "choices", "value": {}}]}
            ],
        },
        "numbers",
        PROMPTS,
    ),
    "records of Argilla": (
        lambda n: {
            **{"id": f"s{n}", "fields": {"instruction": PROMPTS[n], "text": TEXTS[n]}},
            **{"metadata": {}, "suggestions": {}, "responses": {"quality": [{"value": "good"}]}},
        },
        "s",
        PROMPTS,
    ),
    "annotations of Prodigy": (
        lambda n: {"text": TEXTS[n], "_input_hash": n, "_task_hash": n, "answer": "accept"},
        "lines",
        None,
    ),
    "stories of NovelAI": (
        lambda n: {
            **{"storyContainerVersion": 1, "metadata": {"title": "T"}},
            "content": {"story": {"fragments": [{"data": TEXTS[n][:5]}, {"data": TEXTS[n][5:]}]}},
        },
        "lines",
        None,
    ),
    "notebooks of Jupyter": (
        lambda n: {
            "nbformat": 4,
            "cells": [
                {"cell_type": "markdown", "source": [TEXTS[n]]},
                {"cell_type": "code", "source": ["print(1)"], "outputs": []},
            ],
        },
        "lines",
        None,
    ),
    "chats of LM Studio": (
        lambda n: {
            "messages": [
                {"versions": [{"role": "user", "content": [{"type": "text", "text": PROMPTS[n]}]}]},
                {
                    "versions": [
                        {"role": "assistant", "steps": [{"type": "contentBlock", "content": [{"text": TEXTS[n]}]}]}
                    ]
                },
            ]
        },
        "lines",
        PROMPTS,
    ),
    "responses of OpenAI": (
        lambda n: {
            **{"id": f"s{n}", "object": "response", "input": PROMPTS[n]},
            "output": [
                {"type": "reasoning", "summary": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TEXTS[n]}]},
            ],
        },
        "s",
        PROMPTS,
    ),
    "results of a batch of Bedrock": (
        lambda n: {
            **{"recordId": f"s{n}", "modelInput": {"messages": [{"role": "user", "content": PROMPTS[n]}]}},
            "modelOutput": {"content": [{"type": "text", "text": TEXTS[n]}], "stop_reason": "end_turn"},
        },
        "s",
        PROMPTS,
    ),
    "predictions of Vertex AI": (
        lambda n: {"instance": {"prompt": PROMPTS[n]}, "predictions": [{"content": TEXTS[n]}]},
        "lines",
        PROMPTS,
    ),
    "test cases of DeepEval": (
        lambda n: {"name": f"s{n}", "input": PROMPTS[n], "actualOutput": TEXTS[n]},
        "s",
        PROMPTS,
    ),
    "results of a benchmark of vLLM": (lambda n: {"model_id": "m", "generated_texts": [TEXTS[n]]}, "lines", None),
    "submissions of Reddit": (
        lambda n: {"id": f"s{n}", "subreddit": "r", "title": "T", "selftext": TEXTS[n]},
        "s",
        None,
    ),
    "comments of Reddit": (
        lambda n: {"id": f"s{n}", "subreddit": "r", "link_id": "t3_a", "body": TEXTS[n]},
        "s",
        None,
    ),
    "stories": (lambda n: {"Title": "T", "Story": TEXTS[n]}, "lines", None),
    "dialogues of DialogueKit": (
        lambda n: {
            "conversation_id": f"s{n}",
            "conversation": [
                {"participant": "USER", "utterance": PROMPTS[n]},
                {"participant": "AGENT", "utterance": TEXTS[n]},
            ],
        },
        "s",
        PROMPTS,
    ),
    "questions and answers": (lambda n: {"question": PROMPTS[n], "answer": TEXTS[n]}, "lines", PROMPTS),
}


@pytest.mark.parametrize("name", LINES)
def test_records_on_lines(name, tmp_path):
    make, ids, prompts = LINES[name]
    documents_read, provenance = read(write(tmp_path / "f.jsonl", map(make, (0, 1))))
    assert documents_read == list(zip(IDS[ids], prompts or (None, None), TEXTS, strict=True))
    (described,) = provenance.source[READ_AS]
    assert described.startswith(name.partition(" (another")[0])
    assert REMARKS not in provenance.source


ELSEWHERE = {
    *("lm-evaluation-harness samples", "HELM scenario state", "lighteval details", "battles of an arena"),
    *("M4 pairs", "HC3 pairs", "RAID rows", "Fast-DetectGPT pairs", "annotations of AlpacaEval"),
    *(f"messages of a {name} export" for name in ("Slack", "Discord", "Telegram")),
    *("essays that say whether they are generated", "rows of a data set viewer"),
}
"""Formats with tests of their own."""


def test_every_row_of_the_table_has_an_expected_reading():
    assert {fmt.name for fmt in FORMATS} <= {name.partition(" (another")[0] for name in LINES} | ELSEWHERE
