"""Source `subset`: documents of another corpus of the config, as that corpus has them."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:SubsetCorpus", read="reading:read_subset")
