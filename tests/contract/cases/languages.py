"""Languages: whether a text is of one of them; the order of its words is nothing to it."""

from macroscope.corpora.simulated.languages import simulate_texts
from tests.contract.case import Case, Texts, perturbed


def _drawn(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(order, n, seed))


CASE = Case(
    damage=lambda texts: _drawn(len(texts), 5, "independent"),
    harmless=perturbed("shuffle_words"),
    options={"iterations": 300, "permutations": 199},
    draw=_drawn,
    train=300,
    kind_of_process="languages",
)
