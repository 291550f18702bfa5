"""Parsing of the pages of a dump in worker processes, in the dump's order, with a time limit that holds even in C code.

mwparserfromhell hangs on rare pages, inside its tokenizer, which no exception can interrupt. The limit is enforced from
outside, by ending the worker. Pages are sent in chunks; if a chunk is too slow, its pages are parsed again one by one,
so that only the slow page is lost. The number of chunks in progress is bounded, whatever the size of the dump.
"""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from macroscope.corpora.wikipedia.dump import (
    Block,
    decode_block,
    split_pages,
    stream_blocks,
    stream_pages,
    truncation_error,
)
from macroscope.corpora.wikipedia.pages import Page, ParsedBlock, parse_block, parse_pages

CRASHED = "page that crashes the parser"
_PAGES_PER_CHUNK = 64
_BYTES_PER_CHUNK = 1 << 19
_CHUNKS_PER_WORKER = 3
# A chunk's limit only decides when its pages are parsed one by one; it is some seconds more than that of a page.
_EXTRA_SECONDS_PER_PAGE = 0.1
_PAGES_PER_BLOCK = 100

ParsePages = Callable[[list[bytes], frozenset[str]], list[Page]]
C = TypeVar("C")


def slow_kind(page_seconds: float) -> str:
    """Return the name of the filter that drops pages slower than the limit."""
    return f"page slower than {page_seconds:g} s"


class PageParsers:
    """Worker processes that parse pages, as a context manager.

    Parameters
    ----------
    path
        Dump file.
    hidden_prefixes
        Namespaces whose links are not text; see `macroscope.corpora.wikipedia.dump.Site`.
    workers
        Number of processes.
    page_seconds
        Time limit for one page, in seconds.
    parse
        Function that parses a chunk of pages.
    """

    def __init__(
        self,
        path: Path,
        hidden_prefixes: frozenset[str],
        workers: int,
        page_seconds: float,
        parse: ParsePages = parse_pages,
    ) -> None:
        self.path, self.hidden_prefixes, self.page_seconds, self.parse = path, hidden_prefixes, page_seconds, parse
        self.window = _CHUNKS_PER_WORKER * workers + 1
        # A spawned worker inherits neither locks nor threads of this process, and starts on any platform.
        self._pool = ProcessPool(max_workers=workers, context=multiprocessing.get_context("spawn"))

    def __enter__(self) -> "PageParsers":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.stop()
        self._pool.join()

    def parsed(self) -> Iterator[Page]:
        """Stream the parsed pages of the dump, in its order.

        Raises
        ------
        MacroscopeError
            If the dump is truncated or corrupt.
        """
        position, count, ends = 0, 0, False
        for block, future in self._ordered(stream_blocks(self.path), self._submit_block):
            parsed = self._block_result(block, future)
            if not parsed.whole:
                break
            yield from parsed.pages
            position, count, ends = block.end, count + len(parsed.pages), parsed.ends_dump
        if position < self.path.stat().st_size:
            # The rest has no blocks of whole pages, so this process splits it into pages.
            yield from self._parsed_from(position, count)
        elif not ends:
            raise truncation_error(self.path, count)

    def _parsed_from(self, position: int, pages_before: int) -> Iterator[Page]:
        for chunk, future in self._ordered(_chunks(stream_pages(self.path, position, pages_before)), self._submit):
            yield from self._result(chunk, future)

    def _ordered(self, chunks: Iterable[C], submit: Callable[[C], Future[Any]]) -> Iterator[tuple[C, Future[Any]]]:
        """Submit chunks ahead, up to the window, and yield them with their results in order."""
        pending: deque[tuple[C, Future[Any]]] = deque()
        try:
            for chunk in chunks:
                pending.append((chunk, submit(chunk)))
                if len(pending) >= self.window:
                    yield pending.popleft()
            while pending:
                yield pending.popleft()
        finally:
            for _, future in pending:
                future.cancel()

    def _submit_block(self, block: Block) -> Future[Any]:
        limit = self.page_seconds + _EXTRA_SECONDS_PER_PAGE * _PAGES_PER_BLOCK
        return self._pool.schedule(parse_block, (self.path, block, self.hidden_prefixes, self.parse), timeout=limit)

    def _submit(self, chunk: list[bytes]) -> Future[Any]:
        limit = self.page_seconds + _EXTRA_SECONDS_PER_PAGE * (len(chunk) - 1)
        return self._pool.schedule(self.parse, (chunk, self.hidden_prefixes), timeout=limit)

    def _block_result(self, block: Block, future: Future[Any]) -> ParsedBlock:
        try:
            return future.result()
        except (TimeoutError, ProcessExpired):
            split = split_pages(decode_block(self.path, block))
            return ParsedBlock(list(self._one_by_one(split.pages)), ends_dump=split.ends_dump)

    def _result(self, chunk: list[bytes], future: Future[Any]) -> list[Page]:
        try:
            return future.result()
        except (TimeoutError, ProcessExpired):
            return list(self._one_by_one(chunk))

    def _one_by_one(self, chunk: list[bytes]) -> Iterator[Page]:
        for _, future in self._ordered([[page] for page in chunk], self._submit):
            try:
                yield from future.result()
            except TimeoutError:
                yield Page(slow_kind(self.page_seconds))
            except ProcessExpired:
                yield Page(CRASHED)


def _chunks(dump_pages: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for page in dump_pages:
        chunk.append(page)
        size += len(page)
        if len(chunk) == _PAGES_PER_CHUNK or size >= _BYTES_PER_CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
