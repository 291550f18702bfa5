"""Source `parallel`: translations and their originals, line by line, such as Europarl (deng2022 Appendix C)."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:ParallelCorpus", read="reading:read_parallel")
