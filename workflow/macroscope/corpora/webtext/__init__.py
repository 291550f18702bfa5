"""Source `webtext`: long texts without sections, in the layout of openai/gpt-2-output-dataset."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:WebTextCorpus", read="reading:read_webtext")
