"""States of HELM (`scenario_state.json`): one request state per instance, trial and request."""

from collections.abc import Iterator
from typing import Any

from macroscope.corpora.files.formats.declaration import (
    Answer,
    Fields,
    Format,
    as_id,
    as_list,
    as_text,
    get,
    transcript_of,
)


def _answers(record: Fields) -> Iterator[Answer]:
    prompt = as_text(get(record, "request.prompt")) or transcript_of(get(record, "request.messages"))
    identifier, model = as_id(get(record, "instance.id")), as_text(get(record, "request.model"))
    texts = [as_text(get(completion, "text")) for completion in as_list(get(record, "result.completions"))]
    for text in texts or [None]:
        yield Answer(text, prompt, identifier, model)


def _records(content: Fields) -> list[Any] | None:
    states = content.get("request_states")
    return states if isinstance(states, list) else None


HELM = Format(
    "HELM scenario state",
    applies=lambda record: isinstance(record.get("instance"), dict) and isinstance(record.get("request"), dict),
    answers=_answers,
    text="result.completions[].text",
    prompt="request.prompt",
    id="instance.id",
    model="request.model",
    records=_records,
)
