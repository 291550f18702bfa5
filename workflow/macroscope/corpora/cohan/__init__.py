"""Source `cohan`: scientific articles in the layout of Cohan et al. (2018), PubMed and arXiv."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:CohanCorpus", read="reading:read_articles")
