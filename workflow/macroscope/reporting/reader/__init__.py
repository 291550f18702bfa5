"""The reader: a folder that opens offline, with every text of a run and what the critics have against it."""
