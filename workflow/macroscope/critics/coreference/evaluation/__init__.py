"""Evaluation of resolvers on gold data, with the standard measures."""
