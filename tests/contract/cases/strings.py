"""Case of `strings`: sensitive to the order of words, almost insensitive to the order of sections."""

from tests.contract.case import Case, perturbed

CASE = Case(
    damage=perturbed("shuffle_words"),
    harmless=perturbed("shuffle_sections"),
    options={"order": 3, "folds": 3, "permutations": 199},
)
