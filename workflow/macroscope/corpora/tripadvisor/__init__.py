"""Source `tripadvisor`: hotel reviews (Wang et al. 2010, LARA), which cai2020 uses as INSET processed them."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:TripAdvisorCorpus", read="reading:read_tripadvisor")
