"""Answers of annotators: exported files, checked against the key of the study; rejected answers have a reason."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from macroscope.errors import MacroscopeError
from macroscope.files import parse_as, parse_json, read_json, require_regular
from macroscope.human.annotation_form import FORMAT, KEY, VERSION
from macroscope.human.assignment import SCREENING
from macroscope.human.questionnaire import Questionnaire


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class KeyPlace(_Strict):
    """A place in a text; see `pool.Place`."""

    kind: Literal["sentence", "slot"]
    sentence: int


class KeyShowing(_Strict):
    """A text that an annotator is shown."""

    code: str
    annotator: str
    system: str
    document: str
    repeat: bool
    digest: str
    place: KeyPlace | None = None


class KeyLesson(_Strict):
    """A text of the training phase."""

    code: str
    document: str
    gold: list[str | None]
    sections: list[list[str]]


class KeyScreening(_Strict):
    """The screening task: the share of right answers to pass, and the score of the right answer to each document."""

    passing: float
    scores: dict[str, float]


class Key(_Strict):
    """The key of a study."""

    study: str
    questionnaire: Questionnaire
    types: list[str]
    language: str
    annotators: list[str]
    showings: list[KeyShowing]
    screening: KeyScreening | None = None
    training: list[KeyLesson]
    texts: dict[str, list[list[str]]]

    @model_validator(mode="after")
    def _has_texts(self) -> "Key":
        if missing := {showing.digest for showing in self.showings} - set(self.texts):
            raise ValueError(f"it lacks the text {min(missing)!r} that it shows")
        return self


ANSWERS = "macroscope human answers"


@dataclass(frozen=True)
class Answer:
    """A complete answer of an annotator about a document.

    Attributes
    ----------
    annotator, code, system, document, digest, repeat
        Identification of the showing; see `assignment.Showing`.
    answers, reasons
        Question -> label of the choice, and question -> reason.
    types
        Types of the sections; empty if the questionnaire has no section types.
    marks
        (section, sentence) of each marked sentence, from 0.
    comment
        Free comment.
    seconds
        Time spent on the text.
    """

    annotator: str
    code: str
    system: str
    document: str
    digest: str
    repeat: bool
    answers: dict[str, str]
    reasons: dict[str, str]
    types: tuple[str, ...]
    marks: tuple[tuple[int, int], ...]
    comment: str
    seconds: float


@dataclass
class CollectedAnswers:
    """All submitted answers.

    Attributes
    ----------
    answers
        Valid answers.
    training
        (annotator, document, number of sections, number right at the first attempt) per training text.
    screening
        (annotator, number of texts of the screening task, number right, whether they passed) per annotator.
    excluded
        (file or annotator, reason) -> number of excluded answers.
    """

    answers: list[Answer] = field(default_factory=list)
    training: list[tuple[str, str, int, int]] = field(default_factory=list)
    screening: list[tuple[str, int, int, bool]] = field(default_factory=list)
    excluded: Counter[tuple[str, str]] = field(default_factory=Counter)


def read_key(study: Path) -> dict[str, Any]:
    """Read the key from a study's folder.

    Raises
    ------
    MacroscopeError
        If it is not the key of a study.
    """
    path = study / KEY if study.is_dir() else study
    key = read_json(path) if path.exists() else None
    if not isinstance(key, dict) or key.get("format") != FORMAT or key.get("version") != VERSION:
        raise MacroscopeError(f"{study}: not the key of a study; give the folder written by `macroscope human sheet`")
    parse_as(Key, path.read_bytes(), str(path))
    return dict(key)


def read_answers(key: dict[str, Any], paths: Sequence[Path]) -> CollectedAnswers:
    """Read exported answers from files or folders of files.

    If an annotator submitted several files, the newest answer to each text counts, and the oldest to each training
    text, independent of the file names. Files that are not complete answers to this study, answers that are unfinished
    or do not match their question, and those of annotators who failed the screening task are excluded and counted.

    Parameters
    ----------
    key
        Key of the study; see `read_key`.
    paths
        Files, or folders of .json files.

    Raises
    ------
    MacroscopeError
        If there are no files, or no valid answers; the message has the reasons.
    """
    collected, questionnaire = CollectedAnswers(), Questionnaire.model_validate(key["questionnaire"])
    showings = {showing["code"]: showing for showing in key["showings"]}
    newest: dict[str, tuple[tuple[str, str], str, dict[str, Any]]] = {}
    lessons: dict[tuple[str, str], tuple[tuple[str, str], dict[str, Any]]] = {}
    for path in _list_files(paths):
        submission = _read_submission(path, key, collected)
        if submission is None:
            continue
        annotator, name = submission["annotator"], _clean_text(path.name)
        for answer in submission["answers"]:
            showing = showings.get(str(answer.get("code")) if isinstance(answer, dict) else "")
            if showing is None or showing["annotator"] != annotator:
                collected.excluded[name, "a text that was not shown to this annotator"] += 1
                continue
            if showing["digest"] != answer.get("digest"):
                collected.excluded[name, "the text differs from that of the study"] += 1
                continue
            changed, before = _time_key(answer, submission), newest.get(showing["code"])
            if before is not None and before[2] != answer:
                older = name if changed < before[0] else before[1]
                collected.excluded[older, "an older answer to the same text"] += 1
            if before is None or changed >= before[0]:
                newest[showing["code"]] = (changed, name, answer)
        for lesson in submission["training"]:
            if isinstance(lesson, dict) and isinstance(lesson.get("first"), dict):
                place, attempt = (annotator, str(lesson.get("code"))), (_time_key(lesson, submission), lesson["first"])
                lessons[place] = min(lessons.get(place, attempt), attempt, key=lambda item: item[0])
    for code, (_, name, answer) in newest.items():
        checked = _check_answer(answer, showings[code], questionnaire, key)
        if isinstance(checked, Answer):
            collected.answers.append(checked)
        else:
            collected.excluded[name, checked] += 1
    collected.answers.sort(key=lambda answer: (answer.annotator, answer.system, answer.document, answer.repeat))
    _screen_annotators(key, questionnaire, collected)
    _count_missing(key, newest, collected)
    collected.training = _score_training(key, lessons)
    if not collected.answers:
        reasons = "; ".join(
            f"{place}: {reason} ({count})" for (place, reason), count in sorted(collected.excluded.items())
        )
        raise MacroscopeError(f"{', '.join(map(str, paths))}: no valid answers to the study {key['study']}: {reasons}")
    return collected


def _list_files(paths: Sequence[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise MacroscopeError(f"{path}: no such file or folder; give exported answers")
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise MacroscopeError(f"{path}: no exported answers (.json) in this folder")
        files += inside
    for file in files:
        require_regular(file)
    return list(dict.fromkeys(files))


def _time_key(answer: dict[str, Any], submission: dict[str, Any]) -> tuple[str, str]:
    """Return (time of change, time of export): the seconds spent keep counting without a change."""
    return str(answer.get("changed") or ""), str(submission.get("exported") or "")


def _read_submission(path: Path, key: dict[str, Any], collected: CollectedAnswers) -> dict[str, Any] | None:
    """Read a file of answers to this study; None, with a count, if it is anything else."""
    name = _clean_text(path.name)
    try:
        content = parse_json(path.read_bytes(), str(path), "")
    except MacroscopeError:
        collected.excluded[name, "file: incomplete or not answers (invalid JSON); request it again"] += 1
        return None
    if not isinstance(content, dict) or content.get("format") != ANSWERS or content.get("version") != VERSION:
        collected.excluded[name, "file: not the answers of an annotation page"] += 1
    elif content.get("study") != key["study"]:
        collected.excluded[name, f"file: answers to another study ({_clean_text(content.get('study'))})"] += 1
    elif content.get("annotator") not in key["annotators"]:
        collected.excluded[name, "file: an annotator who is not in this study"] += 1
    elif content.get("whole") is not True or not all(isinstance(content.get(n), list) for n in ("answers", "training")):
        collected.excluded[name, "file: incomplete; request it again"] += 1
    else:
        return content
    return None


def _check_answer(
    raw: dict[str, Any], showing: dict[str, Any], questionnaire: Questionnaire, key: dict[str, Any]
) -> Answer | str:
    """Return the answer, or the reason why it is invalid."""
    sections = key["texts"][showing["digest"]]
    try:
        types = tuple(str(raw["types"].get(str(n)) or "") for n in range(len(sections)))
        answers = {str(name): str(label) for name, label in raw["answers"].items()}
        reasons = {str(name): _clean_text(text) for name, text in raw["reasons"].items()}
        marks = tuple((int(section), int(sentence)) for section, sentence in raw["marks"])
        comment, seconds = _clean_text(raw["comment"]), float(raw["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(seconds)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return "not in the format that the page writes"
    if any(not (0 <= s < len(sections) and 0 <= t < len(sections[s])) for s, t in marks):
        return "a mark on a sentence that does not exist"
    if not questionnaire.section_types:
        types = ()
    elif not all(types):
        return "not finished: a section without a type"
    elif not set(types) <= set(key["types"]):
        return "a section type that is not a choice"
    for question in questionnaire.questions:
        if question.name not in answers:
            return f"not finished: no answer to '{question.name}'"
        if answers[question.name] not in question.scores:
            return f"an answer to '{question.name}' that is not a choice"
        if question.reason == "required" and not reasons.get(question.name):
            return f"not finished: no reason for '{question.name}'"
    place = (showing["annotator"], showing["code"], showing["system"], showing["document"])
    return Answer(*place, showing["digest"], showing["repeat"], answers, reasons, types, marks, comment, seconds)


def _clean_text(value: Any) -> str:
    """Return typed text or a file name as valid Unicode; lone surrogates become question marks."""
    return str(value).strip().encode("utf-8", "replace").decode()


def _screen_annotators(key: dict[str, Any], questionnaire: Questionnaire, collected: CollectedAnswers) -> None:
    """Remove the answers to the screening task, and all answers of those who failed it: unanswered texts are wrong."""
    if not key.get("screening"):
        return
    expected, passing = key["screening"]["scores"], key["screening"]["passing"]
    given, kept = collected.answers, [answer for answer in collected.answers if answer.system != SCREENING]
    for annotator in dict.fromkeys(answer.annotator for answer in given):
        right = sum(
            all(
                asked.scores[answer.answers[asked.name]] == expected[answer.document]
                for asked in questionnaire.questions
            )
            for answer in given
            if answer.annotator == annotator and answer.system == SCREENING
        )
        passed = right >= passing * len(expected)
        collected.screening.append((annotator, len(expected), right, passed))
        if not passed:
            failed = sum(answer.annotator == annotator for answer in kept)
            collected.excluded[annotator, f"failed the screening task ({right} of {len(expected)} right)"] += failed
    rejected = {annotator for annotator, _, _, passed in collected.screening if not passed}
    collected.answers = [answer for answer in kept if answer.annotator not in rejected]


def _count_missing(key: dict[str, Any], newest: dict[str, Any], collected: CollectedAnswers) -> None:
    for showing in key["showings"]:
        if showing["code"] not in newest:
            collected.excluded[showing["annotator"], "not begun or not submitted"] += 1


def _score_training(
    key: dict[str, Any], lessons: dict[tuple[str, str], tuple[tuple[str, str], dict[str, Any]]]
) -> list[tuple[str, str, int, int]]:
    gold = {lesson["code"]: (lesson["document"], lesson["gold"]) for lesson in key["training"]}
    rows = []
    for (annotator, code), (_, first) in sorted(lessons.items(), key=lambda item: item[0]):
        if code in gold:
            document, types = gold[code]
            right = sum(first.get(str(n)) == kind for n, kind in enumerate(types))
            rows.append((annotator, document, len(types), right))
    return rows
