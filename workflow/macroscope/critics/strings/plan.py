"""Choices of the strings critic about its jobs: the fits of an LSTM that a comparison reads, or the given model."""

from collections.abc import Mapping

from macroscope.critics.stage_jobs import CriticPlan, Source, StageJob
from macroscope.options import reference_of


class StringsPlan(CriticPlan):
    """The input `fits` of the stage `compare`."""

    def sources(self, job: StageJob) -> Mapping[str, Source]:
        """Return the fits of the real texts and of the system, or the given model of KenLM; none for n-grams."""
        options = self.config.critic(job.critic)
        if job.stage != "compare" or options.estimator != "lstm":
            return {"fits": [options.model] if options.model is not None else []}
        systems = dict.fromkeys((reference_of(job.keys["system"]), job.keys["system"]))
        fits = range(options.number_of_fits)
        return {"fits": [job.output("fit", system=system, fit=str(fit)) for system in systems for fit in fits]}
