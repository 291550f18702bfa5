"""What a config implies: the names, paths and options that the rules of the workflow ask for.

Rules map names to paths; every choice that depends on the config is made here, where it can be tested. Methods that
take `wildcards` are input and parameter functions of rules.
"""

import hashlib
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from macroscope.config.schema import parse_config
from macroscope.corpora import SIMULATED, reader
from macroscope.corpora.options import FilesCorpus, SimulatedCorpus, WebTextCorpus, WikipediaCorpus
from macroscope.corpora.parts import data_files, named_parts
from macroscope.corpora.retrieval import RemoteSource, remote_source
from macroscope.corpora.stop_words import stop_words_path
from macroscope.critics import CRITICS
from macroscope.critics.critic import is_empirical, load
from macroscope.documents import SPLITS
from macroscope.errors import MacroscopeError
from macroscope.judged import alternatives
from macroscope.model_plan import as_json
from macroscope.models import gpus_of, megabytes_of, threads_of
from macroscope.modules import modules_of
from macroscope.paths import CAPTIONS
from macroscope.probing_plan import ProbingPlan
from macroscope.systems.options import (
    ControlSystem,
    FilesSystem,
    LanguageModelSystem,
    PerturbationSystem,
    SimulatedSystem,
)
from macroscope.systems.perturbations.options import RemoveStopWords, SwapPronouns


