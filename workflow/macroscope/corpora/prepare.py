"""Simulation or extraction of raw files of a corpus, and preparation: titles, filters, tables (deng2022, Appendix E).

The tables hold dropped units, a summary as in Table 11 of deng2022, and section types.
"""

import logging
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from macroscope.corpora import sources
from macroscope.corpora.filters import (
    DocumentFilters,
    FrequentLabels,
    Measured,
    Subset,
    TitleCensus,
    collect_titles,
    drop_rare_titles,
    replace_rare_titles,
    standardise_titles,
)
from macroscope.corpora.lines_and_passages import PassageCutter, split_lines
from macroscope.corpora.options import Corpus, RareTitles
from macroscope.corpora.provenance import read_origin
from macroscope.corpora.tokens import make_token_counter
from macroscope.documents import SPLITS, Count, Document, Provenance, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.files import atomic, scratch_folder
from macroscope.natural_language.detection import UNKNOWN, detect_languages, main_language
from macroscope.natural_language.languages import name_of
from macroscope.progress import progress
from macroscope.stages import load
from macroscope.tables import write_csv

log = logging.getLogger("macroscope")

_DOCUMENTS_RECOGNIZED = 200
"""Number of documents whose language is recognized."""
_NAMES = {"train": "training", "valid": "validation", "test": "test"}


def simulate(options: Corpus, seed: int, truth: Path, output: Path) -> None:
    """Write the raw file of a simulated corpus, and the truth about it.

    Parameters
    ----------
    options
        Options of the corpus; its own seed is added to `seed`.
    truth
        File with the known process, in the folder to write the truth to.
    output
        Raw file to write, in the upstream format.
    """
    source = sources()[options.source]
    simulation = source.data.simulations[str(options.kind_of_process)]
    load(simulation.write, source.package)(options, seed + options.added_seed, output, truth.parent)


def extract(corpus: str, options: Corpus, raw: Path, output: Path, threads: int) -> int:
    """Write the documents of one raw file as a part of a corpus.

    Parameters
    ----------
    corpus
        Name of the corpus in the config.
    options
        Options of the corpus; the filters are not used.
    raw
        Raw file. The note of `retrieve` beside it (URL, size, checksum) goes into the part's metadata.
    output
        Parquet file to write.
    threads
        Number of worker processes.

    Returns
    -------
    int
        Number of documents; it may be 0, because other parts may have some.
    """
    origin = {"name": options.source} | read_origin(raw)
    provenance = Provenance(corpus, origin, options.model_dump(mode="json", exclude={"filters"}))
    source = sources()[options.read_by]
    read = load(source.data.read, source.package)
    return write_documents(output, read(options, raw, provenance, threads), provenance)


