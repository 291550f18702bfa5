"""Declaration of a kind of system: plain data, so that discovery imports none of the code that the kind runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from macroscope.stages import Stage

GENERATE = "generate"
"""Name of the stage that generates the samples of a system in one step."""
TRAIN = "train"
"""Name of the stage that trains the model which `generate` reads, for kinds other than language models."""
MEASURE = "measure_perplexity"
"""Name of the stage that measures the perplexity of a system's own model."""
SUMMARISE = "summarise_perplexity"
"""Name of the stage that turns the perplexity of documents into statistics of a system; see `summary_stage`."""


@dataclass(frozen=True)
class Kind:
    """A kind of system, that is, a way to produce text to be judged; `KIND` of a package or module.

    Attributes
    ----------
    options
        Class of its options as "module:class", relative to the package; a `systems.options.SystemOptions`.
    label, colour
        Label and colour in figures; the colours of `macroscope.colours` are safe for colour-blind readers.
    stages
        Stages by name. A kind that makes its samples in one step declares `generate` and needs no rule of its own;
        `plan.systems` lists what a stage may read. A kind that trains a model first also declares `train`, and one
        whose systems may have a perplexity (`SystemOptions.has_perplexity`) `measure_perplexity`.
    names_setting
        Whether figures show the setting of its systems beside their names.
    check
        Whether its texts check the numbers and are not themselves judged: real texts, texts of a known process, and
        texts with known defects. The report lists them apart from the systems under evaluation.
    extras
        Extras of the installation that it needs, as those of a critic.
    """

    options: str
    label: str
    colour: str
    stages: Mapping[str, Stage] = field(default_factory=dict)
    names_setting: bool = False
    check: bool = False
    extras: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def all_stages(self) -> Mapping[str, Stage]:
        """Declared stages, and the summary of the perplexity of kinds that measure one."""
        measured = self.stages.get(MEASURE)
        return {**self.stages, **({SUMMARISE: summary_stage(measured)} if measured else {})}


def summary_stage(measured: Stage) -> Stage:
    """Declare the summary of what a stage `measure_perplexity` writes; it is signed with that stage's options."""
    return Stage(
        "macroscope.systems.perplexity:summarise_perplexity",
        inputs="perplexity corpus system resampling",
        options=measured.options,
    )
