"""One critic at work on its case: its stages are run as the workflow runs them, into the same tree of results."""

from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.critics import critics
from macroscope.critics.declaration import MAKES, signature
from macroscope.critics.findings import Findings
from macroscope.critics.run_stage import run_critic
from macroscope.documents import Document, Provenance, write_documents
from macroscope.files import write_json
from macroscope.options import CONTROL
from macroscope.plan.critics import PLACES
from macroscope.reporting.tables import with_adjusted_p_values
from macroscope.stages import flags
from macroscope.statistics.comparison import compare_files
from macroscope.statistics.latent import Resampling

from ..tiny import write_encoder
from .case import Case, Texts

RESAMPLING = Resampling(resamples=200, permutations=199)
SYSTEMS = (CONTROL, "alike", "harmless", "damaged")
MADE = {
    **MAKES,
    "compare": "statistics",
    "explain": "evidence",
    "known_truth": "known_truth",
    "attribute": "attributions",
}


class Bench:
    """A critic, trained on its case, with what it says of four systems.

    Attributes
    ----------
    critic, case
        What is tested.
    folder
        Where the results are.
    """

    def __init__(self, name: str, case: Case, folder: Path) -> None:
        self.critic, self.case, self.folder = critics()[name], case, folder
        options = dict(case.options)
        if case.encoder:
            options[case.encoder] = str(write_encoder(folder / "encoder"))
        self.options = self.critic.options(**options)
        documents = [
            Document(d.id, "valid" if n % 10 == 0 else "train", d.title, d.sections)
            for n, d in enumerate(case.draw(case.train, 1))
        ]
        self.write(self.path("documents"), documents)
        self._write_truth()
        real = {CONTROL: case.draw(case.judged, 11), "alike": case.draw(case.judged, 12)}
        others = case.draw(case.judged, 13)
        for system, texts in {**real, "harmless": case.harmless(others), "damaged": case.damage(others)}.items():
            self.write(self.path("texts", system), texts)
        for stage in ("train", "fit_prior"):
            self.run(stage)
        for system in SYSTEMS:
            self.run("project", system)
        self.run("learn_shared")
        for system in SYSTEMS:
            for stage in ("score", "explain", "compare", "attribute"):
                self.run(stage, system)
            self.compare_scores(system)

    def write(self, path: Path, texts: Texts) -> Path:
        """Write documents in the language of the case."""
        write_documents(path, texts, Provenance("case", options={"language": "en"}))
        return path

    def path(self, name: str, system: str = CONTROL) -> Path:
        """Where something is."""
        return self.folder / PLACES[name].format(run="r", critic=self.critic.name, corpus="c", system=system, shard="0")

    def run(
        self,
        stage: str,
        system: str = CONTROL,
        output: Path | None = None,
        shard: tuple[int, int | None] = (0, None),
        **instead: Any,
    ) -> Path | None:
        """Run a stage, where the critic has it and its options ask for it; other inputs and values by their names."""
        declared = self.critic.data.stages.get(stage)
        if declared is None or not declared.takes_part(self.options):
            return None
        made = output or self.path(MADE[stage], system)
        inputs = {name: instead.get(name, self._input(name, system)) for name in declared.input_names}
        known: dict[str, Any] = {
            **{"corpus": "c", "system": system, "language": "en", "order": "process", "seed": 1, "confidence": 0.95},
            "resampling": vars(RESAMPLING),
            "checkpoints": self.path("checkpoints"),
            "threads": 1,
            "evidence": self.path("evidence", system),
            "signature": signature(self.critic, self.options, stage),
        } | instead
        names = [
            *declared.value_names,
            *(("corpus", "system", "signature", "resampling") if stage == "compare" else ()),
        ]
        given = flags("--input", {name: path for name, path in inputs.items() if path is not None})[1::2]
        values = flags("--value", {name: known[name] for name in names})[1::2]
        run_critic(self.critic, stage, self.options, given, values, made, shard)
        return made

    def compare_scores(self, system: str) -> None:
        """Compare the scores of a system with the control's, where the critic has any."""
        if not self.critic.data.scores:
            return
        name = "score_statistics" if self.critic.data.compares else "statistics"
        compare_files(
            self.path("scores"),
            self.path("scores", system),
            self.path(name, system),
            corpus="c",
            system=system,
            critic=self.critic.name,
            signature="",
            resampling=RESAMPLING,
        )

    def statistics(self) -> pd.DataFrame:
        """Numbers of all systems, with adjusted p-values."""
        paths = [path for system in SYSTEMS for path in self.statistics_of(system)]
        tables = [pd.read_csv(path, keep_default_na=False, na_values=[""]) for path in paths]
        return with_adjusted_p_values(pd.concat(tables, ignore_index=True))

    def statistics_of(self, system: str) -> list[Path]:
        """Files with the numbers of a system."""
        return [path for name in ("statistics", "score_statistics") if (path := self.path(name, system)).exists()]

    def findings(self) -> Findings:
        """What the stages of reporting look at."""
        folder = self.path("inference").parent
        return Findings(
            self.critic.name, "c", folder, list(SYSTEMS), self.statistics(), self.options, 0.95, self.folder / "figures"
        )

    def _input(self, name: str, system: str) -> Path | list[Path] | None:
        if name == "all_latents":
            return [self.path("latents", s) for s in SYSTEMS]
        if name not in PLACES:  # of the critic's own plan, and optional
            return None
        path = self.path(name, system)
        return path if path.exists() else None

    def _write_truth(self) -> None:
        from macroscope.corpora.simulated.genres import wiki_process
        from macroscope.corpora.simulated.languages import process
        from macroscope.corpora.simulated.people import people_process
        from macroscope.corpora.simulated.scripts import script_process
        from macroscope.corpora.simulated.topics import topic_process

        from .cases.synthetic import case_process

        made = {
            "wiki": lambda: wiki_process().to_json(),
            "topics": lambda: topic_process().to_json(),
            "languages": process,
            "people": lambda: people_process().to_json(),
            "scripts": lambda: script_process().to_json(),
            "hsmm": lambda: case_process().to_json(),
        }
        write_json(self.path("process"), made[self.case.kind_of_process]())
