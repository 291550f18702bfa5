"""Dialogues as texts, with a section per turn: whole conversations, or the turns of one speaker."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from macroscope.readers.formats.declaration import Answer, Fields, Format, has_marks
from macroscope.readers.messages import NAMES_OF_ROWS, Message, as_messages, join_turns, list_said
from macroscope.readers.paths import get
from macroscope.readers.records import NumberedRows, Rows
from macroscope.readers.transcripts import read_transcript

WHOLE = "whole"
"""Name of all speakers together."""
_CONVERSATIONS = "conversation_id|dialogue_id|dialog_id|chat_id|session_id|thread_id"
"""Fields that say to which conversation a row belongs."""
_MOST_NAMED = 5


def with_turns(fmt: Format, whose: str) -> Format:
    """Return a format whose texts are the turns of a speaker, or of all: `WHOLE`."""
    missing = f"record without a turn{'' if whose == WHOLE else f' of {whose}'}"

    def answers(record: Fields) -> Iterator[Answer]:
        for answer in fmt.answers(record):
            turns = [each.text for each in _turns_of(answer) if whose.casefold() in (WHOLE, each.speaker.casefold())]
            left_out = answer.left_out or ("" if turns else missing)
            fields = {**answer.fields, "sections": turns} if turns else answer.fields
            yield replace(answer, text=None, prompt=None, fields=fields, left_out=left_out)

    return replace(fmt, read=answers)


def _turns_of(answer: Answer) -> list[Message]:
    said = answer.messages or (read_transcript(answer.text) if isinstance(answer.text, str) else [])
    return join_turns(said)


def list_speakers(fmt: Format, sample: Sequence[Fields]) -> list[str]:
    """List the speakers in the first records, those with most turns first."""
    answers = (answer for record in sample for answer in fmt.answers(record))
    counts = Counter(turn.speaker for answer in answers for turn in _turns_of(answer))
    return [name for name, _ in counts.most_common(_MOST_NAMED)]


def group_messages(rows: Rows, sample: Sequence[Fields], fmt: Format | None) -> Rows | None:
    """Return the conversations of rows that are a message each, one or one of each id; None if they are none.

    Messages of the program, which the format does not count as anybody's, are left out.
    """
    if 2 * sum(map(bool, map(_messages_of, sample))) <= len(sample):
        return None
    only = fmt.only if fmt and not fmt.only.startswith("is_user") else ""

    def read(_: Any) -> NumberedRows:
        for identifier, group in groupby(rows.read(None), lambda pair: get(pair[1], _CONVERSATIONS)):
            numbered = list(group)
            said = [said for _, row in numbered if has_marks(row, only) for said in _messages_of(row)]
            messages = [{"role": each.speaker, "content": each.text} for each in said]
            yield numbered[0][0], {"id": identifier, "messages": messages}

    return replace(rows, read=read, remarks=(*rows.remarks, "each row is a message of a conversation"))


def _messages_of(row: Fields) -> list[Message]:
    return list_said(as_messages([row], NAMES_OF_ROWS), NAMES_OF_ROWS)
