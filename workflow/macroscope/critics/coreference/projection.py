"""Projection onto chains: documents -> latents."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from macroscope.corpora.plain_text import split_sentences
from macroscope.critics.coreference.chains import Chain, chain_of
from macroscope.critics.coreference.latents import LATENTS
from macroscope.critics.coreference.mentions import Resolved, read_resolved
from macroscope.critics.coreference.options import CoreferenceOptions, Domain
from macroscope.critics.coreference.rules.pronouns import Choose, by_sieve, learnt_ranker
from macroscope.critics.coreference.rules.resolve import resolve_text
from macroscope.critics.latents import signed
from macroscope.documents import Collection, Document
from macroscope.errors import MacroscopeError
from macroscope.files import atomic
from macroscope.progress import Progress


def is_within(domain: Domain | None) -> Callable[[Document], bool]:
    """Make the function that tells whether a document is in a domain; all are in none."""
    if domain is None:
        return lambda document: True
    pattern = re.compile(domain.pattern, re.DOTALL)
    words, without = (
        [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in some] for some in (domain.words, domain.without)
    )

    def within(document: Document) -> bool:
        text = _part(document, domain.within)
        wanted = all(word.search(text) for word in words) and not any(word.search(text) for word in without)
        return bool(wanted and pattern.match(text))

    return within


def _part(document: Document, within: str) -> str:
    if within == "text":
        return document.text
    section = document.sections[0].text
    return section if within == "first_section" else next(iter(split_sentences(section)), "").rstrip()


class Resolve(Protocol):
    """Resolves documents, in their order."""

    def __call__(self, document: Document) -> Resolved:
        """Resolve a document."""

    def skip(self, document: Document) -> Resolved:
        """Pass over a document that is not looked at: nobody is mentioned in it."""


def project(
    texts: Collection, mentions: Path | None = None, *, signature: str, options: CoreferenceOptions, output: Path
) -> None:
    """Write the chain of every document; see `macroscope.critics.coreference.latents`.

    Parameters
    ----------
    mentions
        What another resolver found, if not the rules resolve.
    signature
        What the latents depend on; it goes into their metadata.
    """
    resolve = resolver_of(options, mentions, texts.ids() if mentions else ())
    schema = signed(LATENTS, signature)
    with (
        atomic(output) as temporary,
        pq.ParquetWriter(temporary, schema, compression="zstd") as writer,
        Progress("resolve coreference", len(texts), "documents") as progress,
    ):
        for some in texts.batches():
            writer.write_table(latents_of(some, resolve, options).cast(schema))
            progress.advance(len(some))


def resolver_of(options: CoreferenceOptions, mentions: Path | None, ids: Iterable[str] = ()) -> Resolve:
    """Make the function that resolves a document: the rules, or a look at what another resolver found.

    Parameters
    ----------
    ids
        Of the documents that will be asked for, where another resolver was at work.

    Raises
    ------
    MacroscopeError
        By the function, where the other resolver has nothing of the document.
    """
    if options.resolver == "rules":
        return _ByRules(by_sieve if options.ranker == "sieve" else learnt_ranker())
    assert mentions is not None
    return _Found(mentions, frozenset(ids))


def latents_of(documents: Sequence[Document], resolve: Resolve, options: CoreferenceOptions) -> pa.Table:
    """Latents of some documents, in their order. Those that are not in the domain are not resolved."""
    within = is_within(options.domain)
    rows = []
    for document in documents:
        looked_at = within(document)
        resolved = resolve(document) if looked_at else resolve.skip(document)
        chain = chain_of(resolved, document.text, options.single) if resolved.error is None else Chain()
        rows.append(
            {
                "id": document.id,
                "opening": document.opening,
                "in_domain": looked_at,
                "error": resolved.error,
                "invalid": chain.invalid,
                "surfaces": chain.surfaces,
                "entities": chain.entities,
                "starts": chain.starts,
                "ends": chain.ends,
            }
        )
    return pa.Table.from_pylist(rows, LATENTS)


@dataclass(frozen=True)
class _ByRules:
    """The embedded rules."""

    choose: Choose

    def __call__(self, document: Document) -> Resolved:
        try:
            return resolve_text(document.id, document.text, self.choose)
        except Exception as error:  # one document must not end the others; it is counted and named
            return Resolved(document.id, error=f"{type(error).__name__}: {error}")

    def skip(self, document: Document) -> Resolved:
        return Resolved(document.id)


class _Found:
    """A look-up in a file of mentions of those documents that are wanted, in about the order of the file."""

    def __init__(self, path: Path, wanted: frozenset[str]) -> None:
        self.path, self.wanted = path, wanted
        self.rows = read_resolved(path)
        self.waiting: dict[str, Resolved] = {}
        self.passed: set[str] = set()

    def __call__(self, document: Document) -> Resolved:
        while document.id not in self.waiting:
            resolved = next(self.rows, None)
            if resolved is None:
                raise MacroscopeError(
                    f"{self.path}: no mentions of document {document.id!r}; resolve all documents, with 'error' where"
                    " that failed"
                )
            if resolved.id in self.waiting:
                raise MacroscopeError(
                    f"{self.path}: document {resolved.id!r} is there twice; give each its mentions once"
                )
            if resolved.id in self.passed:
                self.passed.remove(resolved.id)
            elif resolved.id in self.wanted:
                self.waiting[resolved.id] = resolved
        return self.waiting.pop(document.id)

    def skip(self, document: Document) -> Resolved:
        if self.waiting.pop(document.id, None) is None:
            self.passed.add(document.id)
        return Resolved(document.id)
