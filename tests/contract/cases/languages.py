"""Case of `languages`: sensitive to mixing of languages, insensitive to the order of words."""

from macroscope.corpora.simulated.languages import simulate_texts
from tests.contract.case import Case, Texts, perturbed


def _generate(n: int, seed: int, order: str = "process") -> Texts:
    return list(simulate_texts(order, n, seed))


CASE = Case(
    damage=lambda texts: _generate(len(texts), 5, "independent"),
    harmless=perturbed("shuffle_words"),
    options={"iterations": 300, "permutations": 199},
    generate=_generate,
    train=300,
    kind_of_process="languages",
)
