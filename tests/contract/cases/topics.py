"""Case of `topics`: sensitive to the co-occurrence of topics, insensitive to the order of words."""

from macroscope.corpora.simulated.topics import simulate_texts, topic_process
from tests.contract.case import Case, Texts, perturbed


def _generate(n: int, seed: int, order: str = "process") -> Texts:
    return [document for document, _ in simulate_texts(topic_process(), order, n, seed)]


CASE = Case(
    damage=lambda texts: _generate(len(texts), 5, "independent"),
    harmless=perturbed("shuffle_words"),
    options={"topics": 8, "permutations": 199},
    generate=_generate,
    train=400,
    judged=150,
    kind_of_process="topics",
)