def prepare(corpus: str, options: Corpus, parts: Sequence[Path], output: Path) -> None:
    """Turn the extracted parts of a corpus into its documents.

    The steps are, in this order:

    1. With `unit: line`, each line becomes a document; see `split_lines`.
    2. Section titles are brought to their standard form, and sections of boilerplate are removed. With `unit: passage`,
       passages of the rest become documents; see `corpora.lines_and_passages`.
    3. Documents are dropped if they have fewer than `min_sections` sections, a section shorter than
       `min_section_tokens` or longer than `max_section_tokens`, or the id of an earlier document (the first is kept).
    4. Documents are dropped if fewer than `min_per_label` training documents have their label.
    5. A random subset is taken if `max_documents` or `max_per_split` is given.
    6. Documents with a rare section title are dropped. With `rare_titles.instead`, they are kept, and that section type
       replaces their rare titles.

    The paper does not say whether titles are counted before the other filters, nor whether documents or occurrences are
    counted. Here a title counts once in each *training* document that passed all *earlier* filters. It is rare below
    max(min_count, min_share x number of those documents). Titles are counted once, and not again after documents have
    been dropped. Sections without a title are never rare.

    The documents keep the splits of the parts (by id hash, or the source's official ones) unless lines are split anew.

    Parameters
    ----------
    corpus
        Name of the corpus in the config.
    options
        Options of the corpus.
    parts
        Collections that `extract` wrote; their counts are summed and precede those of these filters.
    output
        File of the documents, whose metadata carry all counts. Beside it: `filters.csv` (filter, unit, kept, dropped),
        `summary.csv` (one row per split, as in Table 11), `section_types.csv` (section types of the training split).

    Raises
    ------
    MacroscopeError
        If no document, or no training document, is left. The message names the filter that dropped the most, and the
        option to loosen.
    """
    provenance = _provenance(corpus, options, parts)
    count_tokens = make_token_counter(options.filters.length_tokenizer)
    filters = DocumentFilters(options.filters, options.language, count_tokens, options.own_ids)
    cutter = PassageCutter(options) if options.unit == "passage" else None
    provenance.counts += [*filters.counts, *(cutter.counts if cutter else ())]
    labels = FrequentLabels(options.filters.min_per_label)
    subset = Subset(options.filters.max_documents, options.filters.max_per_split)
    lengths, summary = array("i"), Summary()
    with scratch_folder(output) as folder:
        passed = folder / "passed.parquet"
        extracted: Iterable[Document] = chain.from_iterable(read_documents(part) for part in parts)
        if options.unit == "line":
            extracted = split_lines(extracted, options)
        shown = progress(extracted, f"filter {corpus}", unit="documents")
        # Lemmatising a standard title a second time could change it.
        standard = shown if options.derived_from else standardise_titles(shown, options.language)
        measured = filters.apply(standard, cutter.cut if cutter else iter)
        write_documents(passed, _recorded(measured, labels, lengths), provenance)

        def with_frequent_labels() -> Iterator[Measured]:
            return labels.choose(_with_lengths(read_documents(passed), lengths))

        def chosen() -> Iterator[Measured]:
            return subset.choose(with_frequent_labels())

        if options.filters.min_per_label:
            provenance.counts.append(labels.count)
        if not subset.is_everything:
            provenance.counts.append(subset.count)
            for document, _ in with_frequent_labels():
                subset.add(document)
        kept = _filter_rare_titles(chosen(), TitleCensus.of(chosen()), options.filters.rare_titles, provenance)
        _write(output, _summarised(kept, summary), provenance, options.splits_filled[0])
    for split in options.splits_filled:
        if not summary.documents(split):
            log.warning("corpus '%s': no document is in the split '%s'; give it more documents", corpus, split)
    if options.kind_of_process is None:
        _check_language(corpus, options.language, output)
    write_filters(output.with_name("filters.csv"), provenance.counts)
    summary.write(output.with_name("summary.csv"))
    summary.write_section_types(output.with_name("section_types.csv"))


def _check_language(corpus: str, language: str, documents: Path) -> None:
    """Warn if most of the first documents are clearly in another language than the corpus declares."""
    beginning = islice(read_documents(documents), _DOCUMENTS_RECOGNIZED)
    main = main_language(detect_languages(document.text for document in beginning))
    if main not in (language, UNKNOWN):
        log.warning(
            "corpus '%s': most documents are in %s, and are read by the rules of %s; set 'language: %s'",
            *(corpus, name_of(main), name_of(language), main),
        )


def _provenance(corpus: str, options: Corpus, parts: Sequence[Path]) -> Provenance:
    """Merge the metadata of the parts; counts are summed filter by filter."""
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


def _recorded(documents: Iterable[Measured], labels: FrequentLabels, lengths: "array[int]") -> Iterator[Document]:
    for document, section_lengths in documents:
        labels.add(document)
        lengths.extend(section_lengths)
        yield document


def _filter_rare_titles(
    documents: Iterable[Measured], census: TitleCensus, options: RareTitles, provenance: Provenance
) -> Iterator[Measured]:
    """Drop the documents with a rare title, or replace the title; count either."""
    frequent, instead = census.frequent(options), options.instead
    rare = f"a section title that is rare: in fewer than {census.threshold(options):g} training documents"
    if instead is None:
        provenance.counts.append(count := Count(rare, 0, 0, option="filters.rare_titles"))
        return drop_rare_titles(documents, frequent, count)
    rare += f"; now '{instead}'"
    provenance.counts.append(count := Count(rare, 0, 0, "section titles", "filters.rare_titles"))
    return replace_rare_titles(documents, frequent, instead, count)


def _with_lengths(documents: Iterable[Document], lengths: "array[int]") -> Iterator[Measured]:
    """Pair each document with the lengths of its sections in tokens; `lengths` holds those of all documents."""
    start = 0
    for document in documents:
        end = start + len(document.sections)
        yield document, lengths[start:end].tolist()
        start = end


def _summarised(documents: Iterable[Measured], summary: "Summary") -> Iterator[Document]:
    for document, lengths in documents:
        summary.add(document, lengths)
        yield document


def _write(output: Path, documents: Iterable[Document], provenance: Provenance, needed: str) -> None:
    """Write the documents; raise an error if none, or none of the needed split, is left."""
    splits: set[str] = set()

    def checked() -> Iterator[Document]:
        for document in documents:
            splits.add(document.split)
            yield document
        if needed not in splits:
            raise make_empty_corpus_error(provenance, f"{_NAMES[needed]} document" if splits else "document")

    write_documents(output, checked(), provenance)


