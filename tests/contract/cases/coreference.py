"""Coreference: who is mentioned how; what is said of them is nothing to it."""

from macroscope.corpora.simulated.people import people_process, simulate_texts
from tests.contract.case import Case, Texts, perturbed


def _drawn(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(people_process(), order, n, seed))


CASE = Case(
    damage=lambda texts: _drawn(len(texts), 5, "wrong_gender"),
    harmless=perturbed("remove_articles"),
    draw=_drawn,
    kind_of_process="people",
)
