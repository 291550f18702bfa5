"""Instances of Every Eval Ever (`samples.jsonl`): one line per sample of an evaluation of a model.

A sample of several turns has messages instead of an output; its last answer is the text.
"""

from collections.abc import Iterator

from macroscope.corpora.files.formats.chats import split_chat
from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text, get


def _answers(record: Fields) -> Iterator[Answer]:
    identifier, model = as_id(record.get("sample_id")), as_text(record.get("model_id"))
    if isinstance(record.get("messages"), list):
        prompt, text = split_chat(record["messages"])
        yield Answer(text, prompt, identifier, model)
        return
    prompt = as_text(get(record, "input.raw"))
    for text in as_list(get(record, "output.raw")) or [None]:
        yield Answer(as_text(text), prompt, identifier, model)


EVERY_EVAL_EVER = Format(
    "Every Eval Ever samples",
    applies=lambda record: {"evaluation_id", "model_id", "sample_id", "interaction_type"} <= set(record),
    answers=_answers,
    text="output.raw",
    prompt="input.raw",
    id="sample_id",
    model="model_id",
    reads="messages interaction_type",
)
