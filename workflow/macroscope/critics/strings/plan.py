"""Plan of the fits of the strings critic: a job for each estimate of an LSTM, or the given model of KenLM."""

from macroscope.critics import VARIANT_SEPARATOR
from macroscope.critics.declaration import CriticPlan
from macroscope.critics.strings import CRITIC
from macroscope.critics.strings.options import StringsOptions
from macroscope.jobs import OUTPUT, Job, Values, resources_of, value_words
from macroscope.options import reference_of
from macroscope.stages import Function, Wildcards, as_json

NAME = "strings"
FITS = "fits"
"""Name of the input of stage `compare` that this plan gives."""
_PACKAGE = "macroscope.critics.strings"


class StringsPlan(CriticPlan):
    """Jobs specific to the strings critic: the fits of its LSTMs."""

    def stage_input(self, critic: str, stage: str, name: str) -> str | Function | None:
        """Return the fits of the real texts and of the system, or the given model; None for n-grams."""
        if name != FITS:
            return super().stage_input(critic, stage, name)
        if (model := self._options(critic).model) is not None:
            return lambda w: [model]
        if not self._has_fits(critic):
            return None
        return lambda w: [
            self._fits(critic).format(corpus=w.corpus, system=system, fit=fit).replace("<run>", self.config.run)
            for system in dict.fromkeys((reference_of(w.system), w.system))
            for fit in range(self._options(critic).number_of_fits)
        ]

    def jobs(self) -> list[Job]:
        """Return the job of a fit of each critic, or variant, that trains an LSTM."""
        variants = (name for name in self.config.variant_names() if name.partition(VARIANT_SEPARATOR)[0] == NAME)
        return [self._job(critic) for critic in (NAME, *variants) if self._has_fits(critic)]

    def _job(self, critic: str) -> Job:
        declared, place = CRITIC.stages["fit"], f"results/<run>/critics/{critic}/{{corpus}}"
        values: Values = {
            "resampling": lambda w: self.config.resampling(),
            "system": lambda w: w.system,
            "fit": lambda w: w.fit,
            "checkpoints": lambda w: f"{self.results}/critics/{critic}/{w.corpus}/fits.checkpoints",
        }
        return Job(
            name=f"fit_{critic}",
            command=f"critics run --critic {NAME} --stage fit",
            stage=declared,
            inputs={
                "control_latents": lambda w: self._latents(critic, w, reference_of(w.system)),
                "latents": f"{place}/latents/{{system}}.parquet",
            },
            outputs={OUTPUT: self._fits(critic)},
            options=lambda w: as_json(self._options(critic), declared.option_names),
            values=value_words(declared.value_names, values),
            modules=[declared.module(_PACKAGE)],
            resources=resources_of(declared, lambda w: self._options(critic)),
            folders=frozenset({OUTPUT}),
            constraints={"fit": r"\d+"},
            extras=CRITIC.extras,
        )

    def _latents(self, critic: str, wildcards: Wildcards, system: str) -> str:
        return f"{self.results}/critics/{critic}/{wildcards.corpus}/latents/{system}.parquet"

    def _fits(self, critic: str) -> str:
        return f"results/<run>/critics/{critic}/{{corpus}}/fits/{{system}}/{{fit}}"

    def _has_fits(self, critic: str) -> bool:
        return self._options(critic).estimator == "lstm"

    def _options(self, critic: str) -> StringsOptions:
        options: StringsOptions = self.config.critic(critic)
        return options
