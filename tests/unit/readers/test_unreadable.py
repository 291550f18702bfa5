"""Files in no format that is read: what they are, and how to convert them, in one sentence."""

import re
import shutil
import subprocess

import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import read_user_documents
from macroscope.readers.selection import FieldNames, Selection

FILES = {
    "essay.docx": (
        b"PK\x03\x04",
        "a Word document, which is not read; convert it first.*`pandoc -t gfm-raw_html .* -s essay.docx -o essay.md`",
    ),
    "essay.odt": (b"PK\x03\x04", "an OpenDocument text, .* -o essay.md"),
    "book.epub": (b"PK\x03\x04", "an EPUB book"),
    "an essay.html": (b"<!DOCTYPE html>", r"HTML, .*-s 'an essay.html' -o 'an essay'.md`"),
    "page": (b" <HTML><body>", "HTML"),
    "essay.rtf": (b"{\\rtf1 Hello}", "rich text"),
    "essay": (b"{\\rtf1 Hello}", "rich text"),
    "essay.tex": (b"Hello", "LaTeX"),
    "essay.pdf": (b"%PDF-1.7\n%\xe2\xe3", "PDF, .*pdftotext"),
    "scan": (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
    "essay.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word document, .*libreoffice"),
    "inbox.mbox": (b"From a@b.org Thu Nov 26\n", "mail, .*JSON Lines"),
    "stories.xml": (b"<stories/>", "XML"),
    "article.nxml": (b"<!DOCTYPE article>", "a JATS article, .*`pandoc -f jats .* -o article.md`"),
    "dump.xml": (
        b"<?xml version='1.0'?>\n<mediawiki>",
        r"a dump of MediaWiki, .*`macroscope run`.*{source: wikipedia, files: \[dump.xml\]}",
    ),
    "text.xml": (
        b"<?xml version='1.0'?>\n<TEI xmlns='x'>",
        "a text in TEI, .*`xmlstarlet sel ",
    ),
    "crawl.wet": (b"WARC/1.0\r\nWARC-Type: conversion", "text of Common Crawl, .*⟨separator=WARC/1.0⟩"),
    "bank.conllu": (b"# text = A fox ran.", "a treebank in CoNLL-U, .*⟨separator=blank-line⟩"),
    "stories.yaml": (b"- text: a", "YAML"),
    "stories.db": (b"SQLite format 3\0", "an SQLite database, .*sqlite3 -json stories.db"),
    "stories.pkl": (b"\x80\x04]", "a pickle, .*`macroscope.compare`"),
    "stories.npy": (b"\x93NUMPY", "an array of NumPy"),
    "stories.zip": (b"PK\x03\x04", "an archive, .*unpack it"),
    "stories": (b"A fox ran.\nIt rained in caf\xc3\xa9s.\n", "plain text: call it stories.txt"),
    "module.py": (b"print('A fox ran.')\n", "plain text: call it module.py.txt"),
    "noise.bin": (bytes(range(256)), "give JSON Lines"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_a_file_is_and_what_to_do(name, tmp_path):
    content, sentence = FILES[name]
    (tmp_path / name).write_bytes(content)
    for path in (tmp_path / name, tmp_path):
        with pytest.raises(MacroscopeError, match=sentence):
            list(read_user_documents([path], Provenance("test"), 0.1, 0.1))


PARAGRAPHS = (
    "Nobody at the *old* mill expected [Rufus](https://x.org/rufus) to come back with a parcel, or to stay the night.",
    "The letter had been opened and closed again with flour paste. Because of the wind nobody heard the bell.",
)
PAGE = f"""---
title: The Mill
abstract: |
  A mill, and what became of it.
---

# Early years

::: {{.chapter}}
{PARAGRAPHS[0]}
:::

# Later

{PARAGRAPHS[1]}
"""
CONVERTED = {"docx": {}, "odt": {}, "epub": {}, "html": {}, "tex": {"to": "latex"}, "rst": {}, "org": {}, "textile": {}}
CONVERTED |= {"rtf": {"has_headings": False}, "nxml": {"to": "jats"}}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed; it converts the files")
@pytest.mark.parametrize("suffix", CONVERTED)
def test_a_command_that_is_given_converts_into_the_plain_text(suffix, tmp_path):
    """The words are those of the page, without marks of the conversion; sections keep their titles."""
    target = CONVERTED[suffix].get("to", suffix)
    path = tmp_path / f"a mill.{suffix}"
    subprocess.run(
        ["pandoc", "-f", "markdown", "-s", "-t", target, "-o", path], input=PAGE, text=True, check=True, timeout=60
    )
    with pytest.raises(MacroscopeError) as error:
        list(read_user_documents([path], Provenance("test"), 0.1, 0.1))
    (command,) = re.findall("`(.*)`", str(error.value))
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=60)
    (document,) = read_user_documents([tmp_path / "a mill.md"], Provenance("test"), 0.1, 0.1)
    plain = [PARAGRAPHS[0].replace("[Rufus](https://x.org/rufus)", "Rufus"), PARAGRAPHS[1]]
    for paragraph in plain:
        assert paragraph.replace("*", "") in document.text.replace("*", "").replace("_", "")
    assert not re.search(r"[<>{}\[\]]|:::|https?:", document.text)
    if CONVERTED[suffix].get("has_headings", True):
        assert {"Early years", "Later"} <= {section.title for section in document.sections}


TEI = '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>A fox\n ran.</p><p>It rained.</p></body></text></TEI>'
WET = "".join("WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 9\r\n\r\n{}\r\n\r\n" for _ in range(2))
BANK = "".join("# newdoc id = d\n# text = {}\n1\tA\ta\tDET\t_\t_\t0\tdep\t_\t_\n\n" for _ in range(2))
ROWS = '<?xml version="1.0"?><posts><row Body="&lt;p&gt;A fox ran.&lt;/p&gt;"/><row Body="It rained."/></posts>'
TOGETHER, TEXTS = ["A fox ran. It rained."], ["A fox ran.", "It rained."]
PLAIN = {
    "book.xml": (TEI, {}, TOGETHER),
    "crawl.wet": (WET.format(*TEXTS), {"separator": "WARC/1.0"}, TEXTS),
    "bank.conllu": (BANK.format(*TEXTS), {"separator": "blank-line"}, TEXTS),
    "Posts.xml": (ROWS, {"fields": FieldNames(text="Body")}, TEXTS),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PLAIN)
def test_a_command_that_is_given_leaves_the_texts(name, tmp_path):
    content, how, texts = PLAIN[name]
    (tmp_path / name).write_text(content, newline="")
    with pytest.raises(MacroscopeError) as error:
        list(read_user_documents([tmp_path / name], Provenance("test"), 0.1, 0.1))
    (command,) = re.findall("`(.*)`", str(error.value))
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"{command.split()[0]} is not installed; it converts {name}")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=60)
    (tmp_path / name).unlink()
    (path,) = tmp_path.iterdir()
    documents = read_user_documents([path], Provenance("test"), 0.1, 0.1, Selection(**how))
    assert [" ".join(document.text.split()) for document in documents] == texts
