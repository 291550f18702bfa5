"""What the narrative critic contributes to the report of one corpus."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from macroscope.critics.divergence_report import divergence_table, statistics_table
from macroscope.critics.findings import MOST_SYSTEMS, Findings, ReportItem, passage_items
from macroscope.critics.narrative.figures import detector_folders
from macroscope.critics.narrative.generation import GENERATED, GENERATION, METRICS_SHOWN
from macroscope.critics.narrative.latents import ERRORS, EVALUATION, FOUND, METRICS, SPEED, TRAINING
from macroscope.critics.narrative.operating_point import read_operating_points
from macroscope.critics.narrative.options import JUDGE
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.critics.table_cells import cell
from macroscope.files import RESOURCES, read_json
from macroscope.tables import number, read_csv

PUBLISHED_DETECTION, PUBLISHED_GENERATION = "narrative_published.csv", "narrative_published_generation.csv"


def published_detection() -> pd.DataFrame:
    """Table 3: corpus, task, model, accuracy, precision, recall, f1, auc (all in %; no AUC of people)."""
    return pd.read_csv(RESOURCES / PUBLISHED_DETECTION)


def published_generation() -> pd.DataFrame:
    """Table 4: task, corpus, model, and the metrics as `generation.METRICS_SHOWN` names them."""
    return pd.read_csv(RESOURCES / PUBLISHED_GENERATION)


def published_rows(tasks: Sequence[str]) -> pd.DataFrame:
    """Table 3 of these tasks, for a reader."""
    table = published_detection()
    shown = table[table["task"].isin(tasks)]
    return shown.rename(columns={"f1": "F1", "auc": "AUC"}).astype(object).fillna("–")


TASKS = {"missing": "missing sentences", "discordant": "discordant sentences"}
HEADINGS = {
    "accuracy": "accuracy, %",
    "precision": "precision, %",
    "recall": "recall, %",
    "f1": "F1, %",
    "auc": "AUC, %",
}
SPLITS = {"train": "train", "valid": "valid", "test": "test", HELD_OUT: "held out, as wholes"}
BASELINES = {"position": "by position alone", "single_sentence": "by single sentences"}
DOUBTFUL_SHOWN, ERRORS_SHOWN, WRITTEN_SHOWN = 5, 3, 5
USABLE_AUC = 0.55
"""Lower end of the judge's AUC below which what it finds is next to chance."""


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    tasks = list(findings.options.tasks)
    statistics, folders = findings.statistics, detector_folders(findings)
    rates = {f"{task}_share": (f"{TASKS[task]}: found, % of places", 100.0) for task in tasks}
    rates |= {f"{task}_corrected": (f"{TASKS[task]}: corrected, % of places", 100.0) for task in tasks}
    costs = {"latent_ppl": ("latent PPL", 1.0), "latent_ppl_ratio": ("× real text", 1.0)}
    worst = {
        f"worst_{task}_{name}": (f"{TASKS[task]}: {label}", 1.0)
        for task in tasks
        for name, label in (
            ("mean", "mean of the worst place"),
            ("ks", "D to real text"),
            ("cliffs_delta", "Cliff's δ"),
        )
    }
    looked_at = {
        "too_short_share": ("one sentence or none, %", 100.0),
        "cut_sentence_share": ("sentences cut, %", 100.0),
    }
    found = [
        ReportItem("rates", "Detected incoherence", statistics_table(statistics, costs | rates)),
        ReportItem("rates_figure", "Where systems lie", figure=findings.figure("rates").with_suffix(".svg")),
        ReportItem("doubtful", "The most doubtful places", _doubtful(findings), shows_texts=True),
        *passage_items(findings, "Narratives of {system} with doubtful places"),
        ReportItem("worst", "The worst place of a narrative", statistics_table(statistics, worst)),
        ReportItem("divergences", "Divergences between how sure the detectors are", divergence_table(statistics)),
        ReportItem("detection", "Detectors on known damage", detection_table(folders), warning=warning_of(folders)),
        ReportItem("speed", "How fast they read", speed_table(folders)),
        ReportItem("roc", "ROC curves", figure=findings.figure("roc").with_suffix(".svg")),
        ReportItem("published", "Detectors as published", published_rows(tasks)),
        ReportItem("errors", "What the judge gets wrong", _errors(folders)),
        ReportItem("damage", "What the detectors learnt from", damage_table(findings.folder / "inference", tasks)),
        ReportItem("generation", "Sentences written into the gaps", _generation(findings)),
        ReportItem("written", "Some of them", _written(findings)),
        ReportItem("texts", "What was projected", statistics_table(statistics, looked_at)),
    ]
    return [item for item in found if item.table is None or len(item.table)]


