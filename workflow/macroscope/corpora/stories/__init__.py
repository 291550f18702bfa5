"""Source `stories`: CC-Stories (Trinh and Le 2018), long texts of the web, on which cai2020 trains beforehand."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:StoriesCorpus", read="reading:read_stories")
