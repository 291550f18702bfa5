"""Evaluation of the embedded coreference resolver on gold data, and training of the weights that the package keeps."""
