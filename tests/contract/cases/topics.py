"""Topics: which of them go together; the order of the words is nothing to it."""

from macroscope.corpora.simulated.topics import simulate_texts, topic_process
from tests.contract.case import Case, Texts, perturbed


def _drawn(n: int, seed: int, order: str = "process") -> Texts:
    return [document for document, _ in simulate_texts(topic_process(), order, n, seed)]


CASE = Case(
    damage=lambda texts: _drawn(len(texts), 5, "independent"),
    harmless=perturbed("shuffle_words"),
    options={"topics": 8, "permutations": 199},
    draw=_drawn,
    train=400,
    judged=150,
    kind_of_process="topics",
)
