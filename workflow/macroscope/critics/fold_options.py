"""Options of critics that can be cross-fitted (`critics.cross_fitting`)."""

from collections.abc import Mapping
from typing import Any, Literal, Protocol

from pydantic import Field

from macroscope.options import CONTROL, ConfigView, Options
from macroscope.stages import Stage

FOLDS = "folds"
"""Name of the option of critics that can be cross-fitted, which every stage reads that runs once for each fold."""


class StagesView(Protocol):
    """The parts of a critic's declaration that its folds depend on."""

    @property
    def cross_fits(self) -> bool:
        """Return whether the critic can be cross-fitted."""

    @property
    def all_stages(self) -> Mapping[str, Stage]:
        """Declared and shared stages by name."""


def count_folds(critic: StagesView, stage: str, options: Any) -> int:
    """Return the number of folds in which a stage of a critic runs; 1 if it runs once."""
    runs_by_fold = critic.cross_fits and FOLDS in critic.all_stages[stage].option_names
    return int(getattr(options, FOLDS)) if runs_by_fold else 1


class CrossFittedOptions(Options):
    """Number of folds of a critic that learns from real texts."""

    folds: Literal[1, 3, 5, 7] = Field(
        1,
        description="Number of folds of the real texts. 1: the critic learns from the training split, and compares the"
        " others. More: it compares all real texts (`whole` of the control), those of each fold by a fit to half of the"
        " other folds; what it shows of latents is about the first fold. For fewer than some thousand texts.",
    )

    def check(self, place: str, config: ConfigView) -> None:
        """Check that a cross-fitted critic may compare systems with all documents of the corpus."""
        super().check(place, config)
        control = config.systems.get(CONTROL)
        if self.folds > 1 and not (control is not None and control.is_whole_corpus()):
            raise ValueError(
                f"{place}.folds: a critic with folds compares systems with all documents of a corpus, and the control"
                " is a split of it; set systems.control.whole to true, or folds to 1"
            )
