"""Files that are not read: what they are, by suffix or first bytes, and how to convert them."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

_PANDOC = "pandoc -t gfm-raw_html --wrap=none -s {file} -o {stem}.md"
_IN_PYTHON = "in Python, `macroscope.compare` takes lists of strings and data frames"


@dataclass(frozen=True)
class _Kind:
    """A kind of files that is not read.

    Attributes
    ----------
    name
        Its name for the user.
    suffixes, beginnings
        How its files are called, and the bytes that they begin with, in lower case.
    command
        Command that converts a file, with {file} and {stem}; empty if there is none.
    advice
        What to do besides.
    """

    name: str
    suffixes: tuple[str, ...]
    beginnings: tuple[bytes, ...] = ()
    command: str = ""
    advice: str = ""


KINDS = (
    _Kind("a Word document", (".docx",), command=_PANDOC),
    _Kind("an OpenDocument text", (".odt",), command=_PANDOC),
    _Kind("an EPUB book", (".epub",), command=_PANDOC),
    _Kind("rich text", (".rtf",), (b"{\\rtf",), _PANDOC),
    _Kind("HTML", (".html", ".htm", ".xhtml"), (b"<!doctype html", b"<html"), _PANDOC),
    _Kind("LaTeX", (".tex",), (b"\\documentclass",), _PANDOC),
    _Kind("marked-up text", (".rst", ".org", ".textile"), (), _PANDOC),
    _Kind("PDF", (".pdf",), (b"%pdf",), "pdftotext -nopgbrk {file} {stem}.txt"),
    _Kind(
        "an old Word document",
        (".doc",),
        (b"\xd0\xcf\x11\xe0",),
        f"libreoffice --headless --convert-to docx {{file}} && {_PANDOC.replace('{file}', '{stem}.docx')}",
    ),
    _Kind("mail", (".mbox", ".eml", ".msg"), (b"from ", b"return-path:"), advice="write the bodies as JSON Lines"),
    _Kind("a JATS article", (".nxml",), (b"<article", b"<!doctype article"), _PANDOC.replace("-t", "-f jats -t", 1)),
    _Kind(
        "a dump of MediaWiki",
        (),
        (b"<mediawiki",),
        advice="a config for `macroscope run` names it as a corpus: {{source: wikipedia, files: [{file}]}}",
    ),
    _Kind(
        "a text in TEI",
        (),
        (b"<tei",),
        "xmlstarlet sel -t -m '//_:body//_:p|//_:body//_:l' -v 'normalize-space(.)' -n -n {file} > {stem}.txt",
    ),
    _Kind(
        "XML",
        (".xml",),
        (b"<?xml",),
        "python -c \"import sys, pandas; pandas.read_xml(sys.argv[1], parser='etree').to_json(sys.argv[2],"
        " orient='records', lines=True)\" {file} {stem}.jsonl",
    ),
    _Kind(
        "text of Common Crawl",
        (".wet",),
        (b"warc/1.",),
        "sed -E '/^(WARC|Content)-[A-Za-z-]+: /d; s/\\r$//' {file} > {stem}.txt",
        " and give ⟨separator=WARC/1.0⟩",
    ),
    _Kind(
        "a treebank in CoNLL-U",
        (".conllu",),
        (),
        "sed -n 's/^# newdoc.*//p; s/^# text = //p' {file} > {stem}.txt",
        " and give ⟨separator=blank-line⟩",
    ),
    _Kind("YAML", (".yaml", ".yml"), advice="write it as JSON"),
    _Kind(
        "an SQLite database",
        (".sqlite", ".sqlite3", ".db"),
        (b"sqlite format 3",),
        "sqlite3 -json {file} 'SELECT text FROM stories' > {stem}.json",
    ),
    _Kind("a pickle", (".pkl", ".pickle", ".pt"), (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "", _IN_PYTHON),
    _Kind("an array of NumPy", (".npy", ".npz"), (b"\x93numpy",), "", _IN_PYTHON),
    _Kind(
        "an archive", (".zip", ".tar", ".tgz", ".7z", ".rar"), (b"pk\x03\x04",), advice="unpack it, and give its files"
    ),
)
_PROLOGUE = re.compile(rb"\A\s*(?:<\?xml[^>]*\?>|<!--.*?-->|\s)*", re.DOTALL)
_TEXT_MARKS = frozenset(b"\t\n\r\x0c\x1b")
"""Control characters that texts may hold."""


def describe_unreadable(path: Path, beginning: bytes) -> str:
    """Return what a file is that is not read, and what to do; "" if it is not known.

    Parameters
    ----------
    beginning
        Its first bytes.
    """
    starts = tuple(start.lstrip()[:32].lower() for start in (beginning, _PROLOGUE.sub(b"", beginning)))
    kind = next((kind for kind in KINDS if _is_of(kind, path.name.lower(), starts)), None)
    if kind is None:
        return f"{path.name} looks like plain text: call it {path.name}.txt" if _is_text(beginning) else ""
    file, stem = shlex.quote(path.name), shlex.quote(path.stem)
    command = f"convert it first, for example with `{kind.command}`" if kind.command else ""
    what = (command + kind.advice).format(file=file, stem=stem)
    return f"{path.name} is {kind.name}, which is not read; {what}"


def _is_of(kind: _Kind, name: str, starts: tuple[bytes, ...]) -> bool:
    return name.endswith(kind.suffixes) or any(start.startswith(kind.beginnings) for start in starts)


def _is_text(beginning: bytes) -> bool:
    """Return whether bytes begin a text in UTF-8, whose last character may be cut."""
    if not beginning or any(byte < 32 and byte not in _TEXT_MARKS for byte in beginning):
        return False
    try:
        beginning.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(beginning) - 4
    return True