def make_empty_corpus_error(provenance: Provenance, what: str) -> MacroscopeError:
    """Make the error for an empty corpus: it names the filter that dropped the most, and the option to loosen.

    Parameters
    ----------
    provenance
        Metadata of the corpus, with its counts.
    what
        Missing unit, as a noun in the singular.
    """
    counts = [count for count in provenance.counts if count.unit not in ("sections", "words")]
    worst = max(counts, key=lambda count: count.dropped, default=None)
    if worst is None or not worst.dropped:
        advice = "give it more documents"
        if provenance.options.get("official_splits"):
            advice += ", or 'official_splits: false'"
        return MacroscopeError(f"corpus '{provenance.corpus}': no {what} is in its raw files; {advice}")
    last = next((count for count in reversed(counts) if count.dropped), worst)
    reason = f"the filter '{worst.filter}' dropped {worst.dropped:,} of {worst.dropped + worst.kept:,} {worst.unit}"
    if last is not worst:
        reason += f", '{last.filter}' dropped the last ones ({last.dropped:,} of {last.dropped + last.kept:,})"
    loosen = dict.fromkeys(count.option for count in (worst, last) if count.option)
    hint = f"loosen {' or '.join(loosen)}" if loosen else "give it other raw files"
    return MacroscopeError(f"corpus '{provenance.corpus}': no {what} is left after filtering: {reason}; {hint}")


def median(histogram: Counter[int]) -> float | None:
    """Compute the median of integers from their histogram (value -> frequency); None if it is empty."""
    total = histogram.total()
    if not total:
        return None
    ordered = sorted(histogram.items())
    return (_value_at(ordered, (total - 1) // 2) + _value_at(ordered, total // 2)) / 2


def _value_at(ordered: Sequence[tuple[int, int]], rank: int) -> int:
    passed = 0
    for value, frequency in ordered:
        passed += frequency
        if rank < passed:
            return value
    raise IndexError(rank)


class Summary:
    """Statistics of one corpus, gathered document by document; memory grows only with the number of distinct values."""

    def __init__(self) -> None:
        self._documents: Counter[str] = Counter()
        self._sections: dict[str, Counter[int]] = {split: Counter() for split in SPLITS}
        self._tokens: dict[str, Counter[int]] = {split: Counter() for split in SPLITS}
        self._types: dict[str, Counter[str]] = {split: Counter() for split in SPLITS}

    def add(self, document: Document, lengths: Iterable[int]) -> None:
        """Add a document with the lengths of its sections in tokens."""
        self._documents[document.split] += 1
        self._sections[document.split][len(document.sections)] += 1
        self._tokens[document.split].update(lengths)
        self._types[document.split].update(collect_titles(document))

    def documents(self, split: str) -> int:
        """Return the number of documents of a split."""
        return self._documents[split]

    def write(self, path: Path) -> None:
        """Write one row per split: numbers of documents and section types, and lengths in sections and tokens."""
        header = ["split", "documents", "section_types", "median_sections", "median_section_tokens",
                  "max_section_tokens", "total_tokens"]  # fmt: skip
        write_table(path, header, (self._row(split) for split in SPLITS))

    def _row(self, split: str) -> list[Any]:
        tokens = self._tokens[split]
        return [
            split,
            self._documents[split],
            len(self._types[split]),
            median(self._sections[split]),
            median(tokens),
            max(tokens, default=None),
            sum(length * frequency for length, frequency in tokens.items()),
        ]

    def write_section_types(self, path: Path) -> None:
        """Write the section types of the training split, with the number and the share of documents that have them."""
        ordered = sorted(self._types["train"].items(), key=lambda item: (-item[1], item[0]))
        rows = ([title, count, round(count / self._documents["train"], 6)] for title, count in ordered)
        write_table(path, ["section_type", "documents", "share"], rows)


def write_filters(path: Path, counts: Iterable[Count]) -> None:
    """Write the numbers of units that each filter kept and dropped, in order."""
    rows = ([count.filter, count.unit, count.kept, count.dropped] for count in counts)
    write_table(path, ["filter", "unit", "kept", "dropped"], rows)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV table, atomically; None becomes an empty field."""
    with atomic(path) as temporary:
        # dtype=object: a missing number would turn integers into floats.
        write_csv(pd.DataFrame(list(rows), columns=list(header), dtype=object), temporary)
