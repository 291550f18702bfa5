"""What a kind of system declares: data, so that it is found without importing what it runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from macroscope.stages import Stage

GENERATE = "generate"
"""Stage that makes the samples of a system in one step."""
TRAIN = "train"
"""Stage that trains the model which `draw` reads, for kinds other than language models."""
MEASURE = "measure_perplexity"
"""Stage that measures the perplexity of a system's own model."""


@dataclass(frozen=True)
class Kind:
    """Whatever produces text to be judged; `KIND` in the `__init__` of a package.

    Attributes
    ----------
    options
        "module:class", relative to the package: its group of options, a `systems.options.SystemOptions`.
    label, colour
        In figures; the colours of `macroscope.colours` are safe for colour-blind readers.
    stages
        By name. A kind whose samples are made in one step declares `draw`, and needs no rule of its own: what a stage
        may read is listed in `plan.systems`. One that trains a model first declares `train`, too. The same holds for
        `measure_perplexity`, of those systems that say that they have a perplexity (`SystemOptions.has_perplexity`).
    names_setting
        Whether figures put the setting of its systems beside their names.
    check
        Whether its texts are there to see what the numbers do, and not to be judged: real ones, those of a known
        process, and such as are wrong in a known way. The report sets them apart from the systems in question.
    """

    options: str
    label: str
    colour: str
    stages: Mapping[str, Stage] = field(default_factory=dict)
    names_setting: bool = False
    check: bool = False
