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
from macroscope.config.sensitivity import Sensitivity, imply_damages
from macroscope.corpora import sources
from macroscope.critics import VARIANT_SEPARATOR, critics, stage_specific_options, variant_name
from macroscope.documents import DOCUMENTS_AT_ONCE
from macroscope.errors import MacroscopeError, nearest
from macroscope.gaps import FAILED, SKIPPED, Gap, find_gap
from macroscope.options import (
    CONTROL,
    KEPT_NAMES,
    LARGEST_SEED,
    Name,
    Options,
    StatisticsOptions,
    UserPath,
    require_name,
)
from macroscope.registry import Plugin
from macroscope.statistics.judgements import short_name
from macroscope.strict_yaml import read_yaml
from macroscope.systems import kinds
from macroscope.systems.options import SystemOptions

if TYPE_CHECKING:
    from macroscope.corpora.options import Corpus as AnyCorpus
    from macroscope.systems.options import SystemOptions as AnySystem


def union_of(plugins: Mapping[str, Plugin[Any]], tag: str) -> Any:
    """Return the union type of the plugins' options, discriminated by `tag`."""
    models: list[type[BaseModel]] = []
    for name, plugin in plugins.items():
        field = plugin.options.model_fields.get(tag)
        if field is None or get_args(field.annotation) != (name,):
            raise MacroscopeError(
                f"{plugin.package}: the options of '{name}' have another tag; give them {tag}: Literal['{name}']"
            )
        models.append(plugin.options)
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
    matched_length: bool = Field(
        False, description="Compare at matched length as well: texts of the longer side are cut after a sentence."
    )
    by: str | None = Field(None, min_length=1, description="What labels are, such as genre: compare by label, too.")


