"""Streaming of MediaWiki pages-articles dumps: plain XML, gzip, single- or multistream bzip2.

A multistream dump is a sequence of small bzip2 streams of whole pages (about 100 each). Each is a `Block`, which worker
processes decode and parse. Any other dump is decompressed here, incrementally, and split into the bytes of its pages.
This module handles bytes only; `macroscope.corpora.wikipedia.parsing` parses the content of a page.
"""

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

from macroscope.errors import MacroscopeError, no_such_file

STREAM_START = re.compile(rb"BZh[1-9]1AY&SY")
_SIGNATURE_BYTES = 10
_READ_BYTES = 1 << 20
_HEADER_BYTES = 1 << 16
# A stream of 100 long pages has about 2 MB; a much larger one is not a block of a multistream dump.
_LARGEST_BLOCK = 16 << 20
# MediaWiki accepts pages of at most 2 MB; the history of one revision adds little.
_LARGEST_PAGE = 64 << 20
_PAGE_START, _PAGE_END, _DUMP_END = b"<page>", b"</page>", b"</mediawiki>"
_EDGES = (b"", _DUMP_END)

# Names of the namespaces whose links are not text, in addition to those in the dump's header.
_FILE_NAMES = frozenset(
    "file image media category bild datei kategorie archivo imagen categoría fichier catégorie immagine"
    " categoria".split()
)
_NOT_TEXT_NAMESPACES = {"-2", "6", "14"}


@dataclass(frozen=True)
class Block:
    """One stream of a multistream dump: its range of bytes in the file."""

    start: int
    end: int


@dataclass(frozen=True)
class Site:
    """Data of the header of a dump.

    Attributes
    ----------
    name
        Database name, such as "enwiki"; None in old dumps.
    hidden_prefixes
        Lower-case names of the namespaces whose links are not text: files, categories, media.
    """

    name: str | None
    hidden_prefixes: frozenset[str] = field(default=_FILE_NAMES)


def read_site(path: Path) -> Site:
    """Read the header of a dump."""
    head = b""
    try:
        for piece in _decompressed(path, 0):
            head += piece
            if len(head) >= _HEADER_BYTES or b"</siteinfo>" in head:
                break
    except Truncated:
        raise truncation_error(path, 0) from None
    if b"<mediawiki" not in head[:_HEADER_BYTES]:
        raise MacroscopeError(
            f"{path}: not a MediaWiki dump: no <mediawiki> element at its start; give a pages-articles dump"
            " as XML, bz2 or gz"
        )
    text = head.partition(_PAGE_START)[0].decode("utf-8", errors="replace")
    name = re.search(r"<dbname>([^<]+)</dbname>", text)
    declared = re.findall(r'<namespace key="(-?\d+)"[^>]*>([^<]+)</namespace>', text)
    hidden = {title.strip().lower() for key, title in declared if key in _NOT_TEXT_NAMESPACES}
    return Site(name.group(1) if name else None, _FILE_NAMES | hidden)


def stream_blocks(path: Path) -> Iterator[Block]:
    """Stream the blocks of a bzip2 file, up to the first that is too large for a multistream dump.

    A file with a single stream, or in another format, has no blocks. If the last block ends before the file does, the
    rest of the file has no blocks.
    """
    starts = _stream_starts(path)
    head = list(islice(starts, 2))
    if len(head) < 2 or head[0] != 0:
        return
    previous = 0
    for end in chain(head[1:], starts, [path.stat().st_size]):
        if end - previous > _LARGEST_BLOCK:
            return
        yield Block(previous, end)
        previous = end


def _stream_starts(path: Path) -> Iterator[int]:
    """Find the offsets of the bzip2 streams of a file by their signature, up to the first stream that is too large."""
    with path.open("rb") as file:
        offset = latest = 0
        kept = b""
        while (piece := file.read(_READ_BYTES)) and offset - latest <= _LARGEST_BLOCK:
            window = kept + piece
            for match in STREAM_START.finditer(window):
                latest = offset - len(kept) + match.start()
                yield latest
            offset += len(piece)
            # One byte less than a signature: none at the boundary is missed or found twice.
            kept = window[-(_SIGNATURE_BYTES - 1) :]


def decode_block(path: Path, block: Block) -> bytes:
    """Decompress one block (in a worker process)."""
    with path.open("rb") as file:
        file.seek(block.start)
        data = file.read(block.end - block.start)
    pieces = []
    while data.strip(b"\0"):
        stream = bz2.BZ2Decompressor()
        try:
            pieces.append(stream.decompress(data, max_length=_LARGEST_PAGE))
        except OSError:
            raise corruption_error(path, block.start) from None
        if not stream.eof and not stream.needs_input:
            raise size_error(path, f"the block at byte {block.start:,}")
        if not stream.eof:
            raise Truncated
        data = stream.unused_data
    return b"".join(pieces)


