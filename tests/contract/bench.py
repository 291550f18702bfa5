"""Run of one critic on its case: stages run as in the workflow, with the same tree of results."""

from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.critics import critics
from macroscope.critics.findings import Findings
from macroscope.critics.run_stage import run_critic
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import write_json
from macroscope.options import CONTROL, Resampling
from macroscope.plan.critics import OUTPUTS, PLACES
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.stages import flags

from ..tiny import write_encoder
from .case import Case, Texts

RESAMPLING = Resampling(resamples=200, permutations=199)
SYSTEMS = (CONTROL, "alike", "harmless", "damaged")


class Bench:
    """Critic trained on its case, with its results on four systems.

    Attributes
    ----------
    critic, case
        Critic under test and its case.
    folder
        Folder of the results.
    """

    def __init__(self, name: str, case: Case, folder: Path) -> None:
        self.critic, self.case, self.folder = critics()[name], case, folder
        options = dict(case.options)
        if case.encoder:
            options[case.encoder] = str(write_encoder(folder / "encoder"))
        self.options = self.critic.options(**options)
        documents = [
            Document(d.id, "valid" if n % 10 == 0 else "train", d.title, d.sections)
            for n, d in enumerate(case.generate(case.train, 1))
        ]
        self.write(self.path("documents"), documents)
        self._write_truth()
        real = {CONTROL: case.generate(case.judged, 11), "alike": case.generate(case.judged, 12)}
        unmodified = case.generate(case.judged, 13)
        modified = {"harmless": case.harmless(unmodified), "damaged": case.damage(unmodified)}
        for system, texts in {**real, **modified}.items():
            self.write(self.path("texts", system), texts)
        for stage in ("train", "fit_prior"):
            self.run(stage)
        for system in SYSTEMS:
            self.run("project", system)
        self.run("learn_shared")
        for system in SYSTEMS:
            for stage in ("score", "explain", "compare", "attribute", "compare_scores"):
                self.run(stage, system)

    def write(self, path: Path, texts: Texts) -> Path:
        """Write documents in the language of the case."""
        write_documents(path, texts, Provenance("case", options={"language": "en"}))
        return path

    def path(self, name: str, system: str = CONTROL) -> Path:
        """Return the path of an input or output of a stage."""
        return self.folder / PLACES[name].format(run="r", critic=self.critic.name, corpus="c", system=system, shard="0")

    def run(
        self,
        stage: str,
        system: str = CONTROL,
        output: Path | None = None,
        shard: tuple[int, int | None] = (0, None),
        **instead: Any,
    ) -> Path | None:
        """Run a stage if the critic has it and its options enable it; `instead` overrides inputs and values by name."""
        declared = self.critic.data.all_stages.get(stage)
        if declared is None or not declared.takes_part(self.options):
            return None
        made = output or self.path(self._made(stage), system)
        inputs = {name: instead.get(name, self._input(name, system)) for name in declared.input_names}
        values_by_name: dict[str, Any] = {
            **{"corpus": "c", "system": system, "language": "en", "order": "process", "seed": 1, "confidence": 0.95},
            **{"critic": self.critic.name, "systems": list(SYSTEMS)},
            "resampling": vars(RESAMPLING),
            "checkpoints": self.path("checkpoints"),
            "threads": 1,
            "evidence": self.path("evidence", system),
        } | instead
        names = [
            *declared.value_names,
            *(("corpus", "system", "signature", "resampling") if stage == "compare" else ()),
        ]
        if "signature" in names:  # the stage signs with its options and the seed
            names = [*(name for name in names if name not in ("signature", "seed")), "seed"]
        words = {name: values_by_name[name] for name in names}
        if shard[1] is not None:
            words |= {"texts_shard": shard[0], "texts_per_shard": shard[1]}
        given = flags("--input", {name: path for name, path in inputs.items() if path is not None})[1::2]
        options = self.options.model_dump(include=self.critic.data.options_given(stage))
        run_critic(self.critic, stage, self.critic.options(**options), given, flags("--value", words)[1::2], made)
        return made

    def statistics(self) -> pd.DataFrame:
        """Return the statistics of all systems, with adjusted p-values."""
        paths = [path for system in SYSTEMS for path in self.statistics_of(system)]
        tables = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in paths]
        return with_adjusted_p_values(pd.concat(tables, ignore_index=True))

    def statistics_of(self, system: str) -> list[Path]:
        """Return the files with the statistics of a system."""
        return [path for name in ("statistics", "score_statistics") if (path := self.path(name, system)).exists()]

    def findings(self) -> Findings:
        """Return the input of the stages `overview` and `report`."""
        folder = self.path("inference").parent
        return Findings(
            self.critic.name, "c", folder, list(SYSTEMS), self.statistics(), self.options, 0.95, self.folder / "figures"
        )

    def _made(self, stage: str) -> str:
        if stage == "compare_scores":
            return "score_statistics" if self.critic.data.compares else "statistics"
        return OUTPUTS[stage]

    def _input(self, name: str, system: str) -> Path | list[Path] | None:
        if name in ("all_latents", "all_scores", "all_courses"):
            paths = [self.path(name.removeprefix("all_"), s) for s in SYSTEMS]
            return [path for path in paths if path.exists()]
        if name not in PLACES:  # an optional input of the critic's own plan
            return None
        path = self.path(name, system)
        return path if path.exists() else None

    def _write_truth(self) -> None:
        from macroscope.corpora.simulated.languages import describe_process
        from macroscope.corpora.simulated.people import people_process
        from macroscope.corpora.simulated.process import wiki_process
        from macroscope.corpora.simulated.scripts import script_process
        from macroscope.corpora.simulated.topics import topic_process

        from .cases.synthetic import case_process

        made = {
            "wiki": lambda: wiki_process().to_json(),
            "topics": lambda: topic_process().to_json(),
            "languages": describe_process,
            "people": lambda: people_process().to_json(),
            "scripts": lambda: script_process().to_json(),
            "hsmm": lambda: case_process().to_json(),
        }
        write_json(self.path("process"), made[self.case.kind_of_process]())
