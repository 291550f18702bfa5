"""Source `hub`: a Hugging Face data set, by its name or in a folder, read through the library `datasets`."""

from macroscope.corpora.declaration import Source

SOURCE = Source(options="options:HubCorpus", read="reading:read_hub", retrieve="retrieval:retrieve_data_set")
