"""Messages of 20 newsgroups and their group (version "bydate"): 20news-bydate-{train,test}/<group>/<number> in a tar.

Headers, footers and quotations are taken off by the rules of scikit-learn's `fetch_20newsgroups(remove=...)`, in its
order; the messages are Latin-1.
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from macroscope.corpora.archives import open_archive, read_member
from macroscope.corpora.labelled.texts import LabelledText
from macroscope.errors import MacroscopeError

_FOLDER = re.compile(r"20news-bydate-(train|test)$")
# A quoted line, or one that introduces a quotation.
_QUOTATION = re.compile(r"^[>|]|^In article|^Quoted from|writes in|writes:|wrote:|says:|said:")


def read_texts(path: Path) -> Iterator[LabelledText]:
    """Stream the messages; an id is "<group>/<number>"."""
    found = False
    with open_archive(path) as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts
            split = _FOLDER.search(parts[-3]) if len(parts) >= 3 and member.isfile() else None
            stream = archive.extractfile(member) if split else None
            if split is None or stream is None or parts[-1].startswith("."):
                continue
            found = True
            text = body(read_member(stream, f"{path}, {member.name}").decode("latin-1"))
            yield LabelledText(f"{parts[-2]}/{parts[-1]}", split.group(1), parts[-2], text)
    if not found:
        raise MacroscopeError(
            f"{path}: no 20news-bydate-train/<group>/<number> in this archive; give 20news-bydate.tar.gz"
        )


def body(message: str) -> str:
    """Take header, footer and quotations off a message; what is left may be empty."""
    return _without_quotations(_without_footer(_without_header(message)))


def _without_header(message: str) -> str:
    """What stands after the first blank line."""
    return message.partition("\n\n")[2]


def _without_footer(text: str) -> str:
    """What stands before the last line that is blank or of hyphens alone; all of it where there is none to cut at."""
    lines = text.strip().split("\n")
    breaks = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
    return "\n".join(lines[: breaks[-1]]) if breaks and breaks[-1] > 0 else text


def _without_quotations(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if not _QUOTATION.search(line))
