"""Source `labelled`: short texts whose sentiment, author or topic is known (pimentel2022 section 6.1 and App. C)."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:LabelledCorpus", read="reading:read_labelled")
