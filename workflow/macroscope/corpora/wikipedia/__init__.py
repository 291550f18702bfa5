"""Source `wikipedia`: articles of a MediaWiki pages-articles dump."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:WikipediaCorpus", read="reading:read_dump", threads=8)
