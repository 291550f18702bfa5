"""Report items of the narrative critic for one corpus."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from macroscope.critics.findings import Findings, ReportItem, passage_items
from macroscope.critics.narrative import CRITIC
from macroscope.critics.narrative.generation import GENERATED, GENERATION, METRICS_SHOWN
from macroscope.critics.narrative.latents import DETECTION_COUNTS, ERRORS, EVALUATION, METRICS, SPEED, TRAINING
from macroscope.critics.narrative.operating_point import read_operating_points
from macroscope.critics.narrative.options import JUDGE
from macroscope.critics.narrative.segments import HELD_OUT
from macroscope.critics.report_tables import divergence_table, format_cell, statistics_table
from macroscope.files import RESOURCES, read_json
from macroscope.options import CONTROL
from macroscope.phrases import number
from macroscope.statistics.tidy import SIGNIFICANT
from macroscope.tables import read_csv

PUBLISHED_DETECTION, PUBLISHED_GENERATION = "narrative_published.csv", "narrative_published_generation.csv"


def read_published_detection() -> pd.DataFrame:
    """Read Table 3: corpus, task, model, accuracy, precision, recall, f1, auc (all in %; human rows lack the AUC)."""
    return pd.read_csv(RESOURCES / PUBLISHED_DETECTION)


def read_published_generation() -> pd.DataFrame:
    """Read Table 4: task, corpus, model, and the metrics as named in `generation.METRICS_SHOWN`."""
    return pd.read_csv(RESOURCES / PUBLISHED_GENERATION)


def published_table(tasks: Sequence[str]) -> pd.DataFrame:
    """Return the rows of Table 3 for these tasks, with display names."""
    table = read_published_detection()
    rows = table[table["task"].isin(tasks)]
    return rows.rename(columns={"f1": "F1", "auc": "AUC"}).astype(object).fillna("–")


TASKS = {"missing": "missing sentences", "discordant": "discordant sentences"}
HEADINGS = {
    "accuracy": "accuracy, %",
    "precision": "precision, %",
    "recall": "recall, %",
    "f1": "F1, %",
    "auc": "AUC, %",
}
SPLITS = {"train": "train", "valid": "valid", "test": "test", HELD_OUT: "held out, whole narratives"}
BASELINES = {"people": "people", "position": "position alone", "single_sentence": "single sentences"}
DOUBTFUL_SHOWN, ERRORS_SHOWN, WRITTEN_SHOWN = 5, 3, 5
ORDER_SHOWN = {
    "order_mean": ("mean log odds", 1.0),
    "order_mean_difference": ("difference to real text", 1.0),
    "order_ks": ("D to real text", 1.0),
    "order_hedges_g": ("Hedges' g", 1.0),
}
"""Statistic of the order -> (heading, factor)."""
USABLE_AUC = 0.55
"""Lower end of the judge's AUC interval up to which its detections are hardly better than chance."""


def list_detector_folders(findings: Findings) -> dict[str, dict[str, Path]]:
    """Return, by task and detector, the folders with detectors' metrics; the judge first."""
    folders_by_task: dict[str, dict[str, Path]] = {}
    for task in findings.options.tasks:
        folders = {name: findings.folder / "detectors" / f"{task}.{name}" for name in findings.options.detectors()}
        # The folder `inference` has a copy of the judge and its metrics.
        folders[JUDGE] = findings.folder / "inference" / task
        folders_by_task[task] = {name: folder for name, folder in folders.items() if (folder / METRICS).exists()}
    return folders_by_task


