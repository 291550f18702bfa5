"""Generation of a system of kind `perturbation`: samples of another system with known defects."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np

from macroscope.documents import Count, Document, Provenance, read_documents, read_provenance, write_documents
from macroscope.errors import MacroscopeError
from macroscope.systems.perturbation import AnyStep, PerturbationSystem
from macroscope.systems.perturbation.declaration import Touch


def apply_step(documents: Sequence[Document], step: AnyStep, language: str, key: Sequence[int]) -> list[Document]:
    """Apply one step to a collection.

    Parameters
    ----------
    language
        ISO 639-1 code of the texts.
    key
        Numbers that seed the step. Each document has its own generator, seeded by these and its id, so that the result
        for a document does not depend on others, except for damages that join documents.

    Returns
    -------
    list of Document
        The damaged documents with the same ids, in the same order unless the damage is one of their order; some may
        have no sections.
    """

    def touch(*further: int) -> Touch:
        return Touch(language, np.random.default_rng([*key, *further]), step.dose, step.position)

    apply, options = step.damage.apply, step.own_options
    if step.damage.joins:
        return list(apply(documents, touch(), **options))
    return [apply(document, touch(crc32(document.id.encode())), **options) for document in documents]


def require_language(step: AnyStep, language: str, place: str) -> None:
    """Raise `MacroscopeError` if a damage does not support the language of the texts.

    Parameters
    ----------
    place
        Place of the step in the config, for the message.
    """
    lacking = step.damage.lacks(language, **step.own_options)
    if lacking is not None:
        raise MacroscopeError(f"{place}: {lacking}")


def perturb_samples(
    other_samples: Path,
    output: Path,
    options: PerturbationSystem,
    *,
    corpus: str,
    system: str,
    language: str,
    seed: int,
) -> None:
    """Apply the steps to the samples, one after the other.

    Each step counts the documents that it does not change (too short, nothing to remove), the documents without any
    text left, which are dropped, and the sections that it removes. Documents keep their ids.

    Parameters
    ----------
    other_samples
        Samples of the other system.
    language
        ISO 639-1 code of the corpus.
    seed
        Seed of the run; the system's own seed is added.
    """
    documents = list(read_documents(other_samples))
    parent = read_provenance(other_samples)
    if not documents:
        raise MacroscopeError(
            f"{other_samples}: system {options.of} has no samples that system {system} could perturb; generate some"
        )
    counts = list(parent.counts)
    seed += options.seed
    for number, step in enumerate(options.perturb):
        require_language(step, language, f"system {system}, step {number + 1} ({step.rule})")
        before, key = documents, (seed, crc32(system.encode()), number)
        old = {document.id: document for document in before}
        after = [_keep_sentences(old[new.id], new) for new in apply_step(before, step, language, key)]
        counts += _counts(before, after, step, f"step {number + 1}, {step.rule}")
        documents = [document for document in after if document.sections]
        if not documents:
            raise MacroscopeError(
                f"system {system}, step {number + 1} ({step.rule}): no document has any text left; omit the step, or"
                " weaken it"
            )
    source = {"system": system, "of": parent.source, "seed": seed}
    write_documents(output, documents, Provenance(corpus, source, options.model_dump(mode="json"), counts))


def _keep_sentences(before: Document, after: Document) -> Document:
    """Keep the sentences of a narrative only if its text is unchanged."""
    return before if after.sections == before.sections else replace(after, sentences=None)


def _counts(before: Sequence[Document], after: Sequence[Document], step: AnyStep, place: str) -> list[Count]:
    old = {document.id: document for document in before}
    unchanged = sum(document.sections == old[document.id].sections for document in after)
    empty = sum(not document.sections for document in after)
    counts = [
        Count(f"{place}: document left as it was", len(after) - unchanged, unchanged, "changes"),
        Count(f"{place}: document without text", len(after) - empty, empty),
    ]
    if step.damage.drops_sections:
        sections, remaining = (sum(len(document.sections) for document in collection) for collection in (before, after))
        counts.append(Count(f"{place}: section left out", remaining, sections - remaining, "sections"))
    return counts
