"""Writer of the reader: a page, and the texts beside it in scripts that are loaded on demand.

A page opened from a folder can load no files except scripts. Therefore data/run.js lists the systems,
data/<corpus>/<system>/index.js has the columns of the list (to display and to sort by), and data/<corpus>/<system>/
<number>.js the texts and marks of `CHUNK` documents.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.critics import get_critic
from macroscope.critics.attributions import read_attributions
from macroscope.documents import Collection, Document, in_batches, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import CAPTIONS, atomic
from macroscope.options import CONTROL
from macroscope.progress import progress
from macroscope.reporting.flags import flag_texts, read_keys
from macroscope.reporting.html_blocks import system_page
from macroscope.reporting.pages import render_page
from macroscope.reporting.reader.index import CriticScores, Index, PairedTexts
from macroscope.runs.results import Results
from macroscope.statistics.classifier_two_sample_test import C2ST_AUC
from macroscope.statistics.conformal import FALSE_FLAGS
from macroscope.tables import read_csv

SCRIPTS = sorted((CAPTIONS / "reader").glob("*.js"))
CHUNK = 100
"""Number of documents per file."""
COLOURS = 8
"""Number of critics' colours in reader.css."""
MarkedDocument = tuple[Document, dict[str, Sequence[dict[str, Any]]]]
"""A document, and its marks by critic."""


def write_reader(config: Path, contents: Path, output: Path) -> None:
    """Write the reader of a run.

    Parameters
    ----------
    config, contents
        Effective config and contents of the run.
    output
        Folder to write: index.html and the files that it loads.
    """
    results = Results(config, contents)
    with atomic(output) as folder:
        folder.mkdir()
        systems, detectability = [], _read_detectability(results)
        for corpus in dict.fromkeys(corpus for corpus, _ in results.contents.pairs):
            real = read_keys(results, corpus, CONTROL)
            systems += [
                _write_system(results, folder, corpus, system, real, detectability.get((corpus, system), {}))
                for system in results.systems(corpus)
            ]
        used = dict.fromkeys(chain.from_iterable(entry["critics"] for entry in systems))
        critics = {name: _describe_critic(name) for name in used}
        write_page(folder, results.config.run, critics, systems)


def write_page(
    folder: Path,
    run: str,
    critics: Mapping[str, Mapping[str, Any]],
    systems: Sequence[Mapping[str, Any]],
    link: tuple[str, str] = ("../report.html", "Back to the report"),
) -> None:
    """Write the page of a reader into a folder, and the scripts that it loads, apart from the texts.

    Parameters
    ----------
    critics
        Critic -> `score`, `unit`, `marks` and `quantities`.
    systems
        Entries of the systems; `write_texts` writes their texts.
    link
        Address and words of the link to another page.
    """
    (folder / "index.html").write_text(render_page("reader/reader", run=run, link=link), encoding="utf-8")
    for script in SCRIPTS:
        shutil.copyfile(script, folder / script.name)
    about = {"chunk": CHUNK, "colours": COLOURS, "critics": critics, "falseFlags": FALSE_FLAGS, "systems": systems}
    _write_call(folder / "data" / "run.js", "run", about)


def _describe_critic(critic: str) -> dict[str, Any]:
    declaration = get_critic(critic).data
    attribution = declaration.attribution
    assert attribution is not None
    return {
        "score": attribution.score,
        "unit": attribution.unit,
        "marks": attribution.marks,
        "quantities": dict(declaration.quantities),
    }


def _read_detectability(results: Results) -> dict[tuple[str, str], dict[str, float]]:
    """Return (corpus, system) -> critic -> detectability, where it is defined."""
    detectability: dict[tuple[str, str], dict[str, float]] = {}
    for path in results.tables("two_sample_tests"):
        table = read_csv(path)
        rows = table[(table["statistic"] == C2ST_AUC) & table["value"].notna()]
        for corpus, system, critic, value in rows[["corpus", "system", "critic", "value"]].itertuples(index=False):
            detectability.setdefault((corpus, system), {})[critic] = float(value)
    return detectability


