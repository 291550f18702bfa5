"""A study of two annotators who judge the same ten texts of two systems."""

import json

import pytest

from macroscope.criticize.inputs import GivenFields
from macroscope.human.annotation_form import write_annotation_form
from macroscope.human.assignment import Design
from macroscope.human.pool import pool_of_files
from macroscope.human.questionnaire import read_questionnaire

TYPES = ["introduction", "methods", "results"]
HOSTILE = (
    "</script><script>window.hacked = 1</script> <img src=x onerror='window.hacked = 1'> \"quotes\" & <!-- "
    "\u202eright to left \u0645\u0631\u062d\u0628\u0627 \u0000 null \ud83d\ude00 {{ braces }}"
)


def write_texts(path, name, count, titled=True):
    with path.open("w") as stream:
        for number in range(count):
            sections = [
                {"text": f"{name} text {number}, part {part}. A second sentence. {HOSTILE if number == 0 else ''}"}
                | ({"title": title} if titled else {})
                for part, title in enumerate(TYPES)
            ]
            stream.write(json.dumps({"id": f"{name}-{number}", "sections": sections}) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return write_texts(tmp_path / "real.jsonl", "real", 9), write_texts(tmp_path / "lm.jsonl", "lm", 5, titled=False)


@pytest.fixture
def study(tmp_path, files):
    """Return folder and key of a study: 5 texts per system, 2 annotators per text, 1 repeated text, 2 training
    texts."""
    real, model = files
    pool = pool_of_files([real], {"lm": [model]}, GivenFields(), "en", 2)
    key = write_annotation_form(pool, Design(5, 2, 2, 0.1, 2, 1), read_questionnaire(), tmp_path / "study")
    return tmp_path / "study", key


def make_answers(key, annotator, judge, changed="2026-01-01T10:00:00.000Z", question="coherent"):
    """Return the exported answers of an annotator to all texts: judge(showing) -> (types, answer to the question)."""
    answers = []
    for showing in key["showings"]:
        if showing["annotator"] == annotator:
            types, answer = judge(showing)
            answers.append(
                {
                    "code": showing["code"],
                    "digest": showing["digest"],
                    "is_finished": True,
                    "types": {str(n): kind for n, kind in enumerate(types)},
                    "answers": {question: answer},
                    "reasons": {},
                    "comment": "",
                    "marks": [],
                    "seconds": 30,
                    "changed": changed,
                }
            )
    return {
        "format": "macroscope human answers",
        "version": 1,
        "study": key["study"],
        "annotator": annotator,
        "training": [],
        "answers": answers,
        "whole": True,
    }
