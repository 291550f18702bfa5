"""Source `timetravel`: five-sentence stories with counterfactual rewritings (Qin et al. 2019), which cai2020 uses."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:TimeTravelCorpus", read="reading:read_timetravel")
