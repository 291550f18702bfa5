"""What a config implies: the names, paths and options that the rules of the workflow ask for.

Rules map names to paths; every choice that depends on the config is made here, where it can be tested. Methods that
take `wildcards` are input and parameter functions of rules.
"""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from macroscope.config.schema import parse_config
from macroscope.critics import CRITICS
from macroscope.critics.critic import is_empirical, load
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.modules import modules_of
from macroscope.paths import CAPTIONS
from macroscope.probing_plan import ProbingPlan
from macroscope.stages import Wildcards, alternatives, as_json


class Plan(ProbingPlan):
    """The jobs of a config, as names and paths relative to the working directory."""

    # ---- files ---------------------------------------------------------------------------------------------------

    def targets(self) -> list[str]:
        """What a complete run leaves."""
        return [f"{self.results}/report.html"]

    def statistics(self) -> list[str]:
        """Every table of statistics, perplexities included."""
        latent = [f"{self.results}/statistics/{c}/{corpus}/{system}.csv" for c, corpus, system in self.comparisons]
        models = self.language_models()
        return latent + [f"{self.results}/statistics/perplexity/{corpus}/{system}.csv" for corpus, system in models]

    def evidence(self) -> list[str]:
        """Every folder of critics' evidence."""
        return [f"{self.results}/critics/{c}/{corpus}/evidence/{system}" for c, corpus, system in self.comparisons]

    def calibrations(self) -> dict[tuple[str, str, str], str]:
        """(critic, corpus, system) -> file of what theory gives, wherever it gives anything."""
        return {
            (c, corpus, system): f"{self.results}/critics/{c}/{corpus}/theory/{system}.json"
            for c, corpus, system in self.comparisons
            if not is_empirical(c)
            and self.corpora.options(corpus).tells_section_types
            and self.systems.order(system) is not None
        }

    def simulated_order(self, wildcards: Wildcards) -> str:
        """Order that the known process gave a system's documents."""
        order = self.systems.order(wildcards.system)
        assert order is not None  # `calibrations` requires it
        return order

    def documents(self) -> list[str]:
        """Documents of every corpus that is judged against."""
        return [self.corpora.documents(corpus) for corpus in self.judged_corpora()]

    def samples(self) -> list[str]:
        """Samples of every system that is judged."""
        return [self.systems.samples(corpus, system) for corpus, system in self.pairs()]

    def models_with_estimates(self) -> list[tuple[str, str]]:
        """Every (corpus, system) whose own log q(x) is known, and which a critic estimates as well."""
        judged = dict.fromkeys(
            (corpus, s) for critic, corpus, s in self.comparisons if critic in ("strings", "clusters")
        )
        return [pair for pair in judged if self.systems.language_models.is_ancestral(pair[1])]

    def true_probabilities(self) -> list[str]:
        """Tables of their log-probabilities."""
        known = self.systems.language_models.log_probabilities
        return [known(corpus, system) for corpus, system in self.models_with_estimates()]

    def latents_of_all(self, critic: str) -> Callable[[Wildcards], list[str]]:
        """Input function: latents of every system that a critic judges on a corpus."""

        def latents(wildcards: Wildcards) -> list[str]:
            folder = f"{self.results}/critics/{critic}/{wildcards.corpus}/latents"
            return [
                f"{folder}/{s}.parquet"
                for c, corpus, s in self.comparisons
                if (c, corpus) == (critic, wildcards.corpus)
            ]

        return latents

    def shared_inference(self, critic: str) -> list[str]:
        """Folder of what a critic learns from all systems together; none where it learns nothing."""
        options = getattr(self.config.critics, critic)
        return [f"{self.results}/critics/{critic}/{{corpus}}/inference"] if options.clustering == "shared" else []

    # ---- options, as JSON: only what a stage uses, so that nothing else re-runs it --------------------------------

    def critic_options(self, critic: str, *names: str) -> str:
        """Those options of a critic that a stage looks at."""
        return as_json(getattr(self.config.critics, critic), set(names))

    def critic_options_in_language(self, critic: str, *names: str) -> Callable[[Wildcards], str]:
        """Parameter function: the same, in the corpus's language unless the options name one."""

        def options(wildcards: Wildcards) -> str:
            chosen = getattr(self.config.critics, critic)
            language = chosen.language or self.corpora.language(wildcards)
            return as_json(chosen.model_copy(update={"language": language}), {"language", *names})

        return options

    def critic_signature(self, wildcards: Wildcards) -> str:
        """`signature_of` the critic of a job."""
        return self.signature_of(wildcards.critic)

    def signature_of(self, critic: str) -> str:
        """Everything in the options of a critic that changes its numbers."""
        options = getattr(self.config.critics, critic)
        return f"{load(critic).signature(options)}|run_seed:{self.config.seed}"

    def scoring_critics(self) -> str:
        """Wildcard constraint: critics with a prior."""
        return alternatives(name for name in CRITICS if not is_empirical(name))

    def resampling_flags(self, permutations: bool = True) -> str:
        """Bootstrap and permutation, as flags."""
        options = self.config.statistics
        flags = f"--resamples {options.resamples} --confidence {options.confidence} --seed {self.config.seed}"
        return f"{flags} --permutations {options.permutations}" if permutations else flags

    def encoder_megabytes(self, critic: str) -> int:
        """Memory of a job with a critic's encoder."""
        return megabytes_of(getattr(self.config.critics, critic).encoder)

    def encoder_threads(self, critic: str) -> int:
        """Cores of a job with a critic's encoder."""
        return threads_of(getattr(self.config.critics, critic).encoder)

    def encoder_gpus(self, critic: str) -> int:
        """GPUs that a job with a critic's encoder asks for."""
        return gpus_of(getattr(self.config.critics, critic).encoder)

    # ---- the code that a stage runs ------------------------------------------------------------------------------

    def reporting_modules(self, stage: str) -> list[str]:
        """Modules of a stage of reporting, with what the critics contribute."""
        critics = {critic for critic, _, _ in self.comparisons}
        reports = {module for critic in critics for module in modules_of(f"{CRITICS[critic]}.report")}
        return sorted(reports.union(modules_of(f"macroscope.reporting.{stage}")))

    # ---- the report ----------------------------------------------------------------------------------------------

    @property
    def effective_config(self) -> str:
        """Where the config with all its defaults is kept beside the results."""
        return f"{self.results}/config.json"

    def effective_json(self) -> str:
        """The config with all its defaults."""
        return self.config.model_dump_json(indent=2) + "\n"

    def digest(self) -> str:
        """A hash of the config: a changed config makes the report anew."""
        return hashlib.sha256(self.effective_json().encode()).hexdigest()[:16]

    def captions(self) -> list[str]:
        """Captions of the report, and its page."""
        return sorted(str(path) for path in CAPTIONS.iterdir() if path.is_file())

    def where_to_look(self) -> str:
        """The files that a person opens first."""
        return (
            f"\nReport:       {self.results}/report.html  (open it in a browser)\n"
            f"Headline:     {self.results}/tables/headline.csv\n"
            f"All numbers:  {self.results}/tables/statistics.csv\n"
        )


def load_plan(raw: Mapping[str, Any]) -> Plan:
    """Check a config and plan its jobs."""
    return Plan(parse_config(raw))
