"""Annotation forms: a folder with a page per annotator, and the key that stays with the researchers."""

import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.human.assignment import Design, Showing, assign_documents
from macroscope.human.pool import FEWEST_TYPES, Pool
from macroscope.human.questionnaire import Questionnaire
from macroscope.natural_language.sentences import split_sentences
from macroscope.reporting.pages import render_page
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")

FORMAT, VERSION = "macroscope human key", 1
KEY = "key.json"
PAGES = "pages"
_README = """Give each annotator their page in `pages/`, and nothing else: key.json reveals the system of every text.
A page works in any browser without a network; answers stay in the browser until they are exported. After you have
received the exported files: macroscope human collect --sheet . --answers FOLDER --output RESULTS
design.csv: number of texts of each system per annotator. left_out.csv: excluded texts and the reasons.
"""


def write_annotation_form(pool: Pool, design: Design, questionnaire: Questionnaire, output: Path) -> dict[str, Any]:
    """Sample documents and write the folder of a study.

    Parameters
    ----------
    pool
        Documents to sample from.
    design
        Design of the study.
    questionnaire
        Questions to the annotators.
    output
        Folder to write.

    Returns
    -------
    dict
        Key of the study, which `macroscope human collect` needs.

    Raises
    ------
    MacroscopeError
        If the folder exists, or the design needs more documents than the pool has.
    """
    if output.exists():
        raise MacroscopeError(f"{output}: exists already and may be a running study; give a new --output")
    if questionnaire.section_types and len(pool.types) < FEWEST_TYPES:
        raise MacroscopeError(
            "the real texts have fewer than two section types; give real texts with titled sections, or a questionnaire"
            " without section_types"
        )
    showings, training = assign_documents(pool, design)
    key = _make_key(pool, design, questionnaire, showings, training)
    with atomic(output) as folder:
        (folder / PAGES).mkdir(parents=True)
        for annotator in key["annotators"]:
            page = _render_page(key, annotator)
            (folder / PAGES / f"{annotator}.html").write_text(page, encoding="utf-8")
        write_json(folder / KEY, key)
        write_csv(_design_table(showings, list(pool.systems)), folder / "design.csv")
        excluded = [(reason, count) for reason, count in sorted(pool.counts.items())]
        write_csv(pd.DataFrame(excluded, columns=["reason", "documents"]), folder / "left_out.csv")
        (folder / "README.txt").write_text(_README, encoding="utf-8")
    for reason, count in excluded:
        log.info("left out: %s (%d)", reason, count)
    return key


def compute_digest(sections: Sequence[str]) -> str:
    return blake2b("\x00".join(sections).encode(), digest_size=8).hexdigest()


def _make_key(
    pool: Pool,
    design: Design,
    questionnaire: Questionnaire,
    showings: Sequence[Showing],
    training: Sequence[Document],
) -> dict[str, Any]:
    shown = [
        {
            "code": showing.code,
            "annotator": showing.annotator,
            "system": showing.system,
            "document": showing.document.id,
            "repeat": showing.repeat,
            "digest": compute_digest([section.text for section in showing.document.sections]),
            "place": asdict(pool.places[showing.document.id]) if pool.places else None,
        }
        for showing in showings
    ]
    texts = {
        row["digest"]: _sections(showing.document, pool.language) for row, showing in zip(shown, showings, strict=True)
    }
    lessons = [
        {
            "code": f"training-{number + 1}",
            "document": document.id,
            "gold": [section.title for section in document.sections],
            "sections": _sections(document, pool.language),
        }
        for number, document in enumerate(training)
    ]
    key = {
        "format": FORMAT,
        "version": VERSION,
        "questionnaire": questionnaire.model_dump(mode="json"),
        "types": pool.types if questionnaire.section_types else [],
        "language": pool.language,
        "design": asdict(design),
        "annotators": list(dict.fromkeys(showing.annotator for showing in showings)),
        "showings": shown,
        "screening": {
            "passing": design.passing,
            "scores": {document.id: score for document, score in pool.screening},
        }
        if pool.screening
        else None,
        "training": lessons if questionnaire.section_types else [],
        "texts": texts,
    }
    content = json.dumps(key, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
    return {"study": blake2b(content, digest_size=5).hexdigest(), **key}


def _sections(document: Document, language: str) -> list[list[str]]:
    """Return the sentences of each section: those that the document's source gives, if any."""
    if document.sentences is not None:
        *others, last = document.sentences
        return [[*(f"{sentence} " for sentence in others), last]]
    return [split_sentences(section.text, language) or [section.text] for section in document.sections]


def _render_page(key: dict[str, Any], annotator: str) -> str:
    """Render the page of an annotator, without information on the origin of the texts."""
    content = {
        "study": key["study"],
        "annotator": annotator,
        "questionnaire": key["questionnaire"],
        "types": key["types"],
        "language": key["language"],
        "training": [{name: lesson[name] for name in ("code", "gold", "sections")} for lesson in key["training"]],
        "items": [
            {
                **{name: showing[name] for name in ("code", "digest", "place")},
                "sections": key["texts"][showing["digest"]],
            }
            for showing in key["showings"]
            if showing["annotator"] == annotator
        ],
    }
    return render_page("annotation/page", content=content)


def _design_table(showings: Sequence[Showing], systems: Sequence[str]) -> pd.DataFrame:
    """Build the table of the numbers of texts and repeated texts per annotator and system."""
    first = Counter((showing.annotator, showing.system) for showing in showings if not showing.repeat)
    repeated = Counter((showing.annotator, showing.system) for showing in showings if showing.repeat)
    annotators = dict.fromkeys(showing.annotator for showing in showings)
    rows = [
        (annotator, system, first[annotator, system], repeated[annotator, system])
        for annotator in annotators
        for system in systems
    ]
    return pd.DataFrame(rows, columns=["annotator", "system", "documents", "repeated"])
