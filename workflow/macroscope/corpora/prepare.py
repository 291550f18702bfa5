"""From the extracted parts of a corpus to its documents: titles, filters, tables (deng2022, Appendix E)."""

import logging
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from macroscope.corpora.filters import (
    DocumentFilters,
    FrequentLabels,
    Measured,
    Subset,
    TitleCensus,
    with_rare_titles_replaced,
    with_standard_titles,
    without_rare_titles,
)
from macroscope.corpora.options import Corpus, RareTitles
from macroscope.corpora.summary import Summary, write_filters
from macroscope.corpora.tokens import token_counter
from macroscope.documents import Count, Document, Provenance, Section, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import scratch_folder
from macroscope.progress import progress

log = logging.getLogger("macroscope")

_NAMES = {"train": "training", "valid": "validation", "test": "test"}


@dataclass(frozen=True)
class Outputs:
    """Where `prepare` writes: the documents, and three tables beside them."""

    documents: Path
    filters: Path
    summary: Path
    section_types: Path


def prepare(corpus: str, options: Corpus, parts: Sequence[Path], outputs: Outputs) -> None:
    """Turn the extracted parts of a corpus into its documents.

    In this order: with `unit: line`, each line becomes a document; section titles are brought to their standard form;
    sections of boilerplate are removed; documents are dropped that have fewer than `min_sections` sections, a section
    shorter than `min_section_tokens`, one longer than `max_section_tokens`, or the id of an earlier one (the first is
    kept); then those whose label fewer than `min_per_label` training documents have; a random subset is taken, of
    `max_documents` or of `max_per_split`, where one is given; last, documents with a rare section title go. The paper
    leaves open whether titles are counted before the other filters, and whether in documents or in occurrences: here
    a title counts once in each *training* document that passed all *earlier* filters, and is rare below
    max(min_count, min_share x number of those documents); it is counted once, not again after documents have left.
    Sections without a title are never rare. With `rare_titles.instead`, the document stays and its rare titles give
    way to that section type.

    The documents' splits are those that the parts have: by id hash, or the source's official ones.

    Parameters
    ----------
    corpus
        Its name in the config.
    parts
        Collections that `extract` wrote; their counts are summed and stand before those of these filters.
    outputs
        `filters`: filter, unit, kept, dropped. `summary`: a row a split (Table 11 in kind). `section_types`: section
        types of the training split. The documents' metadata carry all counts.

    Raises
    ------
    MacroscopeError
        Where no document, or no training document, is left: says which filter dropped the most, and what to loosen.
    """
    provenance = _provenance(corpus, options, parts)
    count_tokens = token_counter(options.filters.length_tokenizer)
    filters = DocumentFilters(options.filters, options.language, count_tokens, options.own_ids)
    provenance.counts += filters.counts
    labels = FrequentLabels(options.filters.min_per_label)
    subset = Subset(options.filters.max_documents, options.filters.max_per_split)
    lengths, summary = array("i"), Summary()
    with scratch_folder(outputs.documents) as folder:
        passed = folder / "passed.parquet"
        extracted: Iterable[Document] = chain.from_iterable(read_documents(part) for part in parts)
        if options.unit == "line":
            extracted = each_line(extracted)
        shown = progress(extracted, f"filter {corpus}", unit="documents")
        # Titles are words of the standard form, each lemmatised: a second time could change one.
        measured = filters.apply(shown if options.derived_from else with_standard_titles(shown, options.language))
        write_documents(passed, _taking_notes(measured, labels, lengths), provenance)

        def with_frequent_labels() -> Iterator[Measured]:
            return labels.choose(_pairs(read_documents(passed), lengths))

        def chosen() -> Iterator[Measured]:
            return subset.choose(with_frequent_labels())

        if options.filters.min_per_label:
            provenance.counts.append(labels.count)
        if not subset.is_everything:
            provenance.counts.append(subset.count)
            for document, _ in with_frequent_labels():
                subset.add(document)
        kept = _without_rare_titles(chosen(), TitleCensus.of(chosen()), options.filters.rare_titles, provenance)
        _write(outputs, _summed_up(kept, summary), provenance, options.splits_filled[0])
    for split in options.splits_filled:
        if not summary.documents(split):
            log.warning("corpus '%s': no document is in the split '%s'; give it more documents", corpus, split)
    write_filters(outputs.filters, provenance.counts)
    summary.write(outputs.summary)
    summary.write_section_types(outputs.section_types)


