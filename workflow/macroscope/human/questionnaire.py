"""Questionnaires for annotators: a user's YAML file, or that of deng2022, Appendix H."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from macroscope.errors import MacroscopeError
from macroscope.files import RESOURCES
from macroscope.options import Name, Options
from macroscope.strict_yaml import describe_errors, read_yaml

DEFAULT = RESOURCES / "questionnaires" / "deng2022.yaml"
WHOLE_TEXT = RESOURCES / "questionnaires" / "whole-text.yaml"
"""Questionnaire for texts without titled sections."""
MOST_CHOICES = 100
Level = Literal["nominal", "ordinal", "interval"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Choice(Options):
    """A possible answer to a question."""

    label: Text = Field(description="Text shown to the annotator.")
    score: float = Field(description="Score in the tables; larger is better.")


class Question(Options):
    """A question about a document."""

    name: Name = Field(description="Name in the tables.")
    text: Text = Field(description="Text shown to the annotator.")
    choices: list[Choice] = Field(
        min_length=2, max_length=MOST_CHOICES, description="Possible answers, in the order on the page."
    )
    level: Level = Field("ordinal", description="Scale of the answers, for Krippendorff's alpha.")
    reason: Literal["none", "optional", "required"] = Field(
        "optional", description="Whether the page asks for a reason."
    )

    @model_validator(mode="after")
    def _answers_differ(self) -> "Question":
        for field in ("label", "score"):
            values = [getattr(choice, field) for choice in self.choices]
            if duplicate := next((value for value in values if values.count(value) > 1), None):
                raise ValueError(f"question '{self.name}': two choices have the {field} {duplicate!r}")
            if len(set(values)) < len(values):
                raise ValueError(f"question '{self.name}': two choices have the {field} 0")
        return self

    @property
    def scores(self) -> dict[str, float]:
        """Return label -> score."""
        return {choice.label: choice.score for choice in self.choices}


class Questionnaire(Options):
    """The questions to annotators about each document."""

    title: Text = Field("What do you think of this text?", description="Heading of the page.")
    instructions: Text = Field(description="Instructions: what to do, and what to ignore.")
    training_instructions: str = Field("", description="Instructions for the training phase.")
    consent: str = Field("", description="Statement on the use of the answers.")
    section_types: bool = Field(False, description="Whether annotators first choose the type of every section.")
    marks: bool = Field(True, description="Whether annotators can mark sentences.")
    comment: bool = Field(True, description="Whether the page has a field for comments.")
    questions: list[Question] = Field(min_length=1, description="Questions; at least one.")

    @model_validator(mode="after")
    def _names_differ(self) -> "Questionnaire":
        names = [question.name for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError(f"two questions have the name '{next(n for n in names if names.count(n) > 1)}'")
        return self


def read_questionnaire(path: Path = DEFAULT) -> Questionnaire:
    """Read a questionnaire.

    Raises
    ------
    MacroscopeError
        If the file is not YAML, a key is misspelt (the message names the nearest), or there are no questions.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise MacroscopeError(f"{path}: not a questionnaire; write a mapping with 'instructions' and 'questions'")
    if not raw.get("questions"):
        raise MacroscopeError(f"{path}: the questionnaire has no questions; add at least one to 'questions'")
    models: dict[int, type[Options]] = {1: Questionnaire, 3: Question, 5: Choice}
    try:
        return Questionnaire.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError(describe_errors(error, path, models)) from None