def items(findings: Findings) -> list[ReportItem]:
    """List tables and figures."""
    tasks = list(findings.options.tasks)
    statistics, folders = findings.statistics, list_detector_folders(findings)
    rates = {f"{task}_share": (f"{TASKS[task]}: detected, % of places", 100.0) for task in tasks}
    rates |= {f"{task}_corrected": (f"{TASKS[task]}: corrected, % of places", 100.0) for task in tasks}
    costs = {"latent_ppl": ("latent PPL", 1.0), "latent_ppl_ratio": ("× real text", 1.0)}
    worst = {
        f"worst_{task}_{name}": (f"{TASKS[task]}: {label}", 1.0)
        for task in tasks
        for name, label in (
            ("mean", "mean of the largest probability"),
            ("ks", "D to real text"),
            ("cliffs_delta", "Cliff's δ"),
        )
    }
    texts = {
        "too_short_share": ("one sentence or none, %", 100.0),
        "cut_sentence_share": ("sentences cut, %", 100.0),
    }
    return [
        ReportItem("rates", "Detected incoherence", statistics_table(statistics, costs | rates)),
        ReportItem("directions", "How systems differ from real text", directions_table(statistics, tasks)),
        ReportItem("rates_figure", "Detected incoherence by system", figure=findings.svg("rates")),
        ReportItem("doubtful", "The most doubtful places", _doubtful_sentences(findings), shows_texts=True),
        *passage_items(findings, "Narratives of {system} with doubtful places"),
        ReportItem("order", "Order of the sentences", statistics_table(statistics, ORDER_SHOWN)),
        ReportItem("worst", "Largest probability of a narrative", statistics_table(statistics, worst)),
        ReportItem(
            "divergences", "Divergences between distributions of the probabilities", divergence_table(statistics)
        ),
        ReportItem("detection", "Detectors on known damage", detection_table(folders), warning=make_warning(folders)),
        ReportItem("speed", "Speed of the detectors", speed_table(folders)),
        ReportItem("roc", "ROC curves", figure=findings.svg("roc")),
        ReportItem("published", "Detectors as published", published_table(tasks)),
        ReportItem("errors", "Errors of the judge", _errors(folders)),
        ReportItem(
            "damage", "Training and test segments of the detectors", damage_table(findings.folder / "inference", tasks)
        ),
        ReportItem("generation", "Generated sentences: metrics", _generation(findings)),
        ReportItem("written", "Generated sentences: examples", _written(findings)),
        ReportItem("texts", "Texts that were projected", statistics_table(statistics, texts)),
    ]


def directions_table(statistics: pd.DataFrame, tasks: Sequence[str]) -> pd.DataFrame:
    """Return, for each system whose rate of detection differs from real text's, the direction and its meaning."""
    indexed = statistics.set_index(["system", "statistic"])
    rows = []
    for system in statistics["system"].unique():
        for task in tasks:
            name = f"{task}_share"
            if (system, name) not in indexed.index or not indexed.at[(system, name), "p_adjusted"] < SIGNIFICANT:
                continue
            above = bool(indexed.at[(system, name), "value"] > indexed.at[(CONTROL, name), "value"])
            direction = f"{'more' if above else 'fewer'} than in real text"
            rows.append({"system": system, TASKS[task]: direction, "meaning": CRITIC.readings[name].predicate(above)})
    return pd.DataFrame(rows).fillna("–")


