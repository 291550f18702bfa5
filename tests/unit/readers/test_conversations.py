"""Exports of chat programs, the messages of messengers, and conversations as texts whose sections are turns."""

import json

import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import READ_AS, read_user_documents
from macroscope.readers.selection import Selection

from .layouts import (
    chatgpt_conversation,
    chatgpt_conversation_without_its_end,
    claude_conversation,
    inspect_sample,
    lm_eval_row,
    openassistant_tree,
)
from .records import PROMPTS, TEXTS, read

TELEGRAM = [
    {"id": 1, "type": "service", "date": "2025-11-26", "action": "create_group", "text": ""},
    {"id": 2, "type": "message", "date": "2025-11-26", "from": "Ann", "text": "A fox ran."},
    {
        "id": 3,
        "type": "message",
        "date": "2025-11-26",
        "from": "Bob",
        "text": ["It ", {"type": "bold", "text": "rained."}],
    },
]
SLACK = [
    {"type": "message", "subtype": "channel_join", "ts": "1", "user": "U1", "text": "<@U1> has joined the channel"},
    {"type": "message", "ts": "2", "user": "U1", "text": "A fox ran."},
    {"type": "message", "ts": "3", "user": "U2", "text": "It rained."},
]
DISCORD = [
    {"id": "1", "type": "GuildMemberJoin", "timestamp": "2025", "content": "Joined.", "author": {"name": "Ann"}},
    {"id": "2", "type": "Default", "timestamp": "2025", "content": "A fox ran.", "author": {"name": "Ann"}},
    {"id": "3", "type": "Reply", "timestamp": "2025", "content": "It rained.", "author": {"name": "Bob"}},
]
MESSENGERS = {
    "Telegram": {"name": "Stories", "type": "private_group", "id": 7, "messages": TELEGRAM},
    "Slack": SLACK,
    "Discord": {"guild": {"id": "1"}, "channel": {"id": "2"}, "messages": DISCORD, "messageCount": 3},
}


@pytest.mark.parametrize("messenger", MESSENGERS)
def test_messages_of_messengers(messenger, tmp_path):
    (tmp_path / "export.json").write_text(json.dumps(MESSENGERS[messenger], indent=1))
    documents, provenance = read(tmp_path / "export.json")
    assert [(prompt, text) for _, prompt, text in documents] == [(None, text) for text in TEXTS]
    assert [identifier for identifier, *_ in documents] == ["2", "3"]
    assert next(iter(provenance.source[READ_AS])).startswith(f"messages of a {messenger} export")
    assert {count.filter: count.dropped for count in provenance.counts if count.dropped} == {
        "messages of the program (joined, pinned, called)": 1
    }


@pytest.mark.parametrize("make", [chatgpt_conversation, chatgpt_conversation_without_its_end, claude_conversation])
def test_a_single_conversation_is_one_text(make, tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(make(0), indent=1))
    assert read(path)[0] == [("s0", PROMPTS[0], TEXTS[0])]


SAID = ["Hi.", "A fox ran.", "Where?", "Far away."]
CUE = "00:00:0{0}.000 --> 00:00:0{0}.900\n{1}\n\n"


def messages(key, content, names):
    return [{key: names[number % 2], content: text} for number, text in enumerate(SAID)]


def lines(form, names):
    return [form.format(number, names[number % 2], text) for number, text in enumerate(SAID)]


CHAT = [{"role": "system", "content": "Be brief."}, *messages("role", "content", ("user", "assistant"))]
DIALOGUES = {
    "chat.jsonl": ({"messages": CHAT}, "user"),
    "sharegpt.jsonl": ({"conversations": messages("from", "value", ("human", "gpt"))}, "user"),
    "sdialog.json": (
        {"version": "0.3", "turns": messages("speaker", "text", ("PATIENT", "DOCTOR")), "events": [{"text": "Hi."}]},
        "patient",
    ),
    "dialoguekit.json": (
        {
            **{"agent": {"id": "a"}, "user": {"id": "u"}},
            "dialogues": [{"conversation": messages("participant", "utterance", ("USER", "AGENT"))}],
        },
        "user",
    ),
    "multiwoz.json": ({"turns": messages("speaker", "utterance", ("USER", "SYSTEM"))}, "user"),
    "sillytavern.jsonl": (
        "\n".join(map(json.dumps, [{"user_name": "Bo"}, *messages("is_user", "mes", (True, False))])),
        "user",
    ),
    "slack.json": ([SLACK[0], *messages("user", "text", ("U1", "U2"))], "U1"),
    "discord.json": (messages("author", "content", ({"name": "ann"}, {"name": "bo"})), "ann"),
    "whatsapp.txt": ("".join(lines("26/11/2025, 14:0{} - {}: {}\n", ("Ann", "Bo"))), "Ann"),
    "zoom.vtt": ("WEBVTT\n\n" + "".join(lines(CUE.format("{0}", "{1}: {2}"), ("Ann Lee", "Bo"))), "Ann Lee"),
    "teams.vtt": ("WEBVTT\n\n" + "".join(lines(CUE.format("{0}", "<v {1}>{2}</v>"), ("Ann Lee", "Bo"))), "Ann Lee"),
    "play.txt": ("\n".join(lines("{1}: {2}", ("ANN", "BO"))), "ann"),
    "rows.csv": ("conversation_id,speaker,text\n" + "".join(lines("c1,{1},{2}\n", ("customer", "agent"))), "customer"),
}


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_conversation_is_a_text_of_turns(name, tmp_path):
    content, first = DIALOGUES[name]
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    for whose, expected in (("whole", SAID), (first, SAID[::2])):
        (document,) = read_user_documents([path], Provenance("x"), 0.1, 0.1, Selection(dialogue=whose))
        assert [section.text for section in document.sections] == expected
        assert document.prompt is None


@pytest.mark.parametrize(
    "make", [chatgpt_conversation, openassistant_tree, inspect_sample, lambda n: lm_eval_row(n, "none")]
)
def test_a_prompt_and_its_answer_are_a_conversation(make, tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps(make(0), indent=1))
    for whose, expected in (("whole", [PROMPTS[0], TEXTS[0]]), ("user", [PROMPTS[0]]), ("assistant", [TEXTS[0]])):
        (document,) = read_user_documents([path], Provenance("x"), 0.1, 0.1, Selection(dialogue=whose))
        assert [section.text for section in document.sections][-len(expected) :] == expected


def test_a_side_that_does_not_speak_is_refused(tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps(DIALOGUES["sdialog.json"][0]))
    with pytest.raises(MacroscopeError, match="give ⟨dialogue=PATIENT⟩ or ⟨dialogue=DOCTOR⟩"):
        read(path, Selection(dialogue="user"))
    with pytest.raises(MacroscopeError, match="⟨dialogue=whole⟩"):
        read(path)
    path.write_text(json.dumps({"text": "A fox ran."}))
    with pytest.raises(MacroscopeError, match=r"no conversations in its records; .* leave ⟨dialogue⟩ out"):
        read(path, Selection(dialogue="whole"))
