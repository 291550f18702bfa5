"""Text files: a text each, or several between separators; chats of WhatsApp, and subtitles."""

import re

import pytest

from macroscope.documents import Provenance
from macroscope.readers.reading import REMARKS, read_user_documents
from macroscope.readers.selection import Selection

from .test_containers import TEXTS, read


@pytest.mark.parametrize("end", ["<|endoftext|>", "<|end_of_text|>"])
def test_a_text_file_with_the_ends_of_documents(end, tmp_path):
    (tmp_path / "mine.txt").write_text(f"{end}A fox ran.\n{end}\nIt rained.{end}")
    documents_read, provenance = read(tmp_path / "mine.txt")
    assert documents_read == [(f"mine.txt-{n}", text) for n, text in enumerate(TEXTS, 1)]
    assert provenance.source[REMARKS] == [f"texts are separated by {end}"]


SEPARATED = {
    "line": ("A fox ran.\n\nIt rained.\n", "line", [1, 3]),
    "blank lines": ("\nA fox\nran.\n \n\nIt rained.\n", "blank-line", [2, 6]),
    "rule": ("---\nA fox\n\nran.\n---\nIt rained.\n---\n", "---", [2, 6]),
    "words": ("A fox ran.\r\nNext story\r\nIt rained.", "Next story", [1, 3]),
}


@pytest.mark.parametrize("case", SEPARATED)
def test_a_separator_of_texts_that_the_user_names(case, tmp_path):
    content, separator, lines = SEPARATED[case]
    (tmp_path / "mine.txt").write_bytes(content.encode())
    for path in (tmp_path / "mine.txt", tmp_path):
        provenance = Provenance("test")
        documents = list(read_user_documents([path], provenance, 0.1, 0.1, Selection(separator=separator)))
        assert [" ".join(document.text.split()) for document in documents] == TEXTS
        assert [document.id for document in documents] == [f"mine.txt-{line}" for line in lines]


MANY = {
    "lines": (b"A fox ran.\nIt rained.\n", "2 lines; if it holds several texts, add ⟨separator=line⟩"),
    "blocks": (
        b"A fox\nran.\n\nIt rained.\n",
        "3 lines, 2 blocks between blank lines; .* ⟨separator=blank-line⟩ or",
    ),
    "rules": (
        b"A fox ran.\n***\nIt rained.",
        r"3 lines, 2 parts between lines '\*\*\*'; .* ⟨separator=\*\*\*⟩ or",
    ),
}


@pytest.mark.parametrize("case", MANY)
def test_a_text_file_that_may_hold_several_texts(case, tmp_path):
    content, said = MANY[case]
    (tmp_path / "mine.txt").write_bytes(content)
    documents_read, provenance = read(tmp_path / "mine.txt")
    assert len(documents_read) == 1
    (remark,) = provenance.source[REMARKS]
    assert re.fullmatch(f"mine.txt is read as one text, and has {said}.*", remark)
    (tmp_path / "mine.txt").write_text("A fox ran.")
    assert REMARKS not in read(tmp_path / "mine.txt")[1].source


@pytest.mark.parametrize("files", [3, 25])
def test_a_folder_whose_files_may_hold_several_texts(files, tmp_path):
    """Lines may be texts if there are few files, or if files have many lines without blank ones between them."""
    for number in range(files):
        (tmp_path / f"{number}.txt").write_text("A fox ran.\n" * 30)
    counted = f"those have {files * 30}" if files == 3 else "the first 20 have 600"
    (remark,) = read(tmp_path)[1].source[REMARKS]
    assert remark == (
        f"each file of {tmp_path.name} is read as one text, and {counted} lines; if a file holds several texts, add"
        " ⟨separator=line⟩"
    )
    provenance = Provenance("c")
    documents = list(read_user_documents([tmp_path], provenance, 0.1, 0.1, Selection(separator="line")))
    assert len(documents) == files * 30
    assert not any("is read as one text" in remark for remark in provenance.source[REMARKS])
    (tmp_path / "0.txt").write_text("A fox ran.\n\nIt rained.\n" * 15)
    remarks = read(tmp_path)[1].source.get(REMARKS, [])
    advice = "⟨separator=line⟩ or ⟨separator=blank-line⟩"
    assert [remark.endswith(advice) for remark in remarks] == [True] * (files < 20)
    (tmp_path / "0.txt").write_text("A fox ran.")
    assert REMARKS not in read(tmp_path)[1].source


CHATS = {
    "iPhone": """[26.11.25, 14:05:02] Stories: \u200eMessages are encrypted from end to end.
[26.11.25, 14:05:03] Ann: A fox ran.
\u200e[26.11.25, 14:05:09] Ann: \u200eimage omitted
[26.11.25, 14:06:00] Bob: It
rained.
""",
    "Android": """26/11/2025, 14:05 - Messages are encrypted from end to end.
26/11/2025, 14:05 - Ann: A fox ran.
26/11/2025, 14:05 - Ann: <Media omitted>
26/11/2025, 14:06 - Bob: It
rained.
""",
    "twelve hours": """11/26/25, 2:05\u202fPM - Ann: A fox ran.
11/26/25, 2:06\u202fPM - Bob: It
rained.
""",
}


@pytest.mark.parametrize("phone", CHATS)
def test_a_chat_of_whatsapp(phone, tmp_path):
    (tmp_path / "chat.txt").write_text(CHATS[phone])
    documents_read, provenance = read(tmp_path / "chat.txt")
    assert [" ".join(text.split()) for _, text in documents_read] == TEXTS
    assert provenance.source[REMARKS] == ["messages of a WhatsApp chat, without dates and names"]
    dropped = sum(count.dropped for count in provenance.counts if count.filter == "document without text")
    assert dropped == len(CHATS[phone].splitlines()) - 3


SUBTITLES = {
    ".srt": """1
00:00:01,000 --> 00:00:02,500
<i>A fox</i>

2
00:00:03,000 --> 00:00:04,000
{\\an8}ran.
It rained.
""",
    ".vtt": """WEBVTT - A film

NOTE
A note about it.

1
00:01.000 --> 00:02.500 align:start
<v Ann>A fox

00:03.000 --> 00:04.000
<00:03.100>ran.
It rained.
""",
}


@pytest.mark.parametrize("suffix", SUBTITLES)
def test_subtitles(suffix, tmp_path):
    (tmp_path / f"film{suffix}").write_text(SUBTITLES[suffix])
    for path in (tmp_path / f"film{suffix}", tmp_path):
        documents_read, provenance = read(path)
        assert [text for _, text in documents_read] == ["A fox ran. It rained."]
        assert ("numbers and times of subtitles", 1) in [(each.filter, each.dropped) for each in provenance.counts]
