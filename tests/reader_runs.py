"""Runs for tests of the reader: samples, scores and attributions in the workflow's layout, generated in a second."""

import json
from collections.abc import Iterable
from contextlib import chdir
from pathlib import Path

import numpy as np
import pandas as pd

from macroscope.critics.attributions import Attribution, write_attributions
from macroscope.documents import Document, Provenance, Section, write_documents
from macroscope.options import CONTROL
from macroscope.reporting.reader.writing import write_reader
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC

from .runs import describe_run

HOSTILE = [
    ("<script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\"> & <b>bold</b>"),
    ("quotes \" ' ` ${1}", "</script><script>document.title='run'</script> \\u0041 \\ end"),
    ("\u05e9\u05dc\u05d5\u05dd", "\u202e right to left \u05e9\u05dc\u05d5\u05dd\u202c \u2028 line \u2029 ends"),
    ("nul \u0000 and others", "nul \u0000, bell \u0007, joined \U0001f469\u200d\U0001f680 and \U0001d518 beyond"),
    ("javascript:document.title='run'", "]]> --> {{ 7 * 7 }} #wiki/other/x?by=y % %41"),
]


def texts(system: str, number: int, words: int = 60) -> list[Document]:
    """Return numbered texts of two sections, then the hostile ones; ids are the same for all systems."""
    rng = np.random.default_rng(len(system))
    documents = []
    for n in range(number):
        body = " ".join(f"w{value}" for value in rng.integers(0, 500, words))
        sections = (Section("Beginning", f"Text {n} of {system}: {body}."), Section(None, f"Second part {n}. {body}"))
        documents.append(Document(f"text-{n}", "test", f"Title {n}", sections))
    for n, (title, text) in enumerate(HOSTILE):
        documents.append(Document(f"hostile/{n} <i>?&#\"'", "test", title, (Section(title, text),)))
    return documents


def attributed(documents: Iterable[Document], factor: float) -> Iterable[Attribution]:
    """Yield attributions: text n has the score n times a factor, every third one marks on 'Text' and the second
    section."""
    for n, document in enumerate(documents):
        marks = []
        if len(document.sections) > 1 and n % 3 == 0:
            marks = [((0, 0, 4), 0.75, f'word <b>{n}</b> "quoted"')]
            marks.append(((1, 0, len(document.sections[1].text)), 0.5, "history → end: 0.001"))
        yield Attribution(document.id, np.nan if n == 7 else factor * n, marks)


def write_scores(path: Path, documents: list[Document], have_numbers: bool) -> None:
    """Write scores; with a further number "wit": text n has n / 2, and text 3 none."""
    table = pd.DataFrame({"id": [document.id for document in documents], "nll": 1.0, "units": 1.0})
    if have_numbers:
        table["number_wit"] = np.arange(len(documents)) / 2
        table.loc[3, "number_wit"] = np.nan
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path)


DESCRIBED = (Path("results/r1/config.json"), Path("results/r1/config.contents.json"))
"""The config and the contents of `write_run`'s run, from the folder that it is given."""


def write_detectability(statistics: Path, systems: list[str]) -> None:
    """Write two-sample tests: coherence is clearer than topics, and strings least clear."""
    for critic, value in (("coherence", 0.93), ("topics", 0.8), ("strings", 0.6)):
        rows = [("wiki", name, critic, C2ST_AUC, value) for name in systems]
        path = statistics / critic / "wiki.two_sample_test.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=["corpus", "system", "critic", "statistic", "value"]).to_csv(path, index=False)


def last_word(document: Document) -> list[tuple[tuple[int, int, int], float, str]]:
    """Mark the last word of a hostile text, after characters of any plane."""
    text = document.sections[0].text
    start = text.rindex(" ") + 1
    return [((0, start, len(text)), 1.0, "the last word")]


def write_run(folder: Path, systems: dict[str, int], words: int = 60) -> Path:
    """Write samples, attributions and the config of a run, and return the path of the config.

    Parameters
    ----------
    systems
        Name -> number of texts, the control first.
    """
    raw = {
        "run": "r1",
        "corpora": {"wiki": {"source": "simulated", "kind": "wiki", "documents": 100}},
        "systems": {
            name: {"kind": "perturbation", "of": CONTROL, "perturb": ["shuffle_words"]}
            for name in systems
            if name != CONTROL
        }
        | {CONTROL: {"kind": CONTROL}},
        "critics": {"coherence": {}, "strings": {}, "topics": {}},
        "comparisons": [{"corpus": "wiki", "systems": "all", "critics": ["coherence", "strings", "topics"]}],
    }
    results = folder / "results" / "r1"
    for name, number in systems.items():
        documents = texts(name, number, words)
        write_documents(results / "systems" / "wiki" / name / "samples.parquet", documents, Provenance("wiki"))
        critics = results / "critics"
        write_attributions(
            attributed(documents, 0.01), critics / "coherence" / "wiki" / "attributions" / f"{name}.parquet"
        )
        rare = [
            Attribution(d.id, float(len(documents) - n), last_word(d) if n >= number else [((0, 2, 9), 0.6, "rare")])
            for n, d in enumerate(documents)
        ]
        write_attributions(rare, critics / "strings" / "wiki" / "attributions" / f"{name}.parquet")
        for critic in ("coherence", "topics"):
            write_scores(critics / critic / "wiki" / "scores" / f"{name}.parquet", documents, critic == "topics")
        unmarked = (Attribution(d.id, -1.5 * n) for n, d in enumerate(documents))
        write_attributions(unmarked, critics / "topics" / "wiki" / "attributions" / f"{name}.parquet")
    write_detectability(results / "statistics", [name for name in systems if name != CONTROL])
    describe_run(raw, results)
    return results / "config.json"


def built_reader(folder: Path, systems: dict[str, int]) -> Path:
    """Write a run and its reader, and return the reader's folder."""
    write_run(folder, systems)
    with chdir(folder):
        write_reader(*DESCRIBED, Path("results/r1/reader"))
    return folder / "results" / "r1" / "reader"


def loaded(path: Path) -> list[object]:
    """Return the arguments of the call in a script."""
    text = path.read_text(encoding="utf-8")
    return json.loads("[" + text[text.index("(") + 1 : text.rindex(")")] + "]")
