"""Options of the questions critic."""

from pydantic import Field

from macroscope.options import Options


class QuestionsOptions(Options):
    """What a question is."""

    marks: str = Field("?", min_length=1, description="Characters that end a question, such as '?؟'.")
