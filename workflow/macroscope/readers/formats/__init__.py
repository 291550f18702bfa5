"""The formats of people's files, each declared in a module of this folder, and the choice of the one that applies."""

from collections.abc import Mapping, Sequence

from macroscope.readers.formats.completions import BATCH, GEMINI, RESPONSES, VLLM
from macroscope.readers.formats.conversations import (
    ARENA,
    CHATGPT_EXPORT,
    CLAUDE_EXPORT,
    CONVERSATIONS,
    DISCORD,
    MESSAGES,
    MT_BENCH,
    OPENASSISTANT,
    SLACK,
    TELEGRAM,
    ULTRACHAT,
)
from macroscope.readers.formats.declaration import Fields, Format
from macroscope.readers.formats.evaluations import (
    EVERY_EVAL_EVER,
    HELM,
    INSPECT_AI,
    LIGHTEVAL,
    LM_EVAL,
    OLDER_LIGHTEVAL,
)
from macroscope.readers.formats.plain import DOCUMENTS, FAST_DETECT_GPT, HC3, M4, NAMED, RAID

_HARNESSES = (LM_EVAL, INSPECT_AI, HELM, LIGHTEVAL, OLDER_LIGHTEVAL, EVERY_EVAL_EVER, BATCH, MT_BENCH)
"""Formats with keys that no other program writes; whatever else such a record holds is about the evaluation."""
_CHATS = (CHATGPT_EXPORT, CLAUDE_EXPORT, ULTRACHAT, OPENASSISTANT, ARENA, GEMINI, SLACK, DISCORD, TELEGRAM)
_SIDES = (M4, HC3, RAID)
_OTHERS = (DOCUMENTS, FAST_DETECT_GPT, VLLM, MESSAGES, CONVERSATIONS, RESPONSES, *NAMED)
FORMATS: tuple[Format, ...] = (*_HARNESSES, *_CHATS, *_SIDES, *_OTHERS)
"""All formats, in the order in which they are tried."""


def find_formats(records: Sequence[Fields]) -> list[Format]:
    """Return the formats that apply to the first record that has one, the one to use first; empty if none has.

    More than one means that the file is ambiguous, which the user must know. A harness's format has no rival.
    """
    for record in records:
        applicable = [fmt for fmt in FORMATS if fmt.applies(record)]
        if applicable:
            return applicable[:1] if applicable[0] in _HARNESSES + _CHATS + _SIDES else applicable
    return []


def find_records(content: Mapping[str, object]) -> Sequence[object] | None:
    """Return the records inside of a JSON object that holds all of a file's; None if it is a record itself."""
    for fmt in FORMATS:
        if fmt.records is not None and (records := fmt.records(content)) is not None:
            return records
    return None
