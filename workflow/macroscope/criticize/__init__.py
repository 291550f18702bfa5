"""A user's own texts: their profile, the config that they imply, and the run."""
