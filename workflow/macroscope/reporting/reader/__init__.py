"""The reader: an offline folder with every text of a run and the marks that critics attribute their scores to."""
