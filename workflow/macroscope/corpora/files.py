"""Source `files`: the user's own documents, in common formats."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.corpora.declaration import Source
from macroscope.corpora.options import Corpus, Split
from macroscope.documents import Document, Provenance
from macroscope.options import Options, UserPath
from macroscope.readers.selection import FieldNames, selection_of

SOURCE = Source(options=":FilesCorpus", read=":read_files", version=3)

ONE_SECTION = Field(
    False,
    description="Keep a plain text as one section without a title, as in the source webtext; otherwise, split it at its"
    " headings or blank lines.",
)


class TextsOptions(Options):
    """Options of how the user's texts are read."""

    one_section: bool = ONE_SECTION
    fields: FieldNames = Field(
        FieldNames(), description="Names of the fields to read, for files in no format that is known."
    )
    only_model: str | None = Field(
        None, description="Name of the model whose texts to read, of a file with texts of several models."
    )
    separator: str | None = Field(
        None,
        min_length=1,
        description="Separator of the texts of a text file: `line` (each line is a text), `blank-line`, or a line of"
        " its own, such as `---`; default: each file is one text.",
    )
    dialogue: str | None = Field(
        None,
        min_length=1,
        description="Conversations as texts, a turn a section: `whole`, or what one side says (`user`, `assistant`, a"
        " speaker's name); default: the last answer of a chat is the text.",
    )
    join: bool = Field(False, description="Join the texts that a record has in the field of the text: they are one.")
    straighten_typography: bool = Field(
        False,
        description="Replace quotation marks, apostrophes, dashes, ellipses and spaces by those of a keyboard, so that"
        " two collections have the same kinds. Their number is in the documents' metadata.",
    )
    keep_wrappers: bool = Field(
        False, description="Keep control tokens, chat templates, front matter and what else surrounds texts."
    )
    detokenize: bool = Field(False, description="Remove the blanks before the punctuation of tokenised texts.")


class FilesCorpus(TextsOptions, Corpus):
    """Options of the user's own documents, in files or folders of any format that is known."""

    own_ids = True
    not_extracted = Corpus.not_extracted | {"kept"}

    source: Literal["files"]
    files: list[UserPath] = Field(min_length=1, description="Files or folders; each is a part.")
    distinct: bool = Field(
        False,
        description="Leave out a text that answers the same prompt as an equal one before, as in a file that repeats"
        " the real text beside each model's.",
    )
    split: Split | None = Field(
        None, description="Split of all documents, overriding their own; default: their own, or by id hash."
    )

    kept: str | None = Field(
        None,
        description="Digest of the kept reference that `files` names; `macroscope criticize` writes it, so that runs"
        " with the same reference can be told.",
    )

    @property
    def splits_filled(self) -> tuple[str, ...]:
        return super().splits_filled if self.split is None else (self.split,)

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Return the files themselves."""
        from macroscope.corpora.raw_files import number_parts

        return number_parts(self.files)


def read_files(options: FilesCorpus, path: Path, provenance: Provenance, workers: int = 1) -> Iterator[Document]:
    """Stream the documents of one file or folder, as the source `files`; see `read_user_documents`."""
    from macroscope.readers.reading import make_file_namer, read_user_documents

    provenance.source.update(file=path.name)
    names = make_file_namer([Path(file) for file in options.files])
    selection = selection_of(options, "people")
    documents = read_user_documents([path], provenance, options.valid_share, options.test_share, selection, names)
    return documents if options.split is None else (replace(document, split=options.split) for document in documents)
