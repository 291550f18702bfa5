"""The config: one closed, described, defaulted schema, and errors that name the nearest valid key.

The models here and in the rooms' `options` are the one source of truth; `workflow/schemas/config.schema.json` is
generated from them (`macroscope config schema`) for editors and readers, and a test keeps the two together.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import yaml
from pydantic import BaseModel, Field, ValidationError, create_model, model_validator

from macroscope.config.options import Name, Options, require_name
from macroscope.config.unions import union_of
from macroscope.corpora import sources
from macroscope.critics import CRITICS
from macroscope.critics.clusters.options import Probing
from macroscope.critics.critic import SPLIT_HALF, options_model
from macroscope.errors import MacroscopeError, nearest
from macroscope.judgements import (
    BUILT_IN,
    check_mapping,
    is_there,
    read_judgements,
    same_names,
    seed_groups,
    short_name,
    table_files,
)
from macroscope.systems import kinds
from macroscope.systems.declaration import CONTROL
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.corpora.options import Corpus as AnyCorpus
    from macroscope.systems.options import SystemOptions as AnySystem
else:
    AnyCorpus = union_of(sources(), "source")
    AnySystem = union_of(kinds(), "kind")


class StatisticsOptions(Options):
    """How uncertainty is computed."""

    confidence: float = Field(0.95, gt=0, lt=1, description="Level of all intervals.")
    resamples: int = Field(2000, ge=100, description="Bootstrap resamples of documents.")
    permutations: int = Field(10000, ge=100, description="Permutations of a p-value.")


class Comparison(Options):
    """Systems that are judged against a corpus by critics."""

    corpus: str = Field(description="Name of the corpus.")
    systems: Literal["all"] | list[str] = Field("all", description="Names of systems; all = all that apply.")
    critics: list[str] = Field(["coherence"], min_length=1, description="Names of critics.")


class HumanJudgements(Options):
    """Scores that people gave to systems: every statistic is correlated with them (pimentel2022 §5.2)."""

    corpus: str = Field(description="Name of the corpus that the systems are judged against.")
    table: str = Field(
        description=f"A built-in table ({', '.join(BUILT_IN)}) or the path of a CSV of your own, with the columns"
        " system, score and, where there are several, question."
    )
    systems: dict[str, str] | None = Field(
        None,
        description="Name of a system here to its name in the table. Several systems with the same name there are its"
        " seeds, the k-th of each name in group k. Default: systems that have the same name here and there.",
    )
    real_text: str | None = Field(
        None,
        description="Name in the table of text by people: the control then counts as one more system wherever it has a"
        " value (mauve, deng2022: human). Default: real text is left out, as in the paper.",
    )


Critics = create_model(
    "Critics",
    __base__=Options,
    **{  # type: ignore[call-overload]
        name: (options_model(name), Field(options_model(name)(), description=f"The {name} critic.")) for name in CRITICS
    },
)


class Config(Options):
    """What is judged, against what, by which critic; how big; nothing about machines."""

    run: Name = Field("default", description="Name of the run: results go to results/<run>.")
    seed: int = Field(1, ge=0, description="Seed of everything that is random.")
    mirror: str | None = Field(
        None, description="Folder, file URL or http(s) URL that replaces the hosts of all downloads."
    )
    statistics: StatisticsOptions = Field(StatisticsOptions(), description="Uncertainty.")
    corpora: dict[Name, AnyCorpus] = Field(min_length=1, description="Collections of real documents.")
    systems: dict[Name, AnySystem] = Field({}, description="What produces the texts that are judged.")
    critics: Critics = Field(Critics(), description="Options of the critics.")
    comparisons: list[Comparison] = Field(min_length=1, description="Which systems are judged where, by what.")
    probing: list[Probing] = Field([], description="What the clusters of which corpora know.")
    human_judgements: list[HumanJudgements] = Field(
        [], description="Human judgements to correlate every statistic with."
    )

    @model_validator(mode="after")
    def _groups_are_sound(self) -> "Config":
        for room, groups in (("corpora", self.corpora), ("systems", self.systems)):
            for name, group in groups.items():
                group.check(f"{room}.{name}", self)
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> "Config":
        for number, comparison in enumerate(self.comparisons):
            place = f"comparisons.{number}"
            require_name(comparison.corpus, self.corpora, f"{place}.corpus", "corpus")
            for critic in comparison.critics:
                require_name(critic, CRITICS, f"{place}.critics", "critic")
            for system in [] if comparison.systems == "all" else comparison.systems:
                require_name(system, {**self.systems, CONTROL: None}, f"{place}.systems", "system")
                self._require_samples(system, comparison.corpus, place)
        for number, probing in enumerate(self.probing):
            require_name(probing.corpus, self.corpora, f"probing.{number}.corpus", "corpus")
            if probing.reference is not None:
                require_name(probing.reference, self.corpora, f"probing.{number}.reference", "corpus")
        if len({probing.corpus for probing in self.probing}) < len(self.probing):
            raise ValueError("probing: a corpus stands there twice; put all its encoders into one entry")
        return self

    @model_validator(mode="after")
    def _kept_names(self) -> "Config":
        other = self.systems.get(CONTROL)
        if other is not None and other.kind != CONTROL:
            raise ValueError(f"systems.{CONTROL}: the name is kept for held-out real text; call the system otherwise")
        if SPLIT_HALF in self.systems:
            raise ValueError(
                f"systems.{SPLIT_HALF}: the name is kept for the control's halves; call the system otherwise"
            )
        return self

    @model_validator(mode="after")
    def _judgements_match(self) -> "Config":
        seen: dict[tuple[str, str], int] = {}
        for number, entry in enumerate(self.human_judgements):
            place = f"human_judgements.{number}"
            require_name(entry.corpus, self.corpora, f"{place}.corpus", "corpus")
            earlier = seen.setdefault((entry.corpus, short_name(entry.table)), number)
            if earlier != number:
                raise ValueError(
                    f"{place}: the corpus and the table's name are those of human_judgements.{earlier}; put them"
                    " together, or rename the file"
                )
            judged = self.judged_systems(entry.corpus)
            for system in entry.systems or {}:
                if system == CONTROL:
                    raise ValueError(
                        f"{place}.systems: '{CONTROL}' is real text; name its row of the table by 'real_text'"
                    )
                require_name(system, self.systems, f"{place}.systems", "system")
                if system not in judged:
                    raise ValueError(f"{place}.systems: no comparison judges '{system}' against '{entry.corpus}'")
            try:
                # A file that is not there yet is a missing input of the workflow, which says so.
                seed_groups(self.matched_systems(number) if is_there(entry.table) else entry.systems or {}, place)
            except MacroscopeError as error:
                raise ValueError(str(error)) from None
        return self

    def judged_systems(self, corpus: str) -> list[str]:
        """Systems that some critic judges against a corpus, real text aside."""
        found = dict.fromkeys(
            system
            for comparison in self.comparisons
            if comparison.corpus == corpus
            for system in (self.systems if comparison.systems == "all" else comparison.systems)
            if system != CONTROL and self.applies(system, corpus)
        )
        return list(found)

    def judgement_files(self) -> list[str]:
        """Files of the tables of human judgements."""
        return sorted({file for entry in self.human_judgements for file in table_files(entry.table)})

    def matched_systems(self, number: int) -> dict[str, str]:
        """System -> name in the table, of an entry of the human judgements.

        Raises
        ------
        MacroscopeError
            Where the table cannot be read, or has not these names, or too few of them.
        """
        entry, place = self.human_judgements[number], f"human_judgements.{number}"
        judgements = read_judgements(entry.table)
        mapping = entry.systems
        if mapping is None:
            mapping = same_names(judgements, self.judged_systems(entry.corpus), entry.real_text)
        check_mapping(mapping, entry.real_text, judgements, f"{place}.systems")
        return mapping

    def system(self, name: str) -> SystemOptions:
        """Options of a system; the control has some even where the config does not give any."""
        if name == CONTROL and name not in self.systems:
            return kinds()[CONTROL].options(kind=CONTROL)
        return self.systems[name]

    def applies(self, system: str, corpus: str) -> bool:
        """Whether a system has samples of a corpus."""
        return self.system(system).obstacle(corpus, self) is None

    def _require_samples(self, system: str, corpus: str, place: str) -> None:
        obstacle = self.system(system).obstacle(corpus, self)
        if obstacle is not None:
            raise ValueError(f"{place}: system '{system}' {obstacle}; leave it out there")


def load_config(path: Path) -> Config:
    """Read and check a config file."""
    try:
        raw = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MacroscopeError(f"{path}: no such config file") from None
    except yaml.YAMLError as error:
        raise MacroscopeError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from None
    return parse_config(raw, str(path))


def parse_config(raw: Mapping[str, Any], where: str = "config") -> Config:
    """Check a config and fill in the defaults.

    Raises
    ------
    MacroscopeError
        With the place and what is wrong there; a misspelt key with the nearest valid one.
    """
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError("; ".join(f"{where}: {_sentence(e)}" for e in error.errors())) from None


def json_schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of the config."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Config.model_json_schema()}


def _sentence(error: Any) -> str:
    place, model = _locate(error["loc"])
    if error["type"] == "value_error":
        return f"{place}: {error['ctx']['error']}" if place else str(error["ctx"]["error"])
    if error["type"] == "extra_forbidden":
        return f"{place}: there is no such key{nearest(str(error['loc'][-1]), model.model_fields if model else ())}"
    if error["type"] == "missing":
        return f"{place}: this key is required"
    if error["type"] == "union_tag_invalid":
        key, tags = error["ctx"]["discriminator"].strip("'"), error["ctx"]["expected_tags"].replace("'", "")
        tag = error["ctx"]["tag"]
        return f"{place}.{key}: {tag!r} is not one of {tags}{nearest(tag, tags.split(', '))}"
    if error["type"] == "union_tag_not_found":
        return f"{place}: the key {error['ctx']['discriminator']} is required"
    return f"{place}: {error['msg'][0].lower()}{error['msg'][1:]}, not {error['input']!r}"


def _locate(loc: tuple[int | str, ...]) -> tuple[str, type[BaseModel] | None]:
    """Return the place of an error as the config spells it, and the model whose key is at fault.

    pydantic puts the tag of a discriminated union into the location; a reader does not find it in the config.
    """
    model: type[BaseModel] | None = Config
    parts: list[str] = []
    annotation: Any = Config
    holder: type[BaseModel] | None = Config
    for part in loc:
        tagged = _tagged(annotation).get(str(part))
        if tagged is not None:
            annotation = holder = model = tagged
            continue
        parts.append(str(part))
        holder = model
        annotation = _inside(annotation, part)
        model = annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return ".".join(parts), holder


def _inside(annotation: Any, part: int | str) -> Any:
    """Type of a field of a model, or of an item of a dict or a list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    arguments = get_args(annotation)
    return arguments[-1] if arguments else None


def _tagged(annotation: Any) -> dict[str, type[BaseModel]]:
    """Members of a discriminated union by their tag."""
    members = [a for group in (annotation, *get_args(annotation)) for a in get_args(group)]
    found: dict[str, type[BaseModel]] = {}
    for member in members:
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name in ("source", "kind", "rule"):
                if name in member.model_fields:
                    for tag in get_args(member.model_fields[name].annotation):
                        found.setdefault(tag, member)
                    break
    return found