class Plan(ProbingPlan):
    """The jobs of a config, as names and paths relative to the working directory."""

    # ---- files ---------------------------------------------------------------------------------------------------

    def targets(self) -> list[str]:
        """What a complete run leaves."""
        return [f"{self.results}/report.html"]

    def statistics(self) -> list[str]:
        """Every table of statistics, perplexities included."""
        latent = [f"{self.results}/statistics/{c}/{corpus}/{system}.csv" for c, corpus, system in self.comparisons]
        models = self.pairs(LanguageModelSystem)
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
            and self.kind_of_process(corpus) == "wiki"  # others do not tell their section types
            and isinstance(self.systems[system], SimulatedSystem | ControlSystem)
        }

    def simulated_order(self, wildcards: Any) -> str:
        """Order of a simulated system; that of the control is the process's."""
        system = self.systems[wildcards.system]
        return system.order if isinstance(system, SimulatedSystem) else "process"

    def simulated_kind(self, wildcards: Any) -> str:
        """Kind of the simulated corpus that a simulated system samples."""
        kind = self.kind_of_process(wildcards.corpus)
        assert kind is not None  # the config requires it
        return kind

    def documents(self) -> list[str]:
        """Documents of every corpus that is judged against."""
        return [f"{self.results}/corpora/{corpus}/documents.parquet" for corpus in self.corpora()]

    def samples(self) -> list[str]:
        """Samples of every system that is judged."""
        return [f"{self.results}/systems/{corpus}/{system}/samples.parquet" for corpus, system in self.pairs()]

    def latents_of_all(self, critic: str) -> Callable[[Any], list[str]]:
        """Input function: latents of every system that a critic judges on a corpus."""

        def latents(wildcards: Any) -> list[str]:
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

    def parts(self, wildcards: Any) -> list[str]:
        """Extracted parts of a corpus."""
        names = self._raw_parts(wildcards.corpus)
        return [f"{self.results}/corpora/{wildcards.corpus}/extracted/{name}.parquet" for name in names]

    def raw_part(self, wildcards: Any) -> str:
        """Raw file of a part of a corpus."""
        return self._raw_parts(wildcards.corpus)[wildcards.part]

    def user_files(self, wildcards: Any) -> list[str]:
        """Files of a system of kind 'files': the user's, or those of its data set."""
        system, place = self.systems[wildcards.system], f"systems.{wildcards.system}"
        assert isinstance(system, FilesSystem)  # the rule's constraint
        if system.dataset is None:
            return list(system.files)
        source = remote_source(system.dataset)
        if source.source != "webtext":
            raise MacroscopeError(
                f"{place}.dataset: {system.dataset!r} of resources/sources.yaml holds real documents, not a system's"
                " texts; give one such as gpt2-xl-output, or use it as a corpus"
            )
        return data_files(source, system.splits, place)

    def perturbed_samples(self, wildcards: Any) -> str:
        """Samples that a system of kind 'perturbation' perturbs."""
        system = self.systems[wildcards.system]
        assert isinstance(system, PerturbationSystem)  # the rule's wildcard constraint
        return f"{self.results}/systems/{wildcards.corpus}/{system.of}/samples.parquet"

    def stop_words(self, wildcards: Any) -> list[str]:
        """List of stop words of a corpus's language, where there is one and a perturbation of it reads one."""
        steps = self.systems[wildcards.system].perturb  # type: ignore[union-attr]
        path = stop_words_path(self.language(wildcards))
        reads = any(isinstance(step, RemoveStopWords | SwapPronouns) for step in steps)
        return [str(path)] if reads and path.exists() else []

    # ---- options, as JSON: only what a stage uses, so that nothing else re-runs it --------------------------------

    def simulation_options(self, wildcards: Any) -> str:
        """Options that shape a simulated corpus's raw file."""
        used = {"source", "kind", "documents", "clutter", "valid_share", "test_share"}
        return as_json(self.config.corpora[wildcards.corpus], used)

    def extraction_options(self, wildcards: Any) -> str:
        """Options of extraction: all of a corpus but its filters, and what only retrieval or simulation looks at."""
        corpus = self.config.corpora[wildcards.corpus]
        return as_json(corpus, set(type(corpus).model_fields) - {"unit", "filters", "documents", "clutter", "splits"})

    def preparation_options(self, wildcards: Any) -> str:
        """Options of the filters."""
        return self.config.corpora[wildcards.corpus].model_dump_json()

    def system_options(self, wildcards: Any) -> str:
        """All options of a system."""
        return self.systems[wildcards.system].model_dump_json()

    def language(self, wildcards: Any) -> str:
        """Language of a corpus."""
        return self.config.corpora[wildcards.corpus].language

    def critic_options(self, critic: str, *names: str) -> str:
        """Those options of a critic that a stage looks at."""
        return as_json(getattr(self.config.critics, critic), set(names))

    def critic_options_in_language(self, critic: str, *names: str) -> Callable[[Any], str]:
        """Parameter function: the same, in the corpus's language unless the options name one."""

        def options(wildcards: Any) -> str:
            chosen = getattr(self.config.critics, critic)
            language = chosen.language or self.language(wildcards)
            return as_json(chosen.model_copy(update={"language": language}), {"language", *names})

        return options

    def critic_signature(self, wildcards: Any) -> str:
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

    def mirror_flag(self) -> str:
        """`--mirror ...` where the config names one."""
        return f"--mirror {shlex.quote(self.config.mirror)}" if self.config.mirror else ""

    # ---- the code that a stage runs ------------------------------------------------------------------------------

    def extraction_modules(self, wildcards: Any) -> list[str]:
        """Modules that extract the documents of a corpus."""
        return list(modules_of(reader(self.config.corpora[wildcards.corpus])[0]))

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

    # ---- inside --------------------------------------------------------------------------------------------------

    def _raw_parts(self, name: str) -> dict[str, str]:
        """Part name -> raw file."""
        corpus = self.config.corpora[name]
        if isinstance(corpus, SimulatedCorpus):
            return {"simulated": f"{self.results}/corpora/{name}/raw/{SIMULATED[corpus.kind].raw}"}
        if isinstance(corpus, FilesCorpus) or corpus.files:
            return named_parts(corpus.files)
        splits = corpus.splits if isinstance(corpus, WebTextCorpus) else SPLITS
        return named_parts(data_files(self._source(name), splits, f"corpora.{name}"))

    def _source(self, name: str) -> RemoteSource:
        corpus = self.config.corpora[name]
        remote = corpus.dump if isinstance(corpus, WikipediaCorpus) else corpus.dataset  # type: ignore[union-attr]
        if remote is None:
            key = "dump" if isinstance(corpus, WikipediaCorpus) else "dataset"
            raise MacroscopeError(f"corpora.{name}: give '{key}', a source of resources/sources.yaml, or 'files'")
        found = remote_source(remote)
        if found.source != corpus.source:
            raise MacroscopeError(
                f"corpora.{name}: {remote!r} of resources/sources.yaml is read by 'source: {found.source}', not by"
                f" {corpus.source!r}; give that source, or another data set"
            )
        return found


def load_plan(raw: Mapping[str, Any]) -> Plan:
    """Check a config and plan its jobs."""
    return Plan(parse_config(raw))
