"""Rows of an unfinished file: what is no row of the schema is made again, and never ends a later run."""

from dataclasses import dataclass

import pytest

from macroscope.systems.resume import PartialFile
from macroscope.systems.server.completions import ServerData
from macroscope.systems.server.sampling import Sample


@dataclass
class Row:
    index: int
    words: list[tuple[str | None, str]]


def test_rows_come_back_as_they_were(tmp_path):
    rows = [Row(3, [(None, "é\n")]), Row(1, []), Row(2, [("a", "b")])]
    part = PartialFile(tmp_path / "out", "f", Row)
    for row in rows:
        part.append(row)
    again = PartialFile(tmp_path / "out", "f", Row)
    assert list(again) == rows
    assert [row.index for row in again.sorted_by("index")] == [1, 2, 3]
    assert list(PartialFile(tmp_path / "out", "other", Row)) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"index": true, "words": []}\n',
        b'{"index": 9}\n',
        b'{"index": 9, "words": [["a"]]}\n',
        b"[]\n",
        b"\xff\n",
        b"\n",
        b'{"index": 9, "words": []}',  # a torn last line may be whole by chance, without its end
        b'{"index": 9, "wo',
    ],
)
def test_a_line_that_is_no_row_is_dropped_with_a_line_in_the_log(tmp_path, line, caplog):
    part = PartialFile(tmp_path / "out", "f", Row)
    part.append(Row(1, []))
    with part.path.open("ab") as file:
        file.write(line)
    with caplog.at_level("INFO", "macroscope"):
        again = PartialFile(tmp_path / "out", "f", Row)
    assert [row.index for row in again] == [1]
    assert "1 lines are not finished rows" in caplog.text
    again.append(Row(2, []))
    assert [row.index for row in PartialFile(tmp_path / "out", "f", Row)] == [1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["out.part.jsonl"]


def test_samples_of_a_server_are_checked_when_they_are_read_again(tmp_path):
    good = Sample(0, [(None, "text")], completion=ServerData("stop", "m", "", 3, -1.5))
    wrong = [
        Sample(n, [(None, "text")], completion=ServerData("stop", "m", "", *values))
        for n, values in enumerate([(True, None), (-1, None), (2, float("nan")), (2, 5.0)], 1)
    ]
    part = PartialFile(tmp_path / "out", "f", Sample)
    for sample in [good, *wrong, Sample(9)]:
        part.append(sample)
    assert list(PartialFile(tmp_path / "out", "f", Sample)) == [good, Sample(9)]