def _write_system(
    results: Results, folder: Path, corpus: str, system: str, real: pd.DataFrame, detectability: Mapping[str, float]
) -> dict[str, Any]:
    """Write the index and the texts of a system, and return its entry of data/run.js."""
    key, samples = f"{corpus}/{system}", results.samples_of(corpus, system)
    files = _files_of(results, "attributions", corpus, system)
    control = _files_of(results, "attributions", corpus, CONTROL)
    further, further_of_control = (_files_of(results, "document_scores", corpus, name) for name in (system, CONTROL))
    ids = Collection(samples).ids()
    scores = {critic: CriticScores.read(file, control[critic], ids) for critic, file in files.items()}
    numbers = {
        critic: CriticScores.read_numbers(further[critic], further_of_control[critic], ids) if critic in further else {}
        for critic in files
    }
    flags = flag_texts(results, corpus, system, real)
    index = Index(scores, numbers, PairedTexts(real), flags, is_control=system == CONTROL)
    documents = progress(read_documents(samples), f"write {key}", unit="documents")
    write_texts(folder, key, _add_marks(documents, files), index)
    return {
        "key": key,
        "corpus": corpus,
        "system": system,
        "control": system == CONTROL,
        "page": None if system == CONTROL else f"../pages/{system_page(corpus, system)}.html",
        "texts": len(index.ids),
        "critics": sorted(files, key=lambda critic: -detectability.get(critic, 0.0)),
        "detectability": detectability,
    }


def write_texts(folder: Path, key: str, documents: Iterable[MarkedDocument], index: Index) -> None:
    """Write the texts of a system with their marks, and its index, to which they are added; `key`: corpus/system."""
    place = folder / "data" / key
    for number, batch in enumerate(in_batches(documents, CHUNK)):
        _write_call(place / f"{number}.js", "chunk", key, number, [_text(document, marks) for document, marks in batch])
        for document, marks in batch:
            index.add(document, {critic: len(critic_marks) for critic, critic_marks in marks.items()})
    _write_call(place / "index.js", "index", key, index.columns())


def _files_of(results: Results, output: str, corpus: str, system: str) -> dict[str, Path]:
    return {critic: file for (critic, *place), file in results.outputs(output).items() if place == [corpus, system]}


def _add_marks(documents: Iterable[Document], files: dict[str, Path]) -> Iterator[MarkedDocument]:
    """Yield documents with their marks by each critic; all files are read in parallel, row by row."""
    rows = {critic: read_attributions(path) for critic, path in files.items()}
    for document in documents:
        marks = {}
        for critic, critic_rows in rows.items():
            row = next((row for row in critic_rows if row["id"] == document.id), None)
            if row is None:
                raise MacroscopeError(
                    f"{files[critic]}: document {document.id!r} of the samples is missing, or not in their order;"
                    " delete the file and run again to make it anew"
                )
            if row["marks"]:
                marks[critic] = row["marks"]
        yield document, marks


def _text(document: Document, marks: dict[str, Sequence[dict[str, Any]]]) -> list[Any]:
    """Return [[title, text] per section, {critic: [section, start, end, weight, note] per mark}]."""
    units = [_units_of(section.text) for section in document.sections]

    def convert(mark: dict[str, Any]) -> list[Any]:
        place = units[mark["section"]]
        return [mark["section"], place(mark["start"]), place(mark["end"]), round(mark["weight"], 3), mark["note"]]

    converted = {critic: [convert(mark) for mark in critic_marks] for critic, critic_marks in marks.items()}
    return [[[section.title, section.text] for section in document.sections], converted]


def _units_of(text: str) -> Callable[[int], int]:
    """Return a function from code point offsets to UTF-16 offsets, which browsers count in."""
    if not text or max(text) <= "\uffff":
        return lambda place: place
    return lambda place: len(text[:place].encode("utf-16-le")) // 2


def _write_call(path: Path, function: str, *arguments: Any) -> None:
    """Write a script that calls a function of the page with the data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    given = ",".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in arguments)
    path.write_text(f"macroscope.{function}({given});\n", encoding="utf-8")
