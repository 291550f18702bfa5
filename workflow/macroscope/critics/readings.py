"""Words for readers about numbers of a system's texts that differ from those of real text, and about courses."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from macroscope.phrases import number
from macroscope.stages import Stage


@dataclass(frozen=True)
class Reading:
    """Words about one statistic.

    Attributes
    ----------
    above, below
        Predicates of "the texts", for a number above and below that of real text ("repeat word pairs more").
    worse
        Side on which the difference is a fault: "above", "below", or "" if neither side is. The other side is never an
        improvement, because real text is the measure.
    unit
        Unit of the number; "%" and "points" for shares, which are multiplied by 100.
    numbers
        Template of the numbers behind the predicate, with `value`, `real`, `size`, the absolute value, and, if the
        numbers are NLL in nats, `factor`, the ratio of the larger to the smaller probability.
    difference_of
        Name of the statistic whose value the number is, minus that of real text: both values are shown instead; "" for
        a number that is no difference.
    """

    above: str
    below: str
    worse: Literal["above", "below", ""] = ""
    unit: str = ""
    numbers: str = "{value} against {real}"
    difference_of: str = ""

    def predicate(self, above: bool) -> str:
        """Return the words for a number above, or below, that of real text."""
        return self.above if above else self.below

    def is_fault(self, above: bool) -> bool:
        """Return whether a number above, or below, that of real text is a fault."""
        return self.worse == ("above" if above else "below")

    def describe(self, above: bool, value: float, real: float) -> str:
        """Return the predicate with its numbers: "repeat word pairs more, 11.7 % against 7.5 %"."""
        if self.unit in _PER_CENT:
            texts = [f"{_per_cent(amount)} {self.unit}" for amount in (value, real, abs(value))]
        else:
            texts = [number(value), f"{number(real)} {self.unit}".rstrip(), number(abs(value))]
        numbers = dict(zip(("value", "real", "size"), texts, strict=True))
        if self.unit == "nats":
            numbers["factor"] = number(math.exp(abs(value - real)))
        return f"{self.predicate(above)}, {self.numbers.format(**numbers)}"

    def naming(self, observes: str) -> "Reading":
        """Return the words with the aspect that a critic measures in place of `{observes}`."""
        return replace(self, above=self.above.format(observes=observes), below=self.below.format(observes=observes))


@dataclass(frozen=True)
class Course:
    """Declaration of what a critic measures along the texts; see `critics.course`.

    Attributes
    ----------
    follow
        "module:function" of the values of each document's pieces, a `critics.course.Follower`.
    pieces
        Name of the pieces of a text, in the plural: words, sentences, mentions.
    fewest
        Smallest number of pieces of a text that has a course.
    measures
        Name of each measure -> words about texts that change otherwise than real ones; `Critic.quantities` has the
        title of the measure, as "course_<name>".
    """

    follow: str
    pieces: str
    fewest: int
    measures: Mapping[str, Reading]

    def stages(self, inputs: str = "", options: str = "", megabytes: int = 2000) -> dict[str, Stage]:
        """Return the stages `follow`, with the inputs and options that the critic's function uses, and `course`."""
        read = f"texts latents {inputs} critic language resampling"
        compared = "all_courses critic systems corpus signature resampling"
        return {
            "follow": Stage(
                "macroscope.critics.course:follow_texts", inputs=read, options=options, megabytes=megabytes
            ),
            "course": Stage("macroscope.critics.course:write_courses", inputs=compared, megabytes=megabytes),
        }


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f}" if abs(share) >= 0.0005 else number(100 * share)


_PER_CENT = ("%", "points")
_LIKELIHOOD = Reading("are less usual in {observes}", "are more predictable in {observes}", "above")
IN_PROBABILITY = "by a factor of {factor} in probability (latent NLL {value} against {real})"
SHARED_READINGS = {
    "latent_ppl": replace(_LIKELIHOOD, numbers="latent PPL {value} against {real}"),
    "latent_nll": replace(_LIKELIHOOD, numbers=IN_PROBABILITY, unit="nats"),
    "precision": Reading("are more often close to a real text", "are less often close to a real text", "below", "%"),
    "recall": Reading("cover more of the range of real texts", "cover less of the range of real texts", "below", "%"),
}
"""Statistic -> words, for statistics that several critics have; `{observes}` stands for what the critic measures."""
