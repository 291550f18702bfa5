"""Jobs of stages that only one critic has: what they read, without paths, of which `plan.own_stages` makes rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from macroscope.options import ConfigView


@dataclass(frozen=True)
class StageJob:
    """A job of a critic's stage, by what it is about; the plan of the workflow makes paths of it.

    Attributes
    ----------
    stage
        Name of the stage; of an output, also a name in `plan.critics.PLACES`, or "sentence_vectors".
    critic, corpus
        Name of the critic, or of a variant, and of the corpus.
    keys
        Values of the keys in the stage's output (`Stage.output`); `system` and `shard` of a standard stage.
    """

    stage: str
    critic: str
    corpus: str
    keys: Mapping[str, str]

    def output(self, stage: str, *, corpus: str = "", **keys: str) -> "StageJob":
        """Return the job whose output this job reads: about the same, but for what is given."""
        return StageJob(stage, self.critic, corpus or self.corpus, {**self.keys, **keys})


Source = StageJob | str | Sequence["StageJob | str"]
"""An input: the output of a job, the path of a user's file, or any number of these."""


class CriticPlan:
    """Choices of a critic about its jobs, which depend on more than their declarations; `Critic.plan` names a subclass.

    Parameters
    ----------
    config
        The config of the run.
    name
        Name of the critic.
    """

    def __init__(self, config: ConfigView, name: str) -> None:
        self.config, self.name = config, name

    def corpora(self) -> list[str]:
        """Return the corpora that the critic describes besides those of comparisons."""
        return []

    def corpora_read(self) -> list[str]:
        """Return the corpora whose documents the critic's own stages read."""
        return []

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return input name -> source, of the inputs that are not just named after what they are.

        An input that is not here is a standard one, or the output of the stage of its name.
        """
        return {}

    def options(self, job: StageJob) -> Any:
        """Return the options of a job of an own stage: those of its critic, without what must not re-run it."""
        return self.config.critic(job.critic)

    def model_options(self, job: StageJob) -> Any:
        """Return the options that name the pretrained model of a job of an own stage."""
        return self.options(job)

    def values(self, job: StageJob) -> Mapping[str, Any]:
        """Return the values of a job of an own stage that are neither its keys nor values of the run."""
        return {}
