"""Case of `tendencies`: sensitive to words and lengths, insensitive to the order of sections."""

from tests.contract.case import Case, perturbed

CASE = Case(
    damage=perturbed("remove_articles"),
    harmless=perturbed("shuffle_sections"),
    options={"simulations": 20, "count_permutations": 199},
)
