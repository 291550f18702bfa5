"""Case of the critic `questions`: sensitive to the share of questions, insensitive to the order of sections."""

from dataclasses import replace

from tests.contract.case import Case, perturbed, process

from macroscope.documents import Document


def _asking(texts: list[Document]) -> list[Document]:
    """Make every third sentence a question."""

    def ask(text: str) -> str:
        parts = text.split(".")
        return "".join(part + ("?" if n % 3 == 0 else ".") for n, part in enumerate(parts[:-1])) + parts[-1]

    return [replace(d, sections=tuple(replace(s, text=ask(s.text)) for s in d.sections)) for d in texts]


def _generate(number: int, seed: int) -> list[Document]:
    """Generate real texts with some questions."""
    texts = process(number, seed)
    return [
        replace(d, sections=(replace(d.sections[0], text=d.sections[0].text.replace(".", "?", n % 3)), *d.sections[1:]))
        for n, d in enumerate(texts)
    ]


CASE = Case(damage=_asking, harmless=perturbed("shuffle_sections"), generate=_generate)
