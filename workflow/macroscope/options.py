"""The base of all groups of options, the options of statistics, and the names of systems that the workflow derives.

Each room, source, system and critic declares groups of its own. A comparison at matched length derives two systems from
a system: the system's texts and real ones, each cut so that their lengths agree. They are compared with each other as a
system is compared with the control. No system of a config can have such a name, since names have no "@".
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol, get_args
from unicodedata import category, normalize

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from macroscope.errors import MacroscopeError, nearest
from macroscope.files import require_regular

_NAME = r"[^\x00-/:-@\[-`{-\xbf][^\x00-,/:-@\[-^`{-\xbf]*"
"""Pattern of names for the JSON schema: which letters there are beyond ASCII, no pattern says in all languages."""
LONGEST_NAME = 100
"""Most bytes of a name. A file's name, of at most 255 bytes, may hold two names and a description."""
_REPEATED = re.compile(r"(.+?)\1{9,}")
SCORES_ENDING = ".scores"
"""End of a file's name that follows a system's name in paths, so that no name may end so."""
_DOTS = re.compile(rf"\.{{2,}}|\.$|{re.escape(SCORES_ENDING)}$", re.IGNORECASE)
"""Dots that names may not have: ".." is a folder, and some disks drop a last dot."""


def fit_for_paths(name: str) -> str:
    """Return a name that the workflow can use in paths, as close as possible to a file's name; perhaps empty.

    Snakemake mistakes names with a repeated suffix for infinite recursion.
    """
    composed = normalize("NFC", name)[: 2 * LONGEST_NAME]
    plain = re.sub(r"(-|\.{2,})+", "-", "".join(sign if _is_of_name(sign) else "-" for sign in composed))
    encoded = _REPEATED.sub(r"\1", plain.lstrip("-_.")).encode()[: LONGEST_NAME - len("-no000")]
    name = _without_leading_marks(encoded.decode("utf-8", "ignore")).strip("-_.")
    return f"{name[: unfit.start()]}-{unfit[0][1:]}" if (unfit := _DOTS.search(name)) else name


def _is_of_name(sign: str) -> bool:
    return sign in "-_." or (category(sign)[0] in "LMN" and (sign.isascii() or sign >= "À"))


def _without_leading_marks(name: str) -> str:
    return name[next((at for at, sign in enumerate(name) if category(sign)[0] in "LN"), len(name)) :]


def _require_fit(name: Any) -> Any:
    """Reject an invalid name with a message in words; the pattern of the type is for the JSON schema."""
    if isinstance(name, bool | int | float | None):
        raise ValueError(f"a name is text, and YAML takes this one for {name!r}; put it in quotation marks")
    if not isinstance(name, str):
        return name
    if not name or not all(map(_is_of_name, name)) or category(name[0])[0] not in "LN":
        raise ValueError(
            f"{name!r} is not a name: names have letters, digits, '-', '_' and '.', and begin with a letter or a digit"
        )
    if unfit := _DOTS.search(name):
        raise ValueError(f"no name may have or end with {unfit[0]!r}, as {name!r} does; give another")
    if (size := len(name.encode())) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} bytes, and this one {size:,}; shorten it")
    if normalize("NFC", name) != name:
        raise ValueError(f"{name!r} is not in Unicode's composed form (NFC), which tells names apart; write it so")
    if repetition := _REPEATED.search(name):
        raise ValueError(f"the workflow cannot use names that repeat {repetition[1]!r} ten times or more; give another")
    return name


Name = Annotated[str, StringConstraints(pattern=f"^{_NAME}$", max_length=LONGEST_NAME), BeforeValidator(_require_fit)]
"""Name of a run, a corpus, a system, a variant: it is used as it is in paths, rules and commands."""


def _is_number(annotation: Any) -> bool:
    types = {annotation, *get_args(annotation)}
    return bool(types & {int, float}) and bool not in types


