"""The reader of a run: a page, and beside it the texts, in scripts that it loads when they are asked for.

A page that was opened from a folder may read no file of it but scripts. So data/run.js says which texts there are,
data/<corpus>/<system>/index.js has a line of each (what a list shows and is ordered by), and data/<corpus>/<system>/
<number>.js the texts and marks of `CHUNK` documents.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from macroscope.critics import critic_named
from macroscope.critics.attributions import read_attributions
from macroscope.documents import Document, in_batches, read_documents
from macroscope.errors import MacroscopeError
from macroscope.files import CAPTIONS, atomic
from macroscope.options import CONTROL
from macroscope.progress import progress
from macroscope.reporting.links import system_page
from macroscope.reporting.reader.index import Index, Partners, ScoresOfCritic
from macroscope.reporting.results import Results

FOLDER = CAPTIONS / "reader"
PAGE = "reader.html.jinja"
CHUNK = 100
"""Documents of a file."""
COLOURS = 8
"""That reader.css has for critics."""
Judged = tuple[Document, dict[str, Sequence[dict[str, Any]]]]
"""A document, and the marks of each critic that makes any."""


def write_reader(config: Path, output: Path) -> None:
    """Write the reader of a run.

    Parameters
    ----------
    config
        The effective config.
    output
        Folder: index.html, and what it loads.
    """
    results = Results(config)
    with atomic(output) as folder:
        folder.mkdir()
        _write_page(folder, results.plan.config.run)
        systems = []
        for corpus in dict.fromkeys(corpus for corpus, _ in results.plan.critics.pairs):
            real = Partners.read(_samples(results, corpus, CONTROL))
            systems += [_write_system(results, folder, corpus, system, real) for system in results.systems(corpus)]
        used = dict.fromkeys(chain.from_iterable(entry["critics"] for entry in systems))
        critics = {name: _described(name) for name in used}
        about = {"chunk": CHUNK, "colours": COLOURS, "critics": critics, "systems": systems}
        _write_call(folder / "data" / "run.js", "run", about)


def _write_page(folder: Path, run: str) -> None:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    page = environment.from_string((FOLDER / PAGE).read_text(encoding="utf-8")).render(run=run)
    (folder / "index.html").write_text(page, encoding="utf-8")
    for path in sorted(path for path in FOLDER.iterdir() if path.name != PAGE):
        shutil.copyfile(path, folder / path.name)


def _described(critic: str) -> dict[str, str]:
    attribution = critic_named(critic).data.attribution
    assert attribution is not None
    return {"score": attribution.score, "unit": attribution.unit, "marks": attribution.marks}


def _samples(results: Results, corpus: str, system: str) -> Path:
    return Path(results.plan.systems.samples(corpus, system))


def _write_system(results: Results, folder: Path, corpus: str, system: str, real: Partners) -> dict[str, Any]:
    """Write the index and the texts of a system; returns its entry of data/run.js."""
    key, samples = f"{corpus}/{system}", _samples(results, corpus, system)
    found = results.plan.critics.attributions()
    files = {critic: Path(file) for (critic, c, s), file in found.items() if (c, s) == (corpus, system)}
    scores = {critic: _scores(found, critic, corpus, system) for critic in files}
    index = Index(scores, real, is_control=system == CONTROL)
    place = folder / "data" / corpus / system
    place.mkdir(parents=True)
    documents = progress(read_documents(samples), f"write {key}", unit="documents")
    for number, some in enumerate(in_batches(_judged(documents, files), CHUNK)):
        _write_call(place / f"{number}.js", "chunk", key, number, [_text(document, marks) for document, marks in some])
        for document, marks in some:
            index.add(document, {critic: len(made) for critic, made in marks.items()})
    _write_call(place / "index.js", "index", key, index.columns())
    return {
        "key": key,
        "corpus": corpus,
        "system": system,
        "control": system == CONTROL,
        "page": None if system == CONTROL else f"../pages/{system_page(corpus, system)}.html",
        "texts": len(index.ids),
        "critics": list(files),
    }


def _scores(files: dict[tuple[str, str, str], str], critic: str, corpus: str, system: str) -> ScoresOfCritic:
    own, control = (Path(files[critic, corpus, some]) for some in (system, CONTROL))
    return ScoresOfCritic.read(own, control)


def _judged(documents: Iterable[Document], files: dict[str, Path]) -> Iterator[Judged]:
    """Documents with what each critic marks in them; all files are read side by side."""
    rows = {critic: read_attributions(path) for critic, path in files.items()}
    for document in documents:
        marks = {}
        for critic, own in rows.items():
            row = next(own, None)
            if row is None or row["id"] != document.id:
                other = "ends before it" if row is None else f"has {row['id']!r} in its place"
                raise MacroscopeError(
                    f"{files[critic]}: document {document.id!r} of the samples is not where it should be (the file"
                    f" {other}); delete the file, so that the critic is asked again"
                )
            if row["marks"]:
                marks[critic] = row["marks"]
        yield document, marks


def _text(document: Document, marks: dict[str, Sequence[dict[str, Any]]]) -> list[Any]:
    """[[title, text] of each section, {critic: [section, start, end, weight, note] of each mark}]."""
    units = [_units_of(section.text) for section in document.sections]

    def placed(mark: dict[str, Any]) -> list[Any]:
        place = units[mark["section"]]
        return [mark["section"], place(mark["start"]), place(mark["end"]), round(mark["weight"], 3), mark["note"]]

    found = {critic: [placed(mark) for mark in some] for critic, some in marks.items()}
    return [[[section.title, section.text] for section in document.sections], found]


def _units_of(text: str) -> Callable[[int], int]:
    """Function from a place in a text to the same place where characters beyond U+FFFF count twice: a browser's way."""
    if not text or max(text) <= "\uffff":
        return lambda place: place
    return lambda place: len(text[:place].encode("utf-16-le")) // 2


def _write_call(path: Path, function: str, *arguments: Any) -> None:
    """Write a script that hands its data over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    given = ",".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in arguments)
    path.write_text(f"macroscope.{function}({given});\n", encoding="utf-8")
