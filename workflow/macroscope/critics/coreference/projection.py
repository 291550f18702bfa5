"""Projection of documents onto chains."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from macroscope.critics.coreference.chains import Chain, build_chain
from macroscope.critics.coreference.latents import LATENTS
from macroscope.critics.coreference.mentions import Resolved, read_resolved
from macroscope.critics.coreference.name_use import measure_name_mismatch
from macroscope.critics.coreference.options import CoreferenceOptions, Domain
from macroscope.critics.coreference.rules.pronouns import Choose, choose_by_sieve, load_ranker
from macroscope.critics.coreference.rules.resolve import resolve_text
from macroscope.critics.latents import batches_with_progress, write_latents
from macroscope.documents import Collection, Document
from macroscope.errors import MacroscopeError
from macroscope.natural_language.sentences import split_sentences
from macroscope.natural_language.spacy_pipeline import annotate
from macroscope.progress import Progress


def make_domain_filter(domain: Domain | None) -> Callable[[Document], bool]:
    """Return a predicate of documents in a domain; without a domain, it holds for all."""
    if domain is None:
        return lambda document: True
    pattern = re.compile(domain.pattern, re.DOTALL)
    words, without = (
        [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)") for word in group] for group in (domain.words, domain.without)
    )

    def within(document: Document) -> bool:
        text = _select_part(document, domain.within)
        wanted = all(word.search(text) for word in words) and not any(word.search(text) for word in without)
        return bool(wanted and pattern.match(text))

    return within


def _select_part(document: Document, within: str) -> str:
    if within == "text":
        return document.text
    section = document.sections[0].text
    return section if within == "first_section" else next(iter(split_sentences(section)), "").rstrip()


class Resolver(Protocol):
    """Resolver of documents, which are passed in their order."""

    def __call__(self, documents: Sequence[Document]) -> Iterator[Resolved]:
        """Resolve documents."""

    def skip(self, document: Document) -> Resolved:
        """Skip a document outside the domain; return it without mentions."""


def project(
    texts: Collection, mentions: Path | None = None, *, signature: str, options: CoreferenceOptions, output: Path
) -> None:
    """Write the chain of every document; see `macroscope.critics.coreference.latents`.

    Parameters
    ----------
    mentions
        File of mentions of another resolver; None with the embedded rules.
    signature
        String of everything that the latents depend on, for their metadata.
    """
    resolve = make_resolver(options, mentions, texts.ids() if mentions else ())
    batches = batches_with_progress(texts, Progress("resolve coreference", len(texts), "documents"))
    write_latents(output, LATENTS, (compute_latents(batch, resolve, options) for batch in batches), signature)


def make_resolver(options: CoreferenceOptions, mentions: Path | None, ids: Iterable[str] = ()) -> Resolver:
    """Return a resolver: the embedded rules, or a look-up in a file of mentions.

    Parameters
    ----------
    ids
        Ids of all documents to look up in the file of mentions.
    """
    if options.resolver == "rules":
        choose = choose_by_sieve if options.ranker == "sieve" else load_ranker()
        return _RuleResolver(choose, options.language_pipeline)
    assert mentions is not None
    return _FileResolver(mentions, frozenset(ids))


def compute_latents(documents: Sequence[Document], resolve: Resolver, options: CoreferenceOptions) -> pa.Table:
    """Compute the latents of documents, in their order; those outside the domain are not resolved."""
    is_in_domain = make_domain_filter(options.domain)
    inside = [is_in_domain(document) for document in documents]
    of_inside = resolve([document for document, in_domain in zip(documents, inside, strict=True) if in_domain])
    rows = []
    for document, in_domain in zip(documents, inside, strict=True):
        resolved = next(of_inside) if in_domain else resolve.skip(document)
        chain = build_chain(resolved, document.text, options.single) if resolved.error is None else Chain()
        rows.append(
            {
                "id": document.id,
                "opening": document.opening,
                "in_domain": in_domain,
                "error": resolved.error,
                "invalid": chain.invalid,
                "name_mismatch": measure_name_mismatch(document.text) if in_domain else float("nan"),
                "surfaces": chain.surfaces,
                "entities": chain.entities,
                "starts": chain.starts,
                "ends": chain.ends,
            }
        )
    return pa.Table.from_pylist(rows, LATENTS)


@dataclass(frozen=True)
class _RuleResolver:
    """Resolver by the embedded rules."""

    choose: Choose
    pipeline: str | None

    def __call__(self, documents: Sequence[Document]) -> Iterator[Resolved]:
        texts = [document.text for document in documents]
        annotations = annotate(texts, self.pipeline) if self.pipeline else repeat(None)
        for document, text, annotation in zip(documents, texts, annotations, strict=False):
            try:
                yield resolve_text(document.id, text, self.choose, annotation)
            except Exception as error:  # a failing document must not stop the run; it is counted and named
                yield Resolved(document.id, error=f"{type(error).__name__}: {error}")

    def skip(self, document: Document) -> Resolved:
        return Resolved(document.id)


class _FileResolver:
    """Resolver that looks up documents in a file of mentions, in roughly the order of the file."""

    def __init__(self, path: Path, wanted: frozenset[str]) -> None:
        self.path, self.wanted = path, wanted
        self.rows = read_resolved(path)
        self.waiting: dict[str, Resolved] = {}
        self.passed: set[str] = set()

    def __call__(self, documents: Sequence[Document]) -> Iterator[Resolved]:
        return map(self._look_up, documents)

    def _look_up(self, document: Document) -> Resolved:
        while document.id not in self.waiting:
            resolved = next(self.rows, None)
            if resolved is None:
                raise MacroscopeError(
                    f"{self.path}: no mentions of document {document.id!r}; write a row for every document, with"
                    " 'error' if its resolution failed"
                )
            if resolved.id in self.waiting:
                raise MacroscopeError(
                    f"{self.path}: document {resolved.id!r} is there twice; write one row per document"
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