class Truncated(Exception):
    """Early end of the dump; the caller adds the number of pages before it."""


def truncation_error(path: Path, pages: int) -> MacroscopeError:
    return MacroscopeError(
        f"{path}: the dump is truncated: it ends after {pages:,} whole pages, before </mediawiki>; download it again"
    )


def corruption_error(path: Path, offset: int) -> MacroscopeError:
    return MacroscopeError(
        f"{path}: corrupt compressed data at or after byte {offset:,}; download it again and compare its checksum"
    )


def size_error(path: Path, what: str) -> MacroscopeError:
    return MacroscopeError(
        f"{path}: {what} is longer than {_LARGEST_PAGE >> 20} MB, the limit for pages; give a pages-articles dump"
    )


@dataclass(frozen=True)
class Split:
    """Bytes of a dump, split at its pages: those before the first page, the pages, those after the last page."""

    head: bytes
    pages: list[bytes]
    tail: bytes

    @property
    def whole(self) -> bool:
        """Return whether no page continues in the bytes before or after."""
        head, tail = self.head.strip(), self.tail.strip()
        return (head in _EDGES or b"<mediawiki" in head) and tail in _EDGES

    @property
    def ends_dump(self) -> bool:
        return _DUMP_END in self.tail or _DUMP_END in self.head


def split_pages(data: bytes) -> Split:
    """Split bytes at `<page>` and `</page>`; neither occurs in a page's text, in which "<" is escaped."""
    first = data.find(_PAGE_START)
    if first < 0:
        return Split(data, [], b"")
    pages, position = [], first
    while (start := data.find(_PAGE_START, position)) >= 0 and (end := data.find(_PAGE_END, start)) >= 0:
        position = end + len(_PAGE_END)
        pages.append(data[start:position])
    return Split(data[:first], pages, data[position:])


def stream_pages(path: Path, offset: int = 0, pages_before: int = 0) -> Iterator[bytes]:
    """Stream the pages of a dump from `offset` on, each as the bytes of its `<page>` element.

    Parameters
    ----------
    offset
        First byte to read: the start of a bzip2 stream, or 0.
    pages_before
        Number of pages before `offset`, for the message.
    """
    rest, count = b"", pages_before
    try:
        for piece in _decompressed(path, offset):
            split = split_pages(rest + piece)
            yield from split.pages
            count += len(split.pages)
            rest = split.tail if split.pages else split.head + split.tail
            if len(rest) > _LARGEST_PAGE:
                raise size_error(path, f"what follows page {count:,}")
    except Truncated:
        raise truncation_error(path, count) from None
    if _DUMP_END not in rest:
        raise truncation_error(path, count)


def _decompressed(path: Path, offset: int) -> Iterator[bytes]:
    """Stream the XML of a dump; the file's first bytes tell its format, not its name."""
    try:
        with path.open("rb") as file:
            magic = file.read(3)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except IsADirectoryError:
        raise MacroscopeError(f"{path}: is a folder; give the dump file itself") from None
    if magic == b"BZh":
        return _bzip2(path, offset)
    return _gzip(path) if magic.startswith(b"\x1f\x8b") else _plain(path)


def _plain(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            yield piece


def _gzip(path: Path) -> Iterator[bytes]:
    with gzip.open(path) as file:
        try:
            while piece := file.read(_READ_BYTES):
                yield piece
        except EOFError:
            raise Truncated from None
        except (gzip.BadGzipFile, zlib.error):
            raise corruption_error(path, 0) from None


def _bzip2(path: Path, offset: int) -> Iterator[bytes]:
    stream = bz2.BZ2Decompressor()
    with path.open("rb") as file:
        file.seek(offset)
        while data := file.read(_READ_BYTES):
            while data:
                if stream.eof:
                    stream = bz2.BZ2Decompressor()
                position = file.tell() - len(data)
                try:
                    # The bound keeps a highly compressible stretch from filling the memory.
                    piece = stream.decompress(data, max_length=4 * _READ_BYTES)
                    while not stream.eof and not stream.needs_input:
                        yield piece
                        piece = stream.decompress(b"", max_length=4 * _READ_BYTES)
                except OSError:
                    raise corruption_error(path, position) from None
                yield piece
                data = stream.unused_data if stream.eof else b""
    if not stream.eof:
        raise Truncated
