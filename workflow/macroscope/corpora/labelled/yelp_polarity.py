r"""Yelp reviews and whether they are positive (Zhang et al. 2015): train.csv and test.csv in a tar archive.

A line is `"label","text"`, without a header: label 1 is negative, 2 is positive. Quotes in a text are doubled, line
breaks are written as \n; some quotes are written as \" besides.
"""

import csv
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from macroscope.corpora.archives import open_archive
from macroscope.corpora.labelled.texts import LabelledText
from macroscope.corpora.lines import LONGEST_LINE, bounded_lines
from macroscope.errors import MacroscopeError

LABELS = {"1": "negative", "2": "positive"}
_OFFICIAL_SPLITS = {"train.csv": "train", "test.csv": "test"}


def read_texts(path: Path) -> Iterator[LabelledText]:
    """Stream the reviews; an id is the official split and the number of the review in its file, from 1."""
    found = False
    with open_archive(path) as archive:
        for member in archive:
            split = _OFFICIAL_SPLITS.get(PurePosixPath(member.name).name)
            if split is not None and member.isfile():
                found = True
                yield from _reviews(archive, member, split, f"{path}, {member.name}")
    if not found:
        raise MacroscopeError(f"{path}: no train.csv or test.csv in this archive; give yelp_review_polarity_csv.tgz")


def _reviews(archive: tarfile.TarFile, member: tarfile.TarInfo, split: str, where: str) -> Iterator[LabelledText]:
    stream = archive.extractfile(member)
    assert stream is not None  # the member is a file
    csv.field_size_limit(LONGEST_LINE)  # of the whole process; by default 131 kB, which a long text has
    lines = (line.decode("utf-8") for line in bounded_lines(stream, where))
    reader = csv.reader(lines, strict=True)
    try:
        for number, row in enumerate(reader, start=1):
            if len(row) != 2 or row[0] not in LABELS:
                raise MacroscopeError(
                    f'{where}, line {reader.line_num}: not a review; a line is "label","text", with label 1 or 2'
                )
            yield LabelledText(f"{split}-{number}", split, LABELS[row[0]], _unescaped(row[1]))
    except csv.Error as error:
        raise MacroscopeError(f"{where}, line {reader.line_num}: not valid CSV ({error}); download it again") from None
    except UnicodeDecodeError:
        raise MacroscopeError(f"{where}, after line {reader.line_num}: not valid UTF-8; download it again") from None


def _unescaped(text: str) -> str:
    return text.replace("\\n", " ").replace('\\"', '"')
