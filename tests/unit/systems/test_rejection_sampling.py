"""The collector of samples, from a source whose texts are known: kept, resumed, counted, and given up."""

from dataclasses import dataclass
from functools import partial

import pytest

from macroscope.documents import Provenance, read_documents, read_provenance
from macroscope.errors import MacroscopeError
from macroscope.systems import rejection_sampling
from macroscope.systems.rejection_sampling import (
    ATTEMPTS,
    HOPELESS,
    Attempt,
    PartialFile,
    Sample,
    SamplingTask,
    resumed_samples,
    write_samples,
)
from macroscope.systems.server.completions import ServerData


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


@pytest.mark.parametrize("values", [(True, None), (-1, None), (2, float("nan")), (2, 5.0)])
def test_the_data_of_a_server_are_checked_when_they_are_read_again(tmp_path, values):
    good = Sample(0, data=ServerData("stop", "m", "", 3, -1.5))
    part = PartialFile(tmp_path / "out", "f", Sample[ServerData])
    for sample in [good, Sample(1, data=ServerData("stop", "m", "", *values)), Sample(9)]:
        part.append(sample)
    assert list(PartialFile(tmp_path / "out", "f", Sample[ServerData])) == [good, Sample(9)]


class Killed(BaseException):
    pass


def invalid_attempts(index):
    return (0, 3, 0, ATTEMPTS, 1)[index % 5]


def attempts(queue, limit=None, valid=invalid_attempts):
    """Yield a text per number of a queue, the last one first; those of a sample are empty before its valid one."""
    while queue:
        index, attempt = queue.pop()
        if limit is not None and (limit := limit - 1) < 0:
            raise Killed
        text = f"text {index}" if attempt >= valid(index) else ""
        yield Attempt(index, text, cut=index % 2 == 0, totals={"tokens": 1 + index}, data=attempt)


def collect(output, source=attempts, samples=25, inputs="f"):
    task = SamplingTask("s", range(1, samples, 2), False, "9 tokens", "train it")
    provenance = Provenance("c")
    with resumed_samples(output, inputs, Sample[int], source, task) as rows:
        kept = list(rows)
        write_samples(output, kept, task, provenance)
    return kept


def test_counts_are_those_of_all_attempts(tmp_path):
    rows = collect(tmp_path / "s", samples=21)
    assert [row.index for row in rows] == list(range(1, 21, 2))
    assert [row.data for row in rows] == [3, None, 0, 0, 1, 3, None, 0, 0, 1]
    assert [row.totals["tokens"] for row in rows[:3]] == [2 * 4, 4 * ATTEMPTS, 6]
    assert [(d.id, d.text) for d in read_documents(tmp_path / "s")][:2] == [
        ("s-0000001", "text 1"),
        ("s-0000005", "text 5"),
    ]
    assert [(c.filter, c.kept, c.dropped) for c in read_provenance(tmp_path / "s").counts] == [
        ("attempt without text", 8, 2 * (3 + ATTEMPTS + 1)),
        ("20 invalid attempts in a row", 8, 2),
        ("section without text", 8, 0),
        ("end of a sample beyond 9 tokens", 8, 0),
    ]


@pytest.mark.parametrize("limit", [0, 1, 7, 24, 40])
def test_a_killed_collection_resumes_and_ends_the_same(tmp_path, limit):
    collect(tmp_path / "whole")
    with pytest.raises(Killed):
        collect(tmp_path / "cut", partial(attempts, limit=limit))
    part = tmp_path / "cut.part.jsonl"
    finished = len(part.read_text().splitlines()) - 1
    part.write_text(part.read_text() + '{"index": 9, "sec')  # a torn last line, as a kill leaves it
    again = []
    collect(tmp_path / "cut", lambda queue: (again.append(len(queue)), attempts(queue))[1])
    assert again == [12 - finished]
    assert (tmp_path / "cut").read_bytes() == (tmp_path / "whole").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cut", "whole"]


def test_samples_of_other_inputs_are_not_reused(tmp_path):
    with pytest.raises(Killed):
        collect(tmp_path / "s", partial(attempts, limit=24))
    sources = []
    collect(tmp_path / "s", lambda queue: (sources.append(len(queue)), attempts(queue))[1], inputs="g")
    assert sources == [12]


def test_the_samples_that_are_kept_are_named_when_the_source_fails(tmp_path):
    def breaks(queue):
        yield from (attempt for attempt, _ in zip(attempts(queue), range(26), strict=False))
        raise MacroscopeError("it is gone")

    with pytest.raises(MacroscopeError, match=r"^system s: it is gone; 3 of 12 samples are kept, and the next run"):
        collect(tmp_path / "s", breaks)
    collect(tmp_path / "s", samples=4)
    assert len(list(read_documents(tmp_path / "s"))) == 1


def test_a_source_without_a_valid_text_stops(tmp_path):
    never = partial(attempts, valid=lambda index: ATTEMPTS)
    with pytest.raises(MacroscopeError, match=rf"none of {HOPELESS} attempts is a document of the format; train it"):
        collect(tmp_path / "s", never, samples=100)
    with pytest.raises(MacroscopeError, match="12 of 12 samples had 20 invalid attempts in a row; train it"):
        collect(tmp_path / "few", never)


def test_a_resumed_collection_of_samples_with_many_invalid_attempts_does_not_stop(tmp_path, monkeypatch):
    with pytest.raises(Killed):
        collect(tmp_path / "s", partial(attempts, limit=24))
    monkeypatch.setattr(rejection_sampling, "HOPELESS", 2)
    with pytest.raises(MacroscopeError, match="none of 2 attempts"):
        collect(tmp_path / "new", lambda queue: attempts(queue, valid=lambda index: 2))
    collect(tmp_path / "s", lambda queue: attempts(queue, valid=lambda index: 2))
