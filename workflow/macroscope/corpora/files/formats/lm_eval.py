"""Samples of the lm-evaluation-harness (`samples_<task>_<date>.jsonl`): one row per document and filter.

`arguments` holds the requests of a document, `resps` the responses to each. A request that generates has settings
(`until`, `max_gen_toks`) beside its prompt; one that measures a likelihood has the continuation, or nothing. The rows
of several filters repeat the responses, so that they are the same text again.
"""

from collections.abc import Iterator
from typing import Any

from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text


def _requests(record: Fields) -> list[list[Any]]:
    """Return the arguments of each request; older versions write lists, newer ones objects."""
    arguments = record.get("arguments")
    requests = list(arguments.values()) if isinstance(arguments, dict) else as_list(arguments)
    return [list(request.values()) if isinstance(request, dict) else as_list(request) for request in requests]


def _answers(record: Fields) -> Iterator[Answer]:
    requests = _requests(record)
    responses = as_list(record.get("resps"))
    for number, of_request in enumerate(responses):
        request = requests[number] if number < len(requests) else []
        generates = not request or any(isinstance(argument, dict) for argument in request)
        prompt = as_text(request[0]) if request else None
        for response in as_list(of_request):
            if generates and isinstance(response, str):
                yield Answer(response, prompt, as_id(record.get("doc_id")))


LM_EVAL = Format(
    "lm-evaluation-harness samples",
    applies=lambda record: "doc_id" in record and "resps" in record,
    answers=_answers,
    text="resps",
    prompt="arguments",
    id="doc_id",
    reads="filter filtered_resps doc target",
)
