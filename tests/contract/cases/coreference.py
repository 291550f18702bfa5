"""Case of `coreference`: sensitive to the chains of mentions of persons, insensitive to the words around them."""

from macroscope.corpora.simulated.people import people_process, simulate_texts
from tests.contract.case import Case, Texts, perturbed


def _generate(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(people_process(), order, n, seed))


CASE = Case(
    damage=lambda texts: _generate(len(texts), 5, "wrong_gender"),
    harmless=perturbed("remove_articles"),
    generate=_generate,
    kind_of_process="people",
)
