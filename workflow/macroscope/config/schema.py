"""The config: one closed, described, defaulted schema, and errors that name the nearest valid key.

The models here and in the rooms' `options` are the one source of truth; `workflow/schemas/config.schema.json` is
generated from them (`macroscope config schema`) for editors and readers, and a test keeps the two together.
"""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Field, ValidationError, create_model, model_validator

from macroscope.config.human_judgements import HumanJudgements
from macroscope.corpora import sources
from macroscope.critics import VARIANT, critics, stage_specific_options, variant_name
from macroscope.documents import DOCUMENTS_AT_ONCE
from macroscope.errors import MacroscopeError, nearest
from macroscope.files import read_yaml
from macroscope.options import CONTROL, KEPT_NAMES, LARGEST_SEED, Name, Options, require_name
from macroscope.registry import Plugin
from macroscope.statistics.judgements import short_name
from macroscope.statistics.resampling import StatisticsOptions
from macroscope.systems import kinds
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.corpora.options import Corpus as AnyCorpus
    from macroscope.systems.options import SystemOptions as AnySystem


def union_of(found: Mapping[str, Plugin[Any]], tag: str) -> Any:
    """Type of any of these groups, told by `tag`.

    Raises
    ------
    MacroscopeError
        Where a group's tag is not the name by which it was found.
    """
    models: list[type[BaseModel]] = []
    for name, declared in found.items():
        field = declared.options.model_fields.get(tag)
        if field is None or get_args(field.annotation) != (name,):
            raise MacroscopeError(
                f"{declared.package}: the options of '{name}' are not told by it; give them {tag}: Literal['{name}']"
            )
        models.append(declared.options)
    return Annotated[reduce(or_, models), Field(discriminator=tag)]


if not TYPE_CHECKING:
    AnyCorpus = union_of(sources(), "source")
    AnySystem = union_of(kinds(), "kind")


class Comparison(Options):
    """Systems that are judged against a corpus by critics."""

    corpus: str = Field(description="Name of the corpus.")
    systems: Literal["all"] | list[str] = Field("all", description="Names of systems; all = all that apply.")
    critics: list[str] = Field(min_length=1, description="Names of critics, and of variants (<critic>-<name>).")
    pairs: Literal["all"] | list[tuple[str, str]] = Field(
        [],
        description="Pairs of these systems that are compared with each other, such as [[lm-titles, lm-no-titles]];"
        " all = every pair.",
    )


Critics = create_model(
    "Critics",
    __base__=Options,
    **{  # type: ignore[call-overload]
        name: (critic.options, Field(critic.options(), description=f"The {name} critic."))
        for name, critic in critics().items()
    },
)

Variants = create_model(
    "Variants",
    __base__=Options,
    **{  # type: ignore[call-overload]
        name: (
            dict[Name, critic.options],  # type: ignore[name-defined]
            Field({}, description=f"Variants of the {name} critic, by names of your own."),
        )
        for name, critic in critics().items()
    },
)


