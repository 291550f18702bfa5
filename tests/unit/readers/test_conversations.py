"""Exports of chat programs: a single conversation, and the messages of messengers."""

import json

import pytest

from macroscope.readers.reading import READ_AS

from .layouts import chatgpt_conversation, chatgpt_conversation_without_its_end, claude_conversation
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
