"""Plan of comparisons at matched length: the jobs that derive the cut texts, and that compare lengths.

A derived system (`matched_length`) has its texts where other systems have theirs, so that critics read them alike.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from macroscope.jobs import OUTPUT, Job, resources_of, value_words
from macroscope.options import CONTROL, LENGTH, matched_reference, matched_system
from macroscope.stages import Function, Stage, alternatives, describe_versions

if TYPE_CHECKING:
    from macroscope.config.schema import Config
    from macroscope.plan.corpora import CorporaPlan
    from macroscope.plan.systems import SystemsPlan

PACKAGE = "macroscope.systems"
_CUT = "control samples language seed"
STAGES = {
    "match_system": Stage("length_matching:cut_system", inputs=_CUT, megabytes=4000),
    "match_control": Stage("length_matching:cut_control", inputs=_CUT, megabytes=4000),
    "match_corpus": Stage(
        "length_matching:cut_control", inputs=f"{_CUT} held_out", megabytes=4000, beside="samples.parquet"
    ),
    "compare_lengths": Stage(
        "length_matching:compare_lengths",
        inputs="control samples matched_control matched_samples corpus system signature seed confidence",
        megabytes=4000,
    ),
}
"""Stages of comparisons at matched length, in modules of `PACKAGE`."""
_FOLDER = "results/<run>/systems/{corpus}"
_STATISTICS = f"results/<run>/statistics/{LENGTH}/{{corpus}}/{{system}}.csv"
_DOCUMENTS = "documents.parquet"
"""Name of the file with all documents of a corpus at matched length."""


class MatchedLengthsPlan:
    """The systems of a config that are compared with real text at matched length.

    Parameters
    ----------
    corpora, systems
        Plans of the rooms to the left.
    compared
        (corpus, system) of every system that a critic compares at matched length.
    """

    def __init__(
        self, config: "Config", corpora: "CorporaPlan", systems: "SystemsPlan", compared: Iterable[tuple[str, str]]
    ) -> None:
        self.config, self.corpora, self.systems = config, corpora, systems
        self.compared = list(dict.fromkeys(compared))

    def documents(self, corpus: str, reference: str) -> str:
        """Return the path of all documents of a corpus at the matched length of a system."""
        return f"{self.systems.results}/systems/{corpus}/{reference}/{_DOCUMENTS}"

    def statistics(self) -> list[str]:
        """Return every table of statistics of lengths."""
        pattern = _STATISTICS.replace("<run>", self.config.run)
        return [pattern.format(corpus=corpus, system=system) for corpus, system in self.compared]

    def samples(self) -> list[tuple[str, str]]:
        """Return (corpus, derived system) of all cut texts."""
        return [
            (corpus, name(system)) for corpus, system in self.compared for name in (matched_system, matched_reference)
        ]

    def jobs(self) -> list[Job]:
        """Return the jobs that cut the system's texts and the real ones, and that compare their lengths."""
        if not self.compared:
            return []
        reference = f"{_FOLDER}/{matched_reference('{system}')}"
        cut = {"samples": f"{reference}/samples.parquet"}
        compared = {"control": self._real, "samples": self._samples}
        matched = f"{_FOLDER}/{matched_system('{system}')}/samples.parquet"
        if self._is_whole:
            outputs = {OUTPUT: f"{reference}/{_DOCUMENTS}", **cut}
            control = self._job("match_corpus", compared | {"held_out": self._control}, outputs)
        else:
            control = self._job("match_control", compared, {OUTPUT: cut["samples"]})
        lengths = compared | {"matched_control": control.outputs[OUTPUT], "matched_samples": matched}
        return [
            self._job("match_system", compared, {OUTPUT: matched}),
            control,
            self._job("compare_lengths", lengths, {OUTPUT: _STATISTICS}),
        ]

    @property
    def _is_whole(self) -> bool:
        return self.config.system(CONTROL).is_whole_corpus()

    def _samples(self, wildcards: Any) -> str:
        return self.systems.samples(wildcards.corpus, wildcards.system)

    def _control(self, wildcards: Any) -> str:
        return self.systems.samples(wildcards.corpus, CONTROL)

    def _real(self, wildcards: Any) -> str:
        return self.corpora.documents(wildcards.corpus) if self._is_whole else self._control(wildcards)

    def _job(self, name: str, inputs: Mapping[str, str | Function], outputs: Mapping[str, str]) -> Job:
        stage = STAGES[name]
        signature = f"unit:words|{describe_versions({name: STAGES[name].version for name in STAGES})}"
        values = {**self.corpora.values(), "signature": lambda w: signature}
        return Job(
            name=name,
            command=f"systems match --stage {name}",
            stage=stage,
            inputs=inputs,
            outputs=outputs,
            options=lambda wildcards: "{}",
            values=value_words(stage.value_names, values),
            modules=[stage.module(PACKAGE)],
            resources=resources_of(stage, lambda wildcards: None),
            constraints={"system": alternatives(dict.fromkeys(system for _, system in self.compared))},
        )