class Config(Options):
    """What is judged, against what, by which critic; how big; nothing about machines."""

    run: Name = Field("default", description="Name of the run: results go to results/<run>.")
    seed: int = Field(1, ge=0, le=LARGEST_SEED, description="Seed of everything that is random.")
    mirror: str | None = Field(
        None, description="Folder, file URL or http(s) URL that replaces the hosts of all downloads."
    )
    statistics: StatisticsOptions = Field(StatisticsOptions(), description="Uncertainty.")
    corpora: dict[Name, AnyCorpus] = Field(min_length=1, description="Collections of real documents.")
    systems: dict[Name, AnySystem] = Field({}, description="What produces the texts that are judged.")
    critics: Critics = Field(Critics(), description="Options of the critics.")
    variants: Variants = Field(
        Variants(),
        description="The critics again, with other options: what is not said has its default, not the critic's own"
        " value. Comparisons ask for <critic>-<name>, such as clusters-bert.",
    )
    comparisons: list[Comparison] = Field(min_length=1, description="Which systems are judged where, by what.")
    human_judgements: list[HumanJudgements] = Field(
        [], description="Human judgements to correlate every statistic with."
    )
    documents_per_shard: int | None = Field(
        None,
        ge=DOCUMENTS_AT_ONCE,
        multiple_of=DOCUMENTS_AT_ONCE,
        description="Documents of a system that one job of a critic projects; the latents are the same whatever their"
        " number. Default: all of a system in one job. For a cluster.",
    )
    profile: str | None = Field(
        None,
        description="Table of a first look at the texts, for the report (CSV); `macroscope criticize` writes it.",
    )
    accept_older_code: list[str] = Field(
        [],
        description="Rules whose finished results stay although the code that they run has changed since; the report"
        " says so. Such as [finetune], to keep trained models.",
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
                require_name(critic, [*critics(), *self.variant_names()], f"{place}.critics", "critic")
            for system in [] if comparison.systems == "all" else comparison.systems:
                require_name(system, {**self.systems, CONTROL: None}, f"{place}.systems", "system")
                self._require_samples(system, comparison.corpus, place)
            self._require_pairs(comparison, place)
        return self

    def _require_pairs(self, comparison: Comparison, place: str) -> None:
        """Check that systems that are compared with each other are judged, and that a pair is two."""
        judged = list(self.systems) if comparison.systems == "all" else comparison.systems
        for pair in [] if comparison.pairs == "all" else comparison.pairs:
            for system in pair:
                require_name(system, judged, f"{place}.pairs", "system of this comparison")
            if pair[0] == pair[1]:
                raise ValueError(f"{place}.pairs: '{pair[0]}' stands against itself; name two systems")
            if CONTROL in pair:
                raise ValueError(f"{place}.pairs: every system is compared with '{CONTROL}' anyway; leave the pair out")

    @model_validator(mode="after")
    def _kept_names(self) -> "Config":
        other = self.systems.get(CONTROL)
        if other is not None and other.kind != CONTROL:
            raise ValueError(f"systems.{CONTROL}: the name is kept for held-out real text; call the system otherwise")
        for name, what in KEPT_NAMES.items():
            if name != CONTROL and name in self.systems:
                raise ValueError(f"systems.{name}: the name is kept for {what}; call the system otherwise")
        return self

    @model_validator(mode="after")
    def _names_have_files_of_their_own(self) -> "Config":
        """Check that no two names differ in capitals alone: not every disk tells those apart."""
        rooms = {"corpora": self.corpora, "systems": [*KEPT_NAMES, *self.systems], "variants": self.variant_names()}
        for room, names in rooms.items():
            seen: dict[str, str] = {}
            for name in names:
                if (other := seen.setdefault(name.casefold(), name)) != name:
                    raise ValueError(
                        f"{room}.{name}: the name differs from '{other}' in capitals alone, which not every disk tells"
                        " apart; call it otherwise"
                    )
        return self

    @model_validator(mode="after")
    def _groups_fit(self) -> "Config":
        """Each group of options checks its own names."""
        for name in critics():
            self.critic(name).check(f"critics.{name}", self)
            for own, options in getattr(self.variants, name).items():
                place = f"variants.{name}.{own}"
                options.check(place, self)
                defaults = type(options)()
                for option in sorted(stage_specific_options(critics()[name].data)):
                    if getattr(options, option) != getattr(defaults, option):
                        raise ValueError(f"{place}.{option}: variants only judge systems; set it in critics.{name}")
        seen: dict[tuple[str, str], int] = {}
        for number, entry in enumerate(self.human_judgements):
            earlier = seen.setdefault((entry.corpus, short_name(entry.table)), number)
            if earlier != number:
                raise ValueError(
                    f"human_judgements.{number}: the corpus and the table's name are those of"
                    f" human_judgements.{earlier}; put them together, or rename the file"
                )
            entry.check(f"human_judgements.{number}", self)
        return self

    def resampling(self) -> dict[str, float]:
        """How uncertainty is computed, as `statistics.latent.Resampling` takes it."""
        return {**self.statistics.model_dump(exclude={"margin"}), "seed": self.seed}

    def critic(self, name: str) -> Any:
        """Options of a critic or of a variant."""
        critic, _, own = name.partition(VARIANT)
        return getattr(self.variants, critic)[own] if own else getattr(self.critics, critic)

    def variant_names(self) -> list[str]:
        """All variants, as comparisons ask for them."""
        return [variant_name(critic, own) for critic in critics() for own in getattr(self.variants, critic)]

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

    def matched_systems(self, number: int) -> dict[str, str]:
        """System -> name in the table, of an entry of the human judgements; see `HumanJudgements.matched`."""
        entry = self.human_judgements[number]
        return entry.matched(self.judged_systems(entry.corpus), f"human_judgements.{number}")

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
    return parse_config(read_yaml(path), str(path))


def parse_config(raw: Any, where: str = "config") -> Config:
    """Check a config and fill in the defaults.

    Raises
    ------
    MacroscopeError
        With the place and what is wrong there; a misspelt key with the nearest valid one.
    """
    if not isinstance(raw, Mapping):
        what = "empty" if raw is None else f"a {type(raw).__name__}"
        raise MacroscopeError(f"{where}: a config has keys, such as 'corpora:', and this one is {what}")
    try:
        return Config.model_validate(raw)
    except ValidationError as error:
        raise MacroscopeError("; ".join(f"{where}: {_sentence(e)}" for e in error.errors())) from None
    except UnicodeEncodeError as error:  # in a message about a value that holds it
        half = ascii(error.object[error.start])
        raise MacroscopeError(f"{where}: a text holds {half}, half of a character; write the whole one") from None


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
        if part == "[key]":  # pydantic's mark of what is wrong with a name, which stands before it
            continue
        tagged = _tagged(annotation).get(str(part))
        if tagged is not None:
            annotation = holder = model = tagged
            continue
        parts.append(str(part))
        holder = model
        annotation = _inside(annotation, part)
        model = _group_in(annotation)
    return ".".join(parts), holder


def _group_in(annotation: Any) -> type[BaseModel] | None:
    """The group of options that a type is, or may be (`Training | None`)."""
    candidates = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    groups = [some for some in candidates if isinstance(some, type) and issubclass(some, BaseModel)]
    return groups[0] if len(groups) == 1 else None


def _inside(annotation: Any, part: int | str) -> Any:
    """Type of a field of a model, or of an item of a dict or a list."""
    group = _group_in(annotation)
    if group is not None and str(part) in group.model_fields:
        return group.model_fields[str(part)].annotation
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
