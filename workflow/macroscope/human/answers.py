"""What annotators hand in: exported files against the key, every answer that does not count with its reason."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from macroscope.errors import MacroscopeError
from macroscope.files import parse_json, read_json
from macroscope.human.annotation_form import FORMAT, KEY, VERSION
from macroscope.human.questionnaire import Questionnaire

ANSWERS = "macroscope human answers"


@dataclass(frozen=True)
class Answer:
    """What an annotator said of a document, whole.

    Attributes
    ----------
    answers, reasons
        Question -> label of the choice, and why.
    types
        Of each section; empty where they were not asked for.
    marks
        (section, sentence) of each marked sentence, from 0.
    seconds
        That the text was looked at.
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
class Handed:
    """All that was handed in.

    Attributes
    ----------
    answers
        Those that count.
    training
        (annotator, sections, right at the first try) of each training text.
    excluded
        (file or annotator, reason) -> how many.
    """

    answers: list[Answer] = field(default_factory=list)
    training: list[tuple[str, str, int, int]] = field(default_factory=list)
    excluded: Counter[tuple[str, str]] = field(default_factory=Counter)


def read_key(sheet: Path) -> dict[str, Any]:
    """Read the key of a study's folder."""
    key = read_json(sheet / KEY if sheet.is_dir() else sheet)
    if not isinstance(key, dict) or key.get("format") != FORMAT or key.get("version") != VERSION:
        raise MacroscopeError(f"{sheet}: not the key of a study; give the folder that `macroscope human sheet` wrote")
    return key


def read_exports(key: dict[str, Any], paths: Sequence[Path]) -> Handed:
    """Read exported files, or folders of them.

    Of two exports of one annotator, every text's newest answer counts, and every training text's oldest, whatever the
    files are called. A file that is no whole export of this study, an answer that is not finished or does not fit its
    question: they are left out and counted.

    Raises
    ------
    MacroscopeError
        Where there is no file, or no answer is left; with the reasons.
    """
    handed, questionnaire = Handed(), Questionnaire.model_validate(key["questionnaire"])
    showings = {one["code"]: one for one in key["showings"]}
    newest: dict[str, tuple[tuple[str, str], str, dict[str, Any]]] = {}
    lessons: dict[tuple[str, str], tuple[tuple[str, str], dict[str, Any]]] = {}
    for path in _files(paths):
        export = _export(path, key, handed)
        if export is None:
            continue
        annotator, name = export["annotator"], _text(path.name)
        for answer in export["answers"]:
            showing = showings.get(str(answer.get("code")) if isinstance(answer, dict) else "")
            if showing is None or showing["annotator"] != annotator:
                handed.excluded[name, "a text that this annotator was not shown"] += 1
                continue
            if showing["digest"] != answer.get("digest"):
                handed.excluded[name, "the text is not that of the sheet"] += 1
                continue
            changed, before = _time(answer, export), newest.get(showing["code"])
            if before is not None and before[2] != answer:
                older = name if changed < before[0] else before[1]
                handed.excluded[older, "an older answer to the same text"] += 1
            if before is None or changed >= before[0]:
                newest[showing["code"]] = (changed, name, answer)
        for lesson in export["training"]:
            if isinstance(lesson, dict) and isinstance(lesson.get("first"), dict):
                place, tried = (annotator, str(lesson.get("code"))), (_time(lesson, export), lesson["first"])
                lessons[place] = min(lessons.get(place, tried), tried, key=lambda one: one[0])
    for code, (_, name, answer) in newest.items():
        found = _answer(answer, showings[code], questionnaire, key)
        if isinstance(found, Answer):
            handed.answers.append(found)
        else:
            handed.excluded[name, found] += 1
    handed.answers.sort(key=lambda one: (one.annotator, one.system, one.document, one.repeat))
    _count_untouched(key, newest, handed)
    handed.training = _training(key, lessons)
    if not handed.answers:
        why = "; ".join(f"{place}: {reason} ({count})" for (place, reason), count in sorted(handed.excluded.items()))
        raise MacroscopeError(f"{', '.join(map(str, paths))}: no finished answer of the study {key['study']}: {why}")
    return handed


