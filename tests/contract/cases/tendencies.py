"""Tendencies: words and lengths; the order of sections is nothing to it."""

from tests.contract.case import Case, perturbed

CASE = Case(
    damage=perturbed("remove_articles"),
    harmless=perturbed("shuffle_sections"),
    options={"simulations": 20, "count_permutations": 199},
)
