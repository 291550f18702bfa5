"""Source `hub`: a folder in the layouts of Hugging Face data sets, read through the library `datasets`."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:HubCorpus", read="reading:read_hub")