def _files(paths: Sequence[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise MacroscopeError(f"{path}: no such file or folder of answers")
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise MacroscopeError(f"{path}: no exported file (.json) in this folder")
        found += inside
    return list(dict.fromkeys(found))


def _time(answer: dict[str, Any], export: dict[str, Any]) -> tuple[str, str]:
    """When an answer was changed, and then when it was exported: the seconds that it took go on without a change."""
    return str(answer.get("changed") or ""), str(export.get("exported") or "")


def _export(path: Path, key: dict[str, Any], handed: Handed) -> dict[str, Any] | None:
    """Content of an export of this study; None, with a count, where it is something else."""
    name = _text(path.name)
    try:
        found = parse_json(path.read_bytes(), str(path), "")
    except MacroscopeError:
        handed.excluded[name, "file: half an export, or none (not valid JSON); ask for it again"] += 1
        return None
    if not isinstance(found, dict) or found.get("format") != ANSWERS or found.get("version") != VERSION:
        handed.excluded[name, "file: no export of an annotation page"] += 1
    elif found.get("study") != key["study"]:
        handed.excluded[name, f"file: an export of another sheet (study {_text(found.get('study'))})"] += 1
    elif found.get("annotator") not in key["annotators"]:
        handed.excluded[name, "file: an annotator whom the sheet does not know"] += 1
    elif found.get("whole") is not True or not all(isinstance(found.get(n), list) for n in ("answers", "training")):
        handed.excluded[name, "file: half an export; ask for it again"] += 1
    else:
        return found
    return None


def _answer(
    raw: dict[str, Any], showing: dict[str, Any], questionnaire: Questionnaire, key: dict[str, Any]
) -> Answer | str:
    """An answer, or why it does not count."""
    sections = key["texts"][showing["digest"]]
    try:
        types = tuple(str(raw["types"].get(str(n)) or "") for n in range(len(sections)))
        answers = {str(name): str(label) for name, label in raw["answers"].items()}
        reasons = {str(name): _text(text) for name, text in raw["reasons"].items()}
        marks = tuple((int(section), int(sentence)) for section, sentence in raw["marks"])
        comment, seconds = _text(raw["comment"]), float(raw["seconds"])
        if not 0 <= seconds < math.inf:
            raise ValueError(seconds)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return "an answer of another form than the page writes"
    if any(not (0 <= s < len(sections) and 0 <= t < len(sections[s])) for s, t in marks):
        return "a mark on a sentence that is not there"
    if not questionnaire.section_types:
        types = ()
    elif not all(types):
        return "not finished: a section without a type"
    elif not set(types) <= set(key["types"]):
        return "a section type that was not to choose from"
    for question in questionnaire.questions:
        if question.name not in answers:
            return f"not finished: no answer to '{question.name}'"
        if answers[question.name] not in question.scores:
            return f"an answer to '{question.name}' that was not to choose from"
        if question.reason == "required" and not reasons.get(question.name):
            return f"not finished: no reason for '{question.name}'"
    place = (showing["annotator"], showing["code"], showing["system"], showing["document"])
    return Answer(*place, showing["digest"], showing["repeat"], answers, reasons, types, marks, comment, seconds)


def _text(value: Any) -> str:
    """What somebody typed, or called a file, as text that a file can hold: half a character becomes a question mark."""
    return str(value).strip().encode("utf-8", "replace").decode()


def _count_untouched(key: dict[str, Any], newest: dict[str, Any], handed: Handed) -> None:
    """Texts that nobody touched, by annotator."""
    for showing in key["showings"]:
        if showing["code"] not in newest:
            handed.excluded[showing["annotator"], "not begun, or not handed in"] += 1


def _training(
    key: dict[str, Any], lessons: dict[tuple[str, str], tuple[tuple[str, str], dict[str, Any]]]
) -> list[tuple[str, str, int, int]]:
    gold = {one["code"]: (one["document"], one["gold"]) for one in key["training"]}
    rows = []
    for (annotator, code), (_, first) in sorted(lessons.items(), key=lambda one: one[0]):
        if code in gold:
            document, types = gold[code]
            right = sum(first.get(str(n)) == kind for n, kind in enumerate(types))
            rows.append((annotator, document, len(types), right))
    return rows
