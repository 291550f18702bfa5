"""Files in no format that is read: what they are, and how to convert them, in one sentence."""

import pytest

from macroscope.documents import Provenance
from macroscope.errors import MacroscopeError
from macroscope.readers.reading import read_user_documents

FILES = {
    "essay.docx": (
        b"PK\x03\x04",
        "a Word document, which is not read; convert it first.*`pandoc essay.docx -o essay.md`",
    ),
    "essay.odt": (b"PK\x03\x04", "an OpenDocument text, .* -o essay.md"),
    "book.epub": (b"PK\x03\x04", "an EPUB book"),
    "an essay.html": (b"<!DOCTYPE html>", r"HTML, .*`pandoc 'an essay.html' -o 'an essay'.md`"),
    "page": (b" <HTML><body>", "HTML"),
    "essay.rtf": (b"{\\rtf1 Hello}", "rich text"),
    "essay": (b"{\\rtf1 Hello}", "rich text"),
    "essay.tex": (b"Hello", "LaTeX"),
    "essay.pdf": (b"%PDF-1.7\n%\xe2\xe3", "PDF, .*pdftotext"),
    "scan": (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
    "essay.doc": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word document, .*libreoffice"),
    "inbox.mbox": (b"From a@b.org Thu Nov 26\n", "mail, .*JSON Lines"),
    "stories.xml": (b"<stories/>", "XML"),
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