def detection_table(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    """A row a task and detector: metrics with intervals (cai2020 Table 3), below them what needs no detector."""
    rows = []
    for task, of_task in folders.items():
        for name, folder in of_task.items():
            table, about = read_csv(folder / METRICS), read_json(folder / EVALUATION)
            rows.append(
                {
                    "task": TASKS[task],
                    "detector": name,
                    **_metrics(table, "detector"),
                    "decisions": f"{about['decisions']:,}",
                }
            )
        for name, label in BASELINES.items() if of_task else ():
            table = read_csv(of_task[JUDGE] / METRICS)
            rows.append({"task": TASKS[task], "detector": label, **_metrics(table, name)})
    return pd.DataFrame(rows).fillna("–")


def speed_table(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    """Segments a second that each detector reads (cai2020 §5.2: 860 by sentence, 40 by token, on a K80)."""
    rows = [
        {
            "task": TASKS[task],
            "detector": name,
            "segments a second": number(read_json(folder / SPEED)["segments_per_second"]),
            "parameters": f"{read_json(folder / TRAINING)['parameters']:,}",
        }
        for task, of_task in folders.items()
        for name, folder in of_task.items()
    ]
    return pd.DataFrame(rows)


def _metrics(table: pd.DataFrame, of: str) -> dict[str, str]:
    indexed = table[table["of"] == of].set_index("metric").assign(p_adjusted=float("nan"))
    return {heading: cell(indexed.loc[name], 100.0) for name, heading in HEADINGS.items()}


def damage_table(inference: Path, tasks: Sequence[str]) -> pd.DataFrame:
    """Counts of the damaged segments of every split, and the judge's operating point."""
    rows = []
    for task in tasks:
        folder = inference / task
        training, found = read_json(folder / TRAINING), read_csv(folder / FOUND)
        point = read_operating_points(inference)[task]
        for split, called in SPLITS.items():
            counts = {
                key.replace("_", " "): number(value) for key, value in training[split].items() if value is not None
            }
            rows.append({"task": TASKS[task], "split": called, **counts})
        rows[-1] |= {
            "threshold": number(point.threshold),
            "known damage found, %": number(100 * found["found"].sum() / max(1, found["damaged"].sum())),
        }
    return pd.DataFrame(rows).fillna("–")


def warning_of(folders: dict[str, dict[str, Path]]) -> str | None:
    """Say of which task the judge finds hardly more than chance."""
    weak = []
    for task, of_task in folders.items():
        if JUDGE not in of_task:
            weak.append(f"{TASKS[task]}: there is no test split with narratives that are long enough to test it on")
            continue
        table = read_csv(of_task[JUDGE] / METRICS).set_index(["of", "metric"])
        low = table.at[("detector", "auc"), "ci_low"]
        if not low > USABLE_AUC:
            area = table.at[("detector", "auc"), "value"]
            weak.append(f"{TASKS[task]}: AUC {number(area)} on known damage, and perhaps no more than {number(low)}")
    if not weak:
        return None
    return (
        f"The detector is hardly better than chance ({'; '.join(weak)}), so that what it says of systems says little."
        " More, or longer, narratives to learn from may help."
    )


def _doubtful(findings: Findings) -> pd.DataFrame:
    tables = []
    for system, table in findings.tables("doubtful.csv", MOST_SYSTEMS, control=True, keep_default_na=False):
        some = table.head(DOUBTFUL_SHOWN)
        tables.append(some.assign(probability=some["probability"].map(number), system=system))
    table = pd.concat(tables, ignore_index=True)
    return table[["system", *(column for column in table if column != "system")]]


def _errors(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    tables = []
    for task, of_task in folders.items():
        if JUDGE in of_task:
            table = read_csv(of_task[JUDGE] / ERRORS, keep_default_na=False)
            some = table.groupby("kind", sort=False).head(ERRORS_SHOWN)
            tables.append(some.assign(probability=some["probability"].map(number), task=TASKS[task]))
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["task", *(column for column in table if column != "task")]]


def _generation(findings: Findings) -> pd.DataFrame:
    """Metrics of the sentences that decoders write into gaps (cai2020 Table 4), and the published ones."""
    rows = []
    for task, folder, name in _infilled(findings):
        table = read_csv(folder / GENERATION)
        for of, some in table.groupby("of", sort=False):
            indexed = some.set_index("metric").assign(p_adjusted=float("nan"))
            who = name if of == "generated" else "true sentences"
            rows.append(
                {"task": TASKS[task], "detector": who}
                | {
                    label: cell(indexed.loc[key], factor)
                    for key, (label, factor) in METRICS_SHOWN.items()
                    if key in indexed.index
                }
            )
    if not rows:
        return pd.DataFrame()
    return pd.concat([pd.DataFrame(rows), _published_generation(findings.options.tasks)], ignore_index=True).fillna("–")


def _published_generation(tasks: Sequence[str]) -> pd.DataFrame:
    """Table 4 in the words and units of the table that it stands in; published METEOR is with synonyms."""
    table = published_generation()
    some = table[table["task"].isin(tasks)]
    shown = {"task": some["task"].map(TASKS), "detector": some["corpus"] + ", " + some["model"] + " (published)"}
    return pd.DataFrame(shown | {label: some[key] for key, (label, _) in METRICS_SHOWN.items() if key in some})


def _written(findings: Findings) -> pd.DataFrame:
    tables = [
        read_csv(folder / GENERATED, keep_default_na=False).head(WRITTEN_SHOWN).assign(task=TASKS[task], detector=name)
        for task, folder, name in _infilled(findings)
    ]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _infilled(findings: Findings) -> list[tuple[str, Path, str]]:
    """(task, folder, detector) of all that was written."""
    folder = findings.folder / "infilled"
    places = [(task, name) for task in findings.options.tasks for name in findings.options.detectors()]
    return [(task, folder / f"{task}.{name}", name) for task, name in places if (folder / f"{task}.{name}").is_dir()]
