"""The formats of people's files, each declared in a module of this folder, and the choice of the one that applies."""

from collections.abc import Mapping, Sequence

from macroscope.corpora.files.formats.chat_exports import ARENA, CHATGPT_EXPORT, CLAUDE_EXPORT, OPENASSISTANT, ULTRACHAT
from macroscope.corpora.files.formats.chats import CONVERSATIONS, MESSAGES, MT_BENCH
from macroscope.corpora.files.formats.completions import BATCH, GEMINI, RESPONSES, VLLM
from macroscope.corpora.files.formats.declaration import Fields, Format
from macroscope.corpora.files.formats.every_eval_ever import EVERY_EVAL_EVER
from macroscope.corpora.files.formats.helm import HELM
from macroscope.corpora.files.formats.inspect_ai import INSPECT_AI
from macroscope.corpora.files.formats.lighteval import LIGHTEVAL, OLDER_LIGHTEVAL
from macroscope.corpora.files.formats.lm_eval import LM_EVAL
from macroscope.corpora.files.formats.messengers import DISCORD, SLACK, TELEGRAM
from macroscope.corpora.files.formats.pairs import FAST_DETECT_GPT, HC3, M4, RAID
from macroscope.corpora.files.formats.plain import DOCUMENTS, NAMED

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
