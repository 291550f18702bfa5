"""The key of a study as a file: its fields and their types."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

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
