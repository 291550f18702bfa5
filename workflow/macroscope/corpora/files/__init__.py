"""Source `files`: the user's own documents, in common formats."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:FilesCorpus", read="reading:read_files")