def detection_table(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    """Return metrics with intervals, a row per task and detector (cai2020 Table 3), followed by the baselines."""
    rows = []
    for task, detectors in folders.items():
        for name, folder in detectors.items():
            table, summary = read_csv(folder / METRICS), read_json(folder / EVALUATION)
            rows.append(
                {
                    "task": TASKS[task],
                    "detector": name,
                    **_metrics(table, "detector"),
                    "decisions": f"{summary['decisions']:,}",
                }
            )
        table = read_csv(detectors[JUDGE] / METRICS) if detectors else pd.DataFrame({"of": []})
        for name, label in BASELINES.items():
            if (table["of"] == name).any():
                rows.append({"task": TASKS[task], "detector": label, **_metrics(table, name)})
    return pd.DataFrame(rows).fillna("–")


def speed_table(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    """Return the segments per second that each detector reads (cai2020 §5.2, K80: 860 by sentence, 40 by token)."""
    rows = [
        {
            "task": TASKS[task],
            "detector": name,
            "segments per second": number(read_json(folder / SPEED)["segments_per_second"]),
            "parameters": f"{read_json(folder / TRAINING)['parameters']:,}",
        }
        for task, detectors in folders.items()
        for name, folder in detectors.items()
    ]
    return pd.DataFrame(rows)


def _metrics(table: pd.DataFrame, of: str) -> dict[str, str]:
    indexed = table[table["of"] == of].set_index("metric").assign(p_adjusted=float("nan"))
    return {
        heading: format_cell(indexed.loc[name], 100.0) for name, heading in HEADINGS.items() if name in indexed.index
    }


def damage_table(inference: Path, tasks: Sequence[str]) -> pd.DataFrame:
    """Return counts of the damaged segments of all splits, and the judge's operating point."""
    rows = []
    for task in tasks:
        folder = inference / task
        training, detections = read_json(folder / TRAINING), read_csv(folder / DETECTION_COUNTS)
        point = read_operating_points(inference)[task]
        for split, label in SPLITS.items():
            counts = {
                key.replace("_", " "): number(value) for key, value in training[split].items() if value is not None
            }
            rows.append({"task": TASKS[task], "split": label, **counts})
        rows[-1] |= {
            "threshold": number(point.threshold),
            "known damage detected, %": number(100 * detections["found"].sum() / max(1, detections["damaged"].sum())),
        }
    return pd.DataFrame(rows).fillna("–")


def make_warning(folders: dict[str, dict[str, Path]]) -> str | None:
    """Return a warning that names the tasks in which the judge is hardly better than chance; None if there is none."""
    weaknesses = []
    for task, detectors in folders.items():
        if JUDGE not in detectors:
            weaknesses.append(f"{TASKS[task]}: the test split has no narratives long enough to test the detector on")
            continue
        table = read_csv(detectors[JUDGE] / METRICS).set_index(["of", "metric"])
        low = table.at[("detector", "auc"), "ci_low"]
        if not low > USABLE_AUC:
            area = table.at[("detector", "auc"), "value"]
            weaknesses.append(
                f"{TASKS[task]}: AUC {number(area)} on known damage, lower end of the interval {number(low)}"
            )
    if not weaknesses:
        return None
    return (
        f"The detector is hardly better than chance ({'; '.join(weaknesses)}), so its detections say little about"
        " systems. Give more, or longer, narratives for training."
    )


def _doubtful_sentences(findings: Findings) -> pd.DataFrame:
    def show(table: pd.DataFrame) -> pd.DataFrame:
        return table.head(DOUBTFUL_SHOWN).assign(probability=lambda rows: rows["probability"].map(number))

    return findings.stack("doubtful.csv", show, control=True, keep_default_na=False)


def _errors(folders: dict[str, dict[str, Path]]) -> pd.DataFrame:
    tables = []
    for task, detectors in folders.items():
        if JUDGE in detectors:
            table = read_csv(detectors[JUDGE] / ERRORS, keep_default_na=False)
            rows = table.groupby("kind", sort=False).head(ERRORS_SHOWN)
            tables.append(rows.assign(probability=rows["probability"].map(number), task=TASKS[task]))
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["task", *(column for column in table if column != "task")]]


def _generation(findings: Findings) -> pd.DataFrame:
    """Return the metrics of generated sentences (cai2020 Table 4), and the published ones."""
    rows = []
    for task, folder, name in _infilled(findings):
        table = read_csv(folder / GENERATION)
        for source, metrics in table.groupby("of", sort=False):
            indexed = metrics.set_index("metric").assign(p_adjusted=float("nan"))
            shown_name = name if source == "generated" else "true sentences"
            rows.append(
                {"task": TASKS[task], "detector": shown_name}
                | {
                    label: format_cell(indexed.loc[key], factor)
                    for key, (label, factor) in METRICS_SHOWN.items()
                    if key in indexed.index
                }
            )
    if not rows:
        return pd.DataFrame()
    # The true sentences are the same for all detectors of a task.
    table = pd.DataFrame(rows).drop_duplicates()
    return (
        pd.concat([table, _published_generation(findings.options.tasks)], ignore_index=True).astype(object).fillna("–")
    )


def _published_generation(tasks: Sequence[str]) -> pd.DataFrame:
    """Return Table 4 with the headings and units of the report's table; published METEOR is with synonyms."""
    table = read_published_generation()
    rows = table[table["task"].isin(tasks)]
    columns = {"task": rows["task"].map(TASKS), "detector": rows["corpus"] + ", " + rows["model"] + " (published)"}
    return pd.DataFrame(columns | {label: rows[key] for key, (label, _) in METRICS_SHOWN.items() if key in rows})


def _written(findings: Findings) -> pd.DataFrame:
    """Tabulate the first generated sentences, those of one context below each other."""
    tables = [
        read_csv(folder / GENERATED, keep_default_na=False).head(WRITTEN_SHOWN).assign(task=TASKS[task], detector=name)
        for task, folder, name in _infilled(findings)
    ]
    if not tables:
        return pd.DataFrame()
    ordered = pd.concat(tables).sort_index(kind="stable").sort_values("task", ascending=False, kind="stable")
    return ordered[["task", "context", "true", "detector", "generated"]].reset_index(drop=True)


def _infilled(findings: Findings) -> list[tuple[str, Path, str]]:
    """Return (task, folder, detector) of all sets of generated sentences."""
    folder = findings.folder / "infilled"
    places = [(task, name) for task in findings.options.tasks for name in findings.options.detectors()]
    return [(task, folder / f"{task}.{name}", name) for task, name in places if (folder / f"{task}.{name}").is_dir()]
