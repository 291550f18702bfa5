"""The block `sensitivity` of a config: damages of real text, and the systems that they imply."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator

from macroscope.natural_language.languages import ENGLISH, LANGUAGES
from macroscope.options import Options, require_name
from macroscope.systems.perturbation import STEPS, damaged_system
from macroscope.systems.perturbation.declaration import DAMAGES, Damage


class Sensitivity(Options):
    """Damages of real text, to measure which of them each critic finds."""

    corpus: str = Field(description="Name of the corpus whose held-out documents are damaged.")
    critics: list[str] = Field(min_length=1, description="Names of critics, and of variants (<critic>-<name>).")
    damages: Literal["all"] | list[str] = Field(
        "all",
        description="Names of damages (docs/systems.md); all = all that the language allows. The harmless twins of"
        " these are added.",
    )
    doses: list[float] = Field(
        [0.1, 0.25, 0.5], min_length=1, description="Doses, in (0, 1]; each damage has those that it can give."
    )
    sizes: list[int] = Field(
        [10, 20, 30, 50, 100, 200, 300, 500, 1000],
        min_length=1,
        description="Numbers of documents per side, as far as the corpus goes.",
    )
    repeats: int = Field(200, ge=20, description="Subsamples of documents per power.")
    language: str = Field("", description="Language of the corpus; the run itself writes it.")

    @field_validator("doses", "sizes")
    @classmethod
    def _sorted(cls, values: list[Any]) -> list[Any]:
        if min(values) <= 0 or len({*values}) < len(values):
            raise ValueError("give different numbers above 0")
        return sorted(values)

    @field_validator("doses")
    @classmethod
    def _hundredths(cls, doses: list[float]) -> list[float]:
        if max(doses) > 1 or any(abs(round(100 * dose) - 100 * dose) > 1e-9 for dose in doses):
            raise ValueError("give shares up to 1, in whole percent")
        return doses

    @field_validator("damages")
    @classmethod
    def _known(cls, damages: Literal["all"] | list[str]) -> Literal["all"] | list[str]:
        for name in () if damages == "all" else damages:
            require_name(name, DAMAGES, "damages", "damage")
        return damages

    def chosen(self) -> list[Damage]:
        """Return the damages, harmless twins included, in the order of the registry."""
        named = {*DAMAGES} if self.damages == "all" else {*self.damages}
        named |= {DAMAGES[name].twin for name in named} - {""}
        return [damage for name, damage in DAMAGES.items() if name in named and not self.lack(damage)]

    def lack(self, damage: Damage) -> str:
        """Return why the language does not allow a damage; "" if it does."""
        options = STEPS[damage.name].model_validate({"rule": damage.name}).own_options
        return damage.lacks(self.language or ENGLISH, **options) or ""

    def left_out(self) -> dict[str, str]:
        """Return name of each damage that was asked for and that the language does not allow -> reason."""
        named = DAMAGES if self.damages == "all" else self.damages
        return {name: reason for name in named if (reason := self.lack(DAMAGES[name]))}

    def cells(self) -> list[tuple[str, str, float]]:
        """Return (system, damage, dose) of every damaged system, which is named after its damage and its percentage."""
        return [
            (damaged_system(damage.name, dose)[0], damage.name, dose)
            for damage in self.chosen()
            for dose in self.doses
            if dose <= damage.highest
        ]


def imply_damages(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a config with the damaged systems, and the comparison of them, that its `sensitivity` implies.

    An invalid block is left for the schema to report.
    """
    corpora, block = raw.get("corpora"), raw["sensitivity"]
    corpus = corpora.get(block.get("corpus")) if isinstance(corpora, Mapping) and isinstance(block, Mapping) else None
    language = corpus.get("language", ENGLISH) if isinstance(corpus, Mapping) else ENGLISH
    try:
        options = Sensitivity.model_validate({**block, "language": language})
    except (ValidationError, TypeError):
        return {"comparisons": [{"corpus": "", "critics": [""]}], **raw}
    if language not in LANGUAGES:
        return dict(raw)
    cells = options.cells()
    comparison = {"corpus": options.corpus, "systems": [system for system, _, _ in cells], "critics": options.critics}
    given = raw.get("comparisons") or [comparison]
    # The effective config has it with its defaults, which are empty or false.
    if [{name: value for name, value in each.items() if value} for each in given] != [comparison]:
        raise ValueError("comparisons: a run with 'sensitivity' has none; put them in a config of their own")
    systems = dict(damaged_system(damage, dose) for _, damage, dose in cells)
    return {
        **raw,
        "sensitivity": {**block, "language": language},
        "systems": {**(raw.get("systems") or {}), **systems},
        "comparisons": [comparison],
    }
