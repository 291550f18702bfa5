"""Kind `files`: texts of the user's own model from files, or of a published model from a data set of the registry."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from macroscope.colours import VERMILION
from macroscope.corpora.files import TextsOptions
from macroscope.corpora.options import Split
from macroscope.corpora.provenance import read_origin
from macroscope.corpora.webtext import read_texts
from macroscope.document_keys import split_key
from macroscope.documents import Document, Provenance, in_batches, read_documents, write_documents
from macroscope.errors import MacroscopeError
from macroscope.natural_language.ngrams import HALF, share_beginning
from macroscope.natural_language.words import lower_case_words
from macroscope.options import UserPath
from macroscope.readers.reading import read_user_documents
from macroscope.readers.selection import selection_of
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind
from macroscope.systems.options import SystemOptions

_SAMPLES_AT_ONCE = 10_000
"""Number of samples that the real texts are read for once."""
LAYOUT = "webtext"
"""Source whose file layout data sets of systems' texts have."""

KIND = Kind(
    options=":FilesSystem",
    label="your texts",
    colour=VERMILION,
    stages={
        "generate": Stage(
            ":import_texts",
            inputs="documents files corpus system",
            options=f"files dataset splits {' '.join(TextsOptions.model_fields)}",
            version=3,
        ),
    },
)


class FilesSystem(TextsOptions, SystemOptions):
    """Texts of the user's own model, in files of any format that is known, or of a published one."""

    kind: Literal["files"]
    files: list[UserPath] = Field([], description="Files or folders.")
    dataset: str | None = Field(
        None,
        description="Name of a data set in resources/sources.yaml, such as gpt2-xl-output, instead of files; each text"
        " is one section.",
    )
    splits: list[Split] = Field(
        ["test"], min_length=1, description="Files of the data set to use, by the split in their names."
    )

    @model_validator(mode="after")
    def _files_or_dataset(self) -> "FilesSystem":
        if bool(self.files) == (self.dataset is not None):
            raise ValueError("give either 'files' or 'dataset', a data set of resources/sources.yaml")
        return self

    def files_read(self, place: str) -> list[str]:
        """Return the user's files, or those of the data set.

        Raises
        ------
        MacroscopeError
            If the data set holds real documents and not a system's texts.
        """
        from macroscope.corpora.raw_files import list_data_files, resolve_source

        if self.dataset is None:
            return list(self.files)
        source = resolve_source(self.dataset, f"{place}.dataset")
        if source.source != LAYOUT:
            raise MacroscopeError(
                f"{place}.dataset: {self.dataset!r} of resources/sources.yaml holds real documents, not a system's"
                " texts; give one such as gpt2-xl-output, or use it as a corpus"
            )
        return list_data_files(source, self.splits, place)


def import_texts(
    files: Sequence[Path], output: Path, options: FilesSystem, *, documents: Path, corpus: str, system: str
) -> None:
    """Read files as samples; drop and count texts without any section.

    Parameters
    ----------
    files
        Files of the user, or of the data set that the options name. The notes of `retrieve` beside them are copied into
        the metadata.
    documents
        Real texts: a copy that goes on beyond its opening shares no opening with them.
    """
    source = {"system": system, "files": [str(path) for path in files]}
    origins = [origin for path in files if (origin := read_origin(path))]
    provenance = Provenance(corpus, source | ({"parts": origins} if origins else {}), options.model_dump(mode="json"))
    samples = _samples(files, options, provenance)
    if not write_documents(output, _refuse_copies(samples, documents), provenance):
        raise MacroscopeError(
            f"system {system}: {', '.join(source['files'])} contain no usable text; give files with texts"
        )


def _samples(paths: Sequence[Path], options: FilesSystem, provenance: Provenance) -> Iterator[Document]:
    if options.dataset is not None:
        return read_texts(paths, provenance)
    documents = read_user_documents(paths, provenance, 0.0, 1.0, selection_of(options, "models"))
    return (replace(document, split="test") for document in documents)


def _refuse_copies(samples: Iterable[Document], documents: Path) -> Iterator[Document]:
    """Yield samples; say of copies of real texts that they have no prompt: they continue nothing."""
    for batch in in_batches(samples, _SAMPLES_AT_ONCE):
        openings = {sample.opening for sample in batch if sample.prompt is None} - {""}
        originals = {
            opening: lower_case_words(document.text)
            for document in (read_documents(documents) if openings else ())
            if (opening := split_key(document.opening)[1]) in openings
        }
        for sample in batch:
            original = originals.get(sample.opening)
            is_copy = original and share_beginning(lower_case_words(sample.text), original) >= HALF
            yield replace(sample, prompt="") if is_copy else sample
