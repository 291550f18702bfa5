"""Gold data: texts with manually annotated coreference clusters."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from zlib import crc32

from macroscope.critics.coreference.rules.lexicon import Words
from macroscope.errors import MacroscopeError
from macroscope.readers.archives import open_archive

log = logging.getLogger("macroscope")

Span = tuple[int, int]
"""Word span of a mention; the end is exclusive."""


@dataclass(frozen=True)
class GoldDocument:
    """A text with its gold clusters.

    Attributes
    ----------
    name
        Name of the document.
    words
        Words and sentences of the annotation.
    clusters
        Mentions of each entity, singletons included if the data annotate them.
    """

    name: str
    words: Words
    clusters: tuple[frozenset[Span], ...]


def is_held_out(name: str) -> bool:
    """Check that a document belongs to the held-out half of all gold documents, which is never trained on."""
    return crc32(name.encode()) % 2 == 1


def read_gold(path: Path) -> list[GoldDocument]:
    """Read gold data: a folder or tar archive of LitBank's brat files or of CoNLL-2012 files, or a CoNLL-2012 file.

    Only persons are kept of LitBank's mentions, which are annotated with entity types. Malformed files are left out,
    with a warning.

    Raises
    ------
    MacroscopeError
        If there are no such files, or if all are malformed.
    """
    files = dict(_read_files(path))
    names = sorted(name for name in files if name.endswith(".ann") and f"{name[:-4]}.txt" in files)
    names = names or sorted(name for name in files if "conll" in name)
    documents: list[GoldDocument] = []
    reasons: list[str] = []
    for name in names:
        try:
            documents += _parse(name, files)
        except MacroscopeError as error:
            reasons.append(str(error))
    if not documents:
        wrong = f"no usable gold data ({reasons[0]})" if reasons else "no gold data"
        raise MacroscopeError(f"{path}: {wrong}; give CoNLL-2012 files (*conll*) or LitBank's .ann and .txt files")
    for reason in reasons:
        log.warning("%s: left out, 1 of %d files", reason, len(names))
    return documents


def _parse(name: str, files: Mapping[str, bytes]) -> list[GoldDocument]:
    """Parse a file of gold data, with the text beside it if it is LitBank's."""
    try:
        text = files[name].decode("utf-8")
        if name.endswith(".ann"):
            return [_parse_litbank(name[:-4], text, files[f"{name[:-4]}.txt"].decode("utf-8"))]
        return list(_parse_conll(name, text))
    except UnicodeDecodeError as error:
        raise MacroscopeError(f"{name}: not valid UTF-8 (byte {error.start + 1:,})") from None
    except (IndexError, ValueError) as error:
        raise MacroscopeError(f"{name}: not in the format of gold data ({error})") from None


def _read_files(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files that may hold gold data: in a folder, in an archive, or a single file."""
    wanted = (".ann", ".txt", "conll")
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.name.endswith(wanted):
                yield str(file.relative_to(path)), file.read_bytes()
    elif not path.exists():
        raise MacroscopeError(f"{path}: no such file or folder; give CoNLL-2012 files (*conll*) or LitBank's")
    elif path.name.endswith(("conll", ".tsv", ".txt", ".ann", ".json", ".csv")):
        yield path.name, path.read_bytes()
    else:
        with open_archive(path) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.name.endswith(wanted) else None
                if content is not None:
                    yield member.name, content.read()


def _parse_conll(name: str, text: str) -> Iterator[GoldDocument]:
    """Parse the documents of a CoNLL-2012 file: words are in the fourth column, clusters in the last."""
    lines = text.splitlines()
    sentences: list[list[list[str]]] = [[]]
    part = 0
    for number, line in enumerate(lines, 1):
        if line.startswith("#begin document"):
            sentences = [[]]
        elif line.startswith("#end document"):
            yield _parse_conll_document(f"{PurePosixPath(name).stem}/{part}", sentences)
            part += 1
        elif not line.strip():
            sentences.append([])
        else:
            columns = line.split()
            if len(columns) < 5:
                raise MacroscopeError(f"{name}, line {number}: {len(columns)} columns, but CoNLL-2012 has at least 5")
            sentences[-1].append(columns)


def _parse_conll_document(name: str, sentences: list[list[list[str]]]) -> GoldDocument:
    rows = [row for sentence in sentences for row in sentence]
    open_at: dict[str, list[int]] = defaultdict(list)
    clusters: dict[str, set[Span]] = defaultdict(set)
    for at, row in enumerate(rows):
        for mark in row[-1].split("|"):
            entity = mark.strip("()")
            if entity in ("_", "-", "*", ""):
                continue
            if mark.startswith("("):
                open_at[entity].append(at)
            if mark.endswith(")"):
                if not open_at[entity]:
                    raise MacroscopeError(f"{name}: a mention of cluster {entity} ends without a beginning")
                clusters[entity].add((open_at[entity].pop(), at + 1))
    if unclosed := [entity for entity, waiting in open_at.items() if waiting]:
        raise MacroscopeError(f"{name}: a mention of cluster {unclosed[0]} has no end")
    return GoldDocument(
        name,
        _place_words([row[3] for row in rows], [len(s) for s in sentences]),
        tuple(map(frozenset, clusters.values())),
    )


def _parse_litbank(name: str, annotation: str, text: str) -> GoldDocument:
    """Parse a document of LitBank: one tokenized sentence per line; MENTION and COREF lines in the annotation."""
    sentences = [line.split() for line in text.splitlines() if line.strip()]
    words = _place_words([word for sentence in sentences for word in sentence], [len(s) for s in sentences])
    spans: dict[str, Span] = {}
    clusters: dict[str, set[Span]] = defaultdict(set)
    for line in annotation.splitlines():
        kind, *columns = line.split("\t")
        if kind == "MENTION" and columns[6] == "PER":
            first, last = ((int(columns[at]), int(columns[at + 1])) for at in (1, 3))
            starts = words.sentence_starts
            spans[columns[0]] = (starts[first[0]] + first[1], starts[last[0]] + last[1] + 1)
        elif kind == "COREF" and columns[0] in spans:
            clusters[columns[1]].add(spans[columns[0]])
    return GoldDocument(PurePosixPath(name).name, words, tuple(map(frozenset, clusters.values())))


def _place_words(words: list[str], lengths: Iterable[int]) -> Words:
    """Return words with their character offsets in a text joined by single spaces."""
    starts, sentence_starts, at = [], [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    at = 0
    for length in lengths:
        if length:
            sentence_starts.append(at)
        at += length
    return Words(words, starts, [s + len(w) for s, w in zip(starts, words, strict=True)], sentence_starts)
