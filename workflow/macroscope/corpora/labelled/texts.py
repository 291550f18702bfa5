"""What the formats of labelled data sets have in common: a text with its label."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelledText:
    """A text as it stands in the data set.

    Attributes
    ----------
    id
        Unique in the data set.
    split
        The official one, or None where there is none.
    label, text
        May be empty; such texts are dropped and counted.
    """

    id: str
    split: str | None
    label: str
    text: str
