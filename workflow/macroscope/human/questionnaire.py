"""What annotators are asked: a questionnaire of one's own (YAML), or that of deng2022, Appendix H."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import RESOURCES, read_yaml
from macroscope.options import Name, Options

DEFAULT = RESOURCES / "questionnaires" / "deng2022.yaml"
MOST_CHOICES = 100
Level = Literal["nominal", "ordinal", "interval"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Choice(Options):
    """One possible answer."""

    label: Text = Field(description="What the annotator reads.")
    score: float = Field(description="Its number in the tables; larger is better.")


class Question(Options):
    """One question about a document."""

    name: Name = Field(description="Name in the tables.")
    text: Text = Field(description="What the annotator reads.")
    choices: list[Choice] = Field(
        min_length=2, max_length=MOST_CHOICES, description="Possible answers, in the order of the page."
    )
    level: Level = Field("ordinal", description="Scale of the answers, for Krippendorff's alpha.")
    reason: Literal["none", "optional", "required"] = Field("optional", description="Whether a reason is asked for.")

    @model_validator(mode="after")
    def _answers_differ(self) -> "Question":
        for what in ("label", "score"):
            values = [getattr(choice, what) for choice in self.choices]
            if twice := next((value for value in values if values.count(value) > 1), None):
                raise ValueError(f"question '{self.name}': two choices have the {what} {twice!r}")
            if len(set(values)) < len(values):
                raise ValueError(f"question '{self.name}': two choices have the {what} 0")
        return self

    @property
    def scores(self) -> dict[str, float]:
        """Label -> score."""
        return {choice.label: choice.score for choice in self.choices}


class Questionnaire(Options):
    """What annotators are asked about each document."""

    title: Text = Field("What do you think of this text?", description="Heading of the page.")
    instructions: Text = Field(description="What to do, and what not to look at.")
    training_instructions: str = Field("", description="The same for the training phase.")
    consent: str = Field("", description="What happens with the answers.")
    section_types: bool = Field(False, description="Whether the type of every section is asked for first.")
    marks: bool = Field(True, description="Whether sentences can be marked.")
    comment: bool = Field(True, description="Whether there is a field for a free comment.")
    questions: list[Question] = Field(min_length=1, description="At least one.")

    @model_validator(mode="after")
    def _names_differ(self) -> "Questionnaire":
        names = [question.name for question in self.questions]
        if len(set(names)) < len(names):
            raise ValueError(f"two questions are called '{next(n for n in names if names.count(n) > 1)}'")
        return self


def read_questionnaire(path: Path = DEFAULT) -> Questionnaire:
    """Read a questionnaire.

    Raises
    ------
    MacroscopeError
        Where it is no YAML, a key is misspelt (the nearest is named), or there is nothing to ask.
    """
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise MacroscopeError(f"{path}: not a questionnaire; it is a mapping with 'instructions' and 'questions'")
    if not raw.get("questions"):
        raise MacroscopeError(f"{path}: the questionnaire asks nothing; give at least one of 'questions'")
    try:
        return Questionnaire.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError("; ".join(f"{path}: {_sentence(one)}" for one in error.errors())) from None


def _sentence(found: Any) -> str:
    place = ".".join(str(part) for part in found["loc"])
    start = f"{place}: " if place else ""
    if found["type"] == "value_error":
        return f"{start}{found['ctx']['error']}"
    if found["type"] == "missing":
        return f"{start}this key is required"
    if found["type"] == "extra_forbidden":
        groups: dict[int, type[Options]] = {1: Questionnaire, 3: Question, 5: Choice}
        valid = groups[len(found["loc"])].model_fields
        return f"{start}there is no such key{nearest(str(found['loc'][-1]), valid)}"
    return f"{start}{found['msg'][0].lower()}{found['msg'][1:]}, not {found['input']!r}"