Critics = create_model(
    "Critics",
    __base__=Options,
    **{  # type: ignore[call-overload]
        name: (critic.options, Field(critic.default_options, description=f"The {name} critic."))
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
    """A run: the texts to judge, the corpora, the critics, the sizes. It holds nothing about machines."""

    run: Name = Field("default", description="Name of the run: results go to results/<run>.")
    seed: int = Field(1, ge=0, le=LARGEST_SEED, description="Seed of everything that is random.")
    mirror: str | dict[str, str] | None = Field(
        None,
        description="Folder, file URL or http(s) URL that is tried before the hosts of all downloads; or such places by"
        " data set of resources/sources.yaml.",
    )
    statistics: StatisticsOptions = Field(StatisticsOptions(), description="Uncertainty.")
    corpora: dict[Name, AnyCorpus] = Field(min_length=1, description="Collections of real documents.")
    systems: dict[Name, AnySystem] = Field({}, description="Producers of the texts that are judged.")
    critics: Critics = Field(Critics(), description="Options of the critics.")
    variants: Variants = Field(
        Variants(),
        description="The critics again, with other options: a key that is left out has its default, not the critic's"
        " value. Comparisons name them <critic>-<name>, such as clusters-bert.",
    )
    comparisons: list[Comparison] = Field(
        min_length=1, description="Systems to judge, with the corpus and the critics."
    )
    gaps: list[Gap] = Field(
        [],
        description="Critics that are skipped, with the reason that the scorecard's cells show; `macroscope criticize`"
        " writes it, and a cell that a comparison fills does not need it. And what failed in the first pass of a run,"
        " which the run itself writes: the second pass reports the rest.",
    )
    wrapped: dict[Name, str] = Field({}, description="System -> what gives its texts away, for a warning sign.")
    cut_texts: list[str] = Field([], description="Sentences on texts that may be cut, for the report's first page.")
    sensitivity: Sensitivity | None = Field(
        None,
        description="Measure which damages each critic finds, instead of judging systems: the run then writes"
        " results/<run>/sensitivity alone.",
    )
    human_judgements: list[HumanJudgements] = Field(
        [], description="Human judgements to correlate every statistic with."
    )
    documents_per_shard: int | None = Field(
        None,
        ge=DOCUMENTS_AT_ONCE,
        multiple_of=DOCUMENTS_AT_ONCE,
        description="Documents of a system that one job of a critic projects, for a cluster; their number changes no"
        " latents. Default: all of a system in one job.",
    )
    profile: UserPath | None = Field(None, description="Profile of the texts (CSV) that `macroscope criticize` writes.")
    pdf_figures: bool = Field(True, description="Write figures as PDF as well as SVG, which takes twice as long.")
    cited_sensitivity: UserPath | None = Field(
        None,
        description="Table matrix.csv of `macroscope sensitivity` on texts of the same kind: the report says which"
        " damages a critic would have found that calls a system like real text.",
    )

    @model_validator(mode="before")
    @classmethod
    def _add_damages(cls, raw: Any) -> Any:
        """Add the systems and the comparison that `sensitivity` implies; a config may have them already."""
        return imply_damages(raw) if isinstance(raw, Mapping) and raw.get("sensitivity") else raw

    @model_validator(mode="after")
    def _check_groups(self) -> "Config":
        for room, groups in (("corpora", self.corpora), ("systems", self.systems)):
            for name, group in groups.items():
                group.check(f"{room}.{name}", self)
        return self

    @model_validator(mode="after")
    def _check_names(self) -> "Config":
        for number, comparison in enumerate(self.comparisons):
            place = f"comparisons.{number}"
            require_name(comparison.corpus, self.corpora, f"{place}.corpus", "corpus")
            for critic in comparison.critics:
                require_name(critic, [*critics(), *self.variant_names()], f"{place}.critics", "critic")
            for system in [] if comparison.systems == "all" else comparison.systems:
                require_name(system, {**self.systems, CONTROL: None}, f"{place}.systems", "system")
                self._require_samples(system, comparison.corpus, place)
            self._require_pairs(comparison, place)
        for number, gap in enumerate(self.gaps):
            place = f"gaps.{number}"
            if gap.kind == SKIPPED:
                require_name(gap.corpus, self.corpora, f"{place}.corpus", "corpus")
                require_name(str(gap.critic), [*critics(), *self.variant_names()], f"{place}.critic", "critic")
                if gap.system is not None:
                    require_name(gap.system, self.systems, f"{place}.system", "system")
            elif gap.kind != FAILED:
                raise ValueError(f"{place}.kind: a config knows '{SKIPPED}' and '{FAILED}'; use '{SKIPPED}'")
        return self

    def _require_pairs(self, comparison: Comparison, place: str) -> None:
        """Check that systems that are compared with each other are judged, and that each pair has two systems."""
        judged = list(self.systems) if comparison.systems == "all" else comparison.systems
        for pair in [] if comparison.pairs == "all" else comparison.pairs:
            for system in pair:
                require_name(system, judged, f"{place}.pairs", "system of this comparison")
            if pair[0] == pair[1]:
                raise ValueError(f"{place}.pairs: '{pair[0]}' is paired with itself; name two systems")
            if CONTROL in pair:
                raise ValueError(f"{place}.pairs: every system is compared with '{CONTROL}' anyway; leave the pair out")

    @model_validator(mode="after")
    def _check_reserved_names(self) -> "Config":
        control = self.systems.get(CONTROL)
        if control is not None and control.kind != CONTROL:
            raise ValueError(f"systems.{CONTROL}: the name is reserved for held-out real text; rename the system")
        for name, what in KEPT_NAMES.items():
            if name != CONTROL and name in self.systems:
                raise ValueError(f"systems.{name}: the name is reserved for {what}; rename the system")
        return self

    @model_validator(mode="after")
    def _check_case_insensitive_names(self) -> "Config":
        """Check that no two names differ only in capitals, which some file systems do not distinguish."""
        rooms = {"corpora": self.corpora, "systems": [*KEPT_NAMES, *self.systems], "variants": self.variant_names()}
        for room, names in rooms.items():
            seen: dict[str, str] = {}
            for name in names:
                if (earlier := seen.setdefault(name.casefold(), name)) != name:
                    raise ValueError(
                        f"{room}.{name}: the name differs from '{earlier}' only in capitals, which some disks do not"
                        " distinguish; give it another name"
                    )
        return self

    @model_validator(mode="after")
    def _check_critics_and_judgements(self) -> "Config":
        """Check the options of critics and variants, and the human judgements."""
        for name in critics():
            self.critic(name).check(f"critics.{name}", self)
            for variant, options in getattr(self.variants, name).items():
                place = f"variants.{name}.{variant}"
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
        """Return how uncertainty is computed, as arguments of `options.Resampling`."""
        return {**self.statistics.model_dump(exclude={"margin"}), "seed": self.seed}

    def critic(self, name: str) -> Any:
        """Return the options of a critic or of a variant."""
        critic, _, variant = name.partition(VARIANT_SEPARATOR)
        return getattr(self.variants, critic)[variant] if variant else getattr(self.critics, critic)

    def variant_names(self) -> list[str]:
        """Return the names of all variants, as in comparisons."""
        return [variant_name(critic, variant) for critic in critics() for variant in getattr(self.variants, critic)]

    def judged_systems(self, corpus: str) -> list[str]:
        """Return the systems that some critic judges against a corpus, without the control."""
        names = dict.fromkeys(
            system
            for comparison in self.comparisons
            if comparison.corpus == corpus
            for system in (self.systems if comparison.systems == "all" else comparison.systems)
            if system != CONTROL and self.applies(system, corpus)
        )
        return list(names)

    def lacks(self, corpus: str, system: str | None = None, critic: str | None = None) -> bool:
        """Return whether a corpus, a system there, a critic there, or a critic on a system there, is left out."""
        return find_gap(self.failed, corpus, system, critic) is not None

    @property
    def failed(self) -> list[Gap]:
        """Return what failed in the first pass of a run, and is left out."""
        return [gap for gap in self.gaps if gap.kind == FAILED]

    def matched_systems(self, number: int) -> dict[str, str]:
        """Return system -> name in the table of an entry of the human judgements; see `HumanJudgements.matched`."""
        entry = self.human_judgements[number]
        return entry.matched(self.judged_systems(entry.corpus), f"human_judgements.{number}")

    def system(self, name: str) -> SystemOptions:
        """Return the options of a system; those of the control even if the config does not give any."""
        if name == CONTROL and name not in self.systems:
            return kinds()[CONTROL].options(kind=CONTROL)
        return self.systems[name]

    def applies(self, system: str, corpus: str) -> bool:
        """Return whether a system has samples of a corpus."""
        return self.system(system).obstacle(corpus, self) is None

    def _require_samples(self, system: str, corpus: str, place: str) -> None:
        obstacle = self.system(system).obstacle(corpus, self)
        if obstacle is not None:
            raise ValueError(f"{place}: system '{system}' {obstacle}; leave it out there")


def load_config(path: Path, context: str | None = None) -> Config:
    """Read and check a config file; see `parse_config`."""
    return parse_config(read_yaml(path), str(path), context)


def parse_config(raw: Any, where: str = "config", context: str | None = None) -> Config:
    """Check a config and fill in the defaults; in the context `options.MUST_EXIST`, the user's files, too.

    Raises
    ------
    MacroscopeError
        If the config is wrong, with the place and the problem; for a misspelt key with the nearest valid one.
    """
    if not isinstance(raw, Mapping):
        what = "empty" if raw is None else f"a {type(raw).__name__}"
        raise MacroscopeError(f"{where}: a config has keys, such as 'corpora:', and this one is {what}")
    try:
        return Config.model_validate(raw, context=context)
    except ValidationError as error:
        raise MacroscopeError("; ".join(f"{where}: {_sentence(e)}" for e in error.errors())) from None
    except UnicodeEncodeError as error:  # in a message that quotes the value
        half = ascii(error.object[error.start])
        raise MacroscopeError(f"{where}: a text holds {half}, half of a character; write the whole one") from None


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of the config."""
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
    """Return the place of an error as the config spells it, and the model that the wrong key belongs to.

    pydantic puts the tag of a discriminated union into the location; the config does not have it there.
    """
    model: type[BaseModel] | None = Config
    parts: list[str] = []
    annotation: Any = Config
    holder: type[BaseModel] | None = Config
    for part in loc:
        if part == "[key]":  # pydantic's mark of a wrong name, which stands before it
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
    """Return the group of options that a type is, or may be (`Training | None`)."""
    candidates = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    groups = [candidate for candidate in candidates if isinstance(candidate, type) and issubclass(candidate, BaseModel)]
    return groups[0] if len(groups) == 1 else None


def _inside(annotation: Any, part: int | str) -> Any:
    """Return the type of a field of a model, or of an item of a dict or a list."""
    group = _group_in(annotation)
    if group is not None and str(part) in group.model_fields:
        return group.model_fields[str(part)].annotation
    arguments = get_args(annotation)
    return arguments[-1] if arguments else None


def _tagged(annotation: Any) -> dict[str, type[BaseModel]]:
    """Return the members of a discriminated union by their tag."""
    members = [a for group in (annotation, *get_args(annotation)) for a in get_args(group)]
    tagged: dict[str, type[BaseModel]] = {}
    for member in members:
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name in ("source", "kind", "rule"):
                if name in member.model_fields:
                    for tag in get_args(member.model_fields[name].annotation):
                        tagged.setdefault(tag, member)
                    break
    return tagged
