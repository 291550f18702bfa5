"""Options of the questions critic."""

from pydantic import Field

from macroscope.options import Options


class QuestionsOptions(Options):
    """Options of the critic: the marks that end a question."""

    marks: str = Field("?", min_length=1, description="Characters that end a question, such as '?؟'.")
