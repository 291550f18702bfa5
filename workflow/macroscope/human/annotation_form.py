"""A sheet: a folder with a page for each annotator, and the key that they are not given."""

import base64
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined

from macroscope.corpora.plain_text import split_sentences
from macroscope.documents import Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, write_json
from macroscope.human.assignment import Design, Showing, draw
from macroscope.human.pool import Pool
from macroscope.human.questionnaire import Questionnaire
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")

FORMAT, VERSION = "macroscope human key", 1
KEY = "key.json"
PAGES = "pages"
_TEMPLATES = Path(__file__).parent / "page"
_README = """Give each annotator their page of `pages/`, and nothing else: key.json says which text is whose.
A page works in any browser without a network; answers stay in the browser until they are exported. When the files are
back: macroscope human collect --sheet . --answers FOLDER --output RESULTS
design.csv: how many texts of each system every annotator is shown. left_out.csv: what could not be drawn, and why.
"""


def write_sheet(pool: Pool, design: Design, questionnaire: Questionnaire, output: Path) -> dict[str, Any]:
    """Draw documents and write the folder of a study.

    Returns
    -------
    dict
        The key: what `macroscope human collect` needs to know.

    Raises
    ------
    MacroscopeError
        Where the folder exists, or more is asked for than there is.
    """
    if output.exists():
        raise MacroscopeError(f"{output}: there is something already, perhaps a study under way; give a new --output")
    if questionnaire.section_types and len(pool.types) < 2:
        raise MacroscopeError(
            "the real texts have fewer than two section types to choose from; give real texts with titled sections, or"
            " a questionnaire without section_types"
        )
    showings, training = draw(pool, design)
    key = _key(pool, design, questionnaire, showings, training)
    with atomic(output) as folder:
        (folder / PAGES).mkdir(parents=True)
        for annotator in key["annotators"]:
            page = _page(key, annotator)
            (folder / PAGES / f"{annotator}.html").write_text(page, encoding="utf-8")
        write_json(folder / KEY, key)
        write_csv(_design_table(showings, list(pool.systems)), folder / "design.csv")
        left = [(reason, count) for reason, count in sorted(pool.counts.items())]
        write_csv(pd.DataFrame(left, columns=["reason", "documents"]), folder / "left_out.csv")
        (folder / "README.txt").write_text(_README, encoding="utf-8")
    for reason, count in left:
        log.info("left out: %s (%d)", reason, count)
    return key


def digest_of(sections: Sequence[str]) -> str:
    """Digest of a text, by which an answer is known to be about it."""
    return blake2b("\x00".join(sections).encode(), digest_size=8).hexdigest()


def _key(
    pool: Pool,
    design: Design,
    questionnaire: Questionnaire,
    showings: Sequence[Showing],
    training: Sequence[Document],
) -> dict[str, Any]:
    shown = [
        {
            "code": one.code,
            "annotator": one.annotator,
            "system": one.system,
            "document": one.document.id,
            "repeat": one.repeat,
            "digest": digest_of([section.text for section in one.document.sections]),
        }
        for one in showings
    ]
    texts = {
        row["digest"]: [_sentences(section.text, pool.language) for section in one.document.sections]
        for row, one in zip(shown, showings, strict=True)
    }
    lessons = [
        {
            "code": f"training-{number + 1}",
            "document": document.id,
            "gold": [section.title for section in document.sections],
            "sections": [_sentences(section.text, pool.language) for section in document.sections],
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
        "annotators": list(dict.fromkeys(one.annotator for one in showings)),
        "showings": shown,
        "training": lessons if questionnaire.section_types else [],
        "texts": texts,
    }
    content = json.dumps(key, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")
    return {"study": blake2b(content, digest_size=5).hexdigest(), **key}


def _sentences(text: str, language: str) -> list[str]:
    return split_sentences(text, language) or [text]


def _page(key: dict[str, Any], annotator: str) -> str:
    """The page of one annotator, without anything that tells where a text is from."""
    given = {
        "study": key["study"],
        "annotator": annotator,
        "questionnaire": key["questionnaire"],
        "types": key["types"],
        "language": key["language"],
        "training": [{name: one[name] for name in ("code", "gold", "sections")} for one in key["training"]],
        "items": [
            {"code": one["code"], "digest": one["digest"], "sections": key["texts"][one["digest"]]}
            for one in key["showings"]
            if one["annotator"] == annotator
        ],
    }
    style, script = ((_TEMPLATES / name).read_text(encoding="utf-8").strip() for name in ("page.css", "page.js"))
    return _template().render(
        title=key["questionnaire"]["title"],
        style=style,
        script=script,
        style_hash=_hash(style),
        script_hash=_hash(script),
        data=_in_script(given),
    )


@cache
def _template() -> Any:
    source = (_TEMPLATES / "page.html.jinja").read_text(encoding="utf-8")
    return Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False).from_string(source)


def _in_script(value: Any) -> str:
    """JSON that no text can end: a browser looks for </script> and <!-- in it first."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    """What a content security policy knows our own style and script by: no other one runs."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _design_table(showings: Sequence[Showing], systems: Sequence[str]) -> pd.DataFrame:
    """Texts of each system, and repeated ones, that every annotator is shown."""
    first = Counter((one.annotator, one.system) for one in showings if not one.repeat)
    again = Counter((one.annotator, one.system) for one in showings if one.repeat)
    annotators = dict.fromkeys(one.annotator for one in showings)
    rows = [
        (person, system, first[person, system], again[person, system]) for person in annotators for system in systems
    ]
    return pd.DataFrame(rows, columns=["annotator", "system", "documents", "repeated"])
