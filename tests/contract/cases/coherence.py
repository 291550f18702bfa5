"""Case of `coherence`: sensitive to the order of sections, insensitive to section titles of candidates."""

from dataclasses import replace

from tests.contract.case import Case, Texts, perturbed


def _untitled(texts: Texts) -> Texts:
    return [replace(d, sections=tuple(replace(section, title=None) for section in d.sections)) for d in texts]


CASE = Case(
    damage=perturbed("shuffle_sections"),
    harmless=_untitled,
    options={"max_tokens": 32, "epochs": 6, "batch_size": 16, "learning_rate": 0.005},
    encoder="encoder",
)