_UNUSABLE = re.compile("[{}<>\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that paths may not hold. Snakemake looks for wildcards and variables in paths, reads lists line by line; a
config cannot hold lone surrogates, with which Python represents names that are not UTF-8."""


def require_usable(path: str) -> str:
    """Return the path of a user's file if the workflow can use it.

    Raises
    ------
    ValueError
        If it cannot, with one sentence that says why.
    """
    if unusable := _UNUSABLE.search(path):
        raise ValueError(
            f"the workflow cannot use paths with {unusable[0]!r}, as in {path!r}; rename the file or folder"
        )
    if not path:
        raise ValueError("an empty path names no file")
    try:
        require_regular(path)
    except MacroscopeError as error:
        raise ValueError(str(error)) from None
    return path


_AS_GIVEN = "as given"
"""Context of a validation of options that a user gave to a command or a function, and not in a config."""


MUST_EXIST = "must exist"
"""Context of a validation of a config whose files are on this machine, relative to the current folder."""


def make_absolute(path: str, info: ValidationInfo) -> str:
    """Return the absolute path of a file or folder that a user gave to a command or a function; others as they are."""
    return os.path.abspath(path) if info.context == _AS_GIVEN and os.path.exists(path) else path


def _require_existing(path: str, info: ValidationInfo) -> str:
    if info.context == MUST_EXIST and not os.path.exists(path):
        raise ValueError(f"no such file or folder: {path}; put it into {os.getcwd()}, or change the path")
    return path


UserPath = Annotated[
    str, AfterValidator(require_usable), AfterValidator(make_absolute), AfterValidator(_require_existing)
]
"""Path of a user's file or folder."""
LARGEST_SEED = 2**31 - 1
"""The sum of two seeds is still a valid seed of a random number generator."""


class ConfigView(Protocol):
    """The parts of a config that a group of options may use."""

    @property
    def run(self) -> str:
        """Name of the run."""

    @property
    def seed(self) -> int:
        """Seed of the run."""

    @property
    def corpora(self) -> Mapping[str, Any]:
        """Options of the corpora, by name."""

    @property
    def systems(self) -> Mapping[str, Any]:
        """Options of the systems, by name; the control only if the config gives it options."""

    @property
    def comparisons(self) -> Sequence[Any]:
        """Comparisons, each with `corpus`, `systems`, `critics` and `pairs`."""

    @property
    def documents_per_shard(self) -> int | None:
        """Documents of a system that one job of a critic projects; None if one job projects all."""

    def system(self, name: str) -> Any:
        """Return the options of a system, the control included."""

    def applies(self, system: str, corpus: str) -> bool:
        """Return whether a system has samples of a corpus."""

    def judged_systems(self, corpus: str) -> list[str]:
        """Return the systems that some critic judges against a corpus, without the control."""

    def critic(self, name: str) -> Any:
        """Return the options of a critic or of a variant."""

    def variant_names(self) -> list[str]:
        """Return the names of all variants, such as clusters-bert."""

    def resampling(self) -> dict[str, float]:
        """Return how uncertainty is computed, as arguments of `Resampling`."""


def with_absolute_paths(group: type[BaseModel], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options that a user gave to a command or a function, for the config of a run in another folder.

    Invalid options are returned as they are: the check of the config says what is wrong, and where.
    """
    try:
        return group.model_validate(dict(given), context=_AS_GIVEN).model_dump(mode="json", exclude_unset=True)
    except ValidationError:
        return dict(given)


class Options(BaseModel):
    """A closed group of options: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _reject_booleans_for_numbers(cls, given: Any) -> Any:
        """Reject booleans for numbers (`seed: true`)."""
        for name, value in given.items() if isinstance(given, dict) else ():
            field = cls.model_fields.get(name)
            if isinstance(value, bool) and field is not None and _is_number(field.annotation):
                raise ValueError(f"'{name}' is a number, not {str(value).lower()}")
        return given

    def check(self, place: str, config: ConfigView) -> None:
        """Check what depends on the rest of the config, such as that a name exists.

        Parameters
        ----------
        place
            Place of the group in the config ("systems.mine"), for the message.

        Raises
        ------
        ValueError
            If a check fails, with one sentence that begins with the place.
        """


CONTROL = "control"
"""Name of the system that is held-out real text; it is part of every comparison."""
SPLIT_HALF = "split_half"
"""Name of the comparison of one half of the control with the other: the result when there is no difference."""
READABLE_NAMES = {CONTROL: "real text", SPLIT_HALF: "real text against itself"}
"""Name of a system in the config and in files -> its name in figures, on pages and in the terminal."""
TRAIN_SPLIT = "split.train"
"""Name, in place of a system's, of the train split of a corpus in files of mentions."""
KEPT_NAMES = {CONTROL: "held-out real text", SPLIT_HALF: "the control's halves", TRAIN_SPLIT: "the train split"}
"""Names that no other system may have."""


def require_name(name: str, valid: Iterable[str], place: str, what: str) -> None:
    """Check that a name is among the valid ones.

    Raises
    ------
    ValueError
        If it is not, with the place and the nearest valid name.
    """
    valid = list(valid)
    if name not in valid:
        raise ValueError(f"{place}: there is no {what} '{name}'{nearest(name, valid)}")


LENGTH = "length"
"""Name in the place of a critic's in statistics of length alone."""
_MATCHED, _REFERENCE = "@matched", "@reference"


def matched_system(system: str) -> str:
    """Return the name of a system's texts at matched length."""
    return f"{system}{_MATCHED}"


def matched_reference(system: str) -> str:
    """Return the name of the real texts that a system is compared with at matched length."""
    return f"{system}{_REFERENCE}"


def is_matched(name: str) -> bool:
    """Return whether a name is that of a system's texts at matched length."""
    return name.endswith(_MATCHED)


def original_system(name: str) -> str:
    """Return the system from which one was derived; the name itself if it was not derived."""
    return name.partition("@")[0]


def reference_of(name: str) -> str:
    """Return the real texts that a system is compared with: the control, or those at its matched length."""
    return matched_reference(original_system(name)) if is_matched(name) else CONTROL


@dataclass(frozen=True)
class Resampling:
    """Settings of intervals and p-values.

    Attributes
    ----------
    resamples
        Number of bootstrap resamples.
    permutations
        Number of permutations behind a p-value.
    confidence
        Level of the intervals, in (0, 1).
    seed
        Seed of the random generators; a column of its own, so not in the signature.
    """

    resamples: int = 2000
    permutations: int = 10000
    confidence: float = 0.95
    seed: int = 1

    @property
    def signature(self) -> str:
        """Return every setting but the seed, as `key:value` parts."""
        return f"resamples:{self.resamples}|permutations:{self.permutations}|confidence:{self.confidence}"


class StatisticsOptions(Options):
    """Settings of intervals, p-values and verdicts."""

    confidence: float = Field(0.95, ge=0.5, le=0.999, description="Level of all intervals.")
    resamples: int = Field(2000, ge=100, description="Bootstrap resamples of documents.")
    permutations: int = Field(10000, ge=100, description="Permutations of a p-value.")
    margin: float = Field(
        0.1,
        gt=0,
        lt=0.5,
        description="Margin of equivalence: a system counts as like real text to a critic if the interval of its"
        " detectability (c2st_auc) is at most 0.5 + margin.",
    )
