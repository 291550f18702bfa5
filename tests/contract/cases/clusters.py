"""Case of `clusters`: sensitive to the subject of a text's beginning, insensitive to the end of a long text."""

from dataclasses import replace

from tests.contract.case import Case, Texts, perturbed


def _without_last_section(texts: Texts) -> Texts:
    return [replace(document, sections=document.sections[:-1] or document.sections) for document in texts]


CASE = Case(
    damage=perturbed("remove_stop_words"),
    harmless=_without_last_section,
    options={"max_tokens": 64, "number_of_clusters": 8, "seeds": 2, "permutations": 199, "cluster_counts": [4]},
    encoder="encoder",
)
