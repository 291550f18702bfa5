"""Strings: which word follows which; the order of sections is nearly nothing to it."""

from tests.contract.case import Case, perturbed

CASE = Case(
    damage=perturbed("shuffle_words"),
    harmless=perturbed("shuffle_sections"),
    options={"order": 3, "folds": 3, "permutations": 199},
)
