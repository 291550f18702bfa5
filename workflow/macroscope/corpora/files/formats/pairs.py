"""Files with both sides, texts of people and of models: M4, RAID, HC3, and the pairs of Fast-DetectGPT.

The texts of people are the reference, those of models the candidate; they share the id and the prompt of their record.
"""

from collections.abc import Callable, Iterator

from macroscope.corpora.files.formats.declaration import Answer, Fields, Format, as_id, as_list, as_text


def _sides(human: str, machine: str, prompt: str = "", model: str = "") -> Callable[[Fields], Iterator[Answer]]:
    """Return a function that returns the texts of both sides, which are strings or lists of strings."""

    def answers(record: Fields) -> Iterator[Answer]:
        of_record = as_text(record.get(prompt)), as_id(record.get("id"))
        name = as_text(record.get(model))
        for text in as_list(record.get(human)):
            yield Answer(as_text(text), *of_record, None, is_human=True)
        for text in as_list(record.get(machine)):
            yield Answer(as_text(text), *of_record, name, is_human=False)

    return answers


M4 = Format(
    "M4 pairs",
    applies=lambda record: {"human_text", "machine_text"} <= set(record),
    answers=_sides("human_text", "machine_text", "prompt", "model"),
    text="human_text, machine_text",
    prompt="prompt",
    id="id",
    model="model",
    reads="human_text machine_text",
)
HC3 = Format(
    "HC3 pairs",
    applies=lambda record: {"human_answers", "chatgpt_answers"} <= set(record),
    answers=_sides("human_answers", "chatgpt_answers", "question"),
    text="human_answers[], chatgpt_answers[]",
    prompt="question",
    id="id",
    reads="human_answers chatgpt_answers",
)
FAST_DETECT_GPT = Format(
    "Fast-DetectGPT pairs",
    applies=lambda record: {"original", "sampled"} <= set(record) and "text" not in record,
    answers=_sides("original", "sampled"),
    text="original, sampled",
    id="id",
    reads="original sampled",
)


def _raid_answers(record: Fields) -> Iterator[Answer]:
    model = as_text(record.get("model"))
    is_human = model == "human"
    # The texts of a source are about one thing, whoever wrote them; people had no prompt.
    source = as_id(record.get("source_id"))
    text, author = as_text(record.get("generation")), None if is_human else model
    # Each text stands there again for each attack on detectors: with misspellings, other capitals, synonyms.
    attacked = "text altered by an attack" if record.get("attack") not in (None, "", "none") else ""
    yield Answer(text, None, source, author, is_human=is_human, left_out=attacked)


RAID = Format(
    "RAID rows",
    applies=lambda record: {"generation", "model", "source_id"} <= set(record),
    answers=_raid_answers,
    text="generation",
    id="source_id",
    model="model",
    reads="id prompt attack",
)