def each_line(documents: Iterable[Document]) -> Iterator[Document]:
    """Make every line of text a document of one section without a title; it keeps its document's split and label."""
    for document in documents:
        lines = (line.strip() for section in document.sections for line in section.text.split("\n"))
        for number, line in enumerate(filter(None, lines)):
            yield Document(
                f"{document.id}#{number}", document.split, None, (Section(None, line),), label=document.label
            )


def _provenance(corpus: str, options: Corpus, parts: Sequence[Path]) -> Provenance:
    """Metadata of the whole, with the counts of the parts summed filter by filter."""
    counts: dict[tuple[str, str], Count] = {}
    sources = []
    for part in parts:
        provenance = read_provenance(part)
        sources.append(provenance.source)
        for count in provenance.counts:
            total = counts.setdefault((count.filter, count.unit), Count(count.filter, 0, 0, count.unit))
            total.kept += count.kept
            total.dropped += count.dropped
    return Provenance(corpus, {"parts": sources}, options.model_dump(mode="json"), list(counts.values()))


def _taking_notes(documents: Iterable[Measured], labels: FrequentLabels, lengths: "array[int]") -> Iterator[Document]:
    for document, section_lengths in documents:
        labels.add(document)
        lengths.extend(section_lengths)
        yield document


def _without_rare_titles(
    documents: Iterable[Measured], census: TitleCensus, options: RareTitles, provenance: Provenance
) -> Iterator[Measured]:
    """Drop the documents with a rare title, or replace the title, and count it."""
    frequent, instead = census.frequent(options), options.instead
    rare = f"a section title that is rare: in fewer than {census.threshold(options):g} training documents"
    if instead is None:
        provenance.counts.append(count := Count(rare, 0, 0, option="filters.rare_titles"))
        return without_rare_titles(documents, frequent, count)
    rare += f"; now '{instead}'"
    provenance.counts.append(count := Count(rare, 0, 0, "section titles", "filters.rare_titles"))
    return with_rare_titles_replaced(documents, frequent, instead, count)


def _pairs(documents: Iterable[Document], lengths: "array[int]") -> Iterator[Measured]:
    """Each document with the tokens of its sections, which stand in one row for all of them."""
    start = 0
    for document in documents:
        end = start + len(document.sections)
        yield document, lengths[start:end].tolist()
        start = end


def _summed_up(documents: Iterable[Measured], summary: Summary) -> Iterator[Document]:
    for document, lengths in documents:
        summary.add(document, lengths)
        yield document


def _write(outputs: Outputs, documents: Iterable[Document], provenance: Provenance, needed: str) -> None:
    """Write the documents, unless none, or none of a split that is needed, is left."""
    splits: set[str] = set()

    def checked() -> Iterator[Document]:
        for document in documents:
            splits.add(document.split)
            yield document
        if needed not in splits:
            raise empty_corpus(provenance, f"{_NAMES[needed]} document" if splits else "document")

    write_documents(outputs.documents, checked(), provenance)


def empty_corpus(provenance: Provenance, what: str) -> MacroscopeError:
    """Make the error for a corpus of which nothing is left: which filter dropped the most, and what to loosen.

    Parameters
    ----------
    what
        What there is none of, as a noun in the singular.
    """
    counts = [count for count in provenance.counts if count.unit != "sections"]
    worst = max(counts, key=lambda count: count.dropped, default=None)
    if worst is None or not worst.dropped:
        advice = "give it more documents"
        if provenance.options.get("official_splits"):
            advice += ", or 'official_splits: false'"
        return MacroscopeError(f"corpus '{provenance.corpus}': no {what} is in its raw files; {advice}")
    last = next((count for count in reversed(counts) if count.dropped), worst)
    took = f"the filter '{worst.filter}' dropped {worst.dropped:,} of {worst.dropped + worst.kept:,} {worst.unit}"
    if last is not worst:
        took += f", the last ones went to '{last.filter}' ({last.dropped:,} of {last.dropped + last.kept:,})"
    loosen = dict.fromkeys(count.option for count in (worst, last) if count.option)
    hint = f"loosen {' or '.join(loosen)}" if loosen else "give it other raw files"
    return MacroscopeError(f"corpus '{provenance.corpus}': no {what} is left after filtering: {took}; {hint}")
