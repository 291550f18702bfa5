"""What all groups of options have in common; each room, source, system and critic brings its own."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, model_validator

from macroscope.errors import nearest

if TYPE_CHECKING:
    from macroscope.config.schema import Config

_NAME = "[A-Za-z0-9][A-Za-z0-9_-]*"
LONGEST_NAME = 100
"""Characters of a name. File systems take 255 bytes for a file's, in which two names and what it holds may stand."""
_REPEATED = re.compile(r"(.+?)\1{9,}")


def fit_for_paths(name: str) -> str:
    """What can be a part of paths that the workflow matches, as near to a file's name as may be; perhaps empty.

    Snakemake takes a name with an end that repeats for one that its rules make longer and longer.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name)[: 2 * LONGEST_NAME]
    return _REPEATED.sub(r"\1", plain)[: LONGEST_NAME - len("-000")].strip("-_")


def _require_fit(name: Any) -> Any:
    """Say what is wrong with a name in words, before its pattern is looked at, which is for the JSON schema."""
    if isinstance(name, bool | int | float | None):
        raise ValueError(f"a name is text, and YAML takes this one for {name!r}; put it in quotation marks")
    if not isinstance(name, str):
        return name
    if len(name) > LONGEST_NAME:
        raise ValueError(f"a name has at most {LONGEST_NAME} characters, and this one {len(name):,}; shorten it")
    if not re.fullmatch(_NAME, name):
        raise ValueError(
            f"{name!r} is no name: names have letters (A to Z), digits, '-' and '_', and begin with no sign"
        )
    if found := _REPEATED.search(name):
        raise ValueError(f"the workflow cannot use names that repeat {found[1]!r} ten times or more; give another")
    return name


Name = Annotated[str, StringConstraints(pattern=f"^{_NAME}$", max_length=LONGEST_NAME), BeforeValidator(_require_fit)]
"""Name of a run, a corpus, a system, a variant: it stands in paths, rules and commands as it is."""


def _is_number(annotation: Any) -> bool:
    types = {annotation, *get_args(annotation)}
    return bool(types & {int, float}) and bool not in types


_UNUSABLE = re.compile("[{}\x00-\x1f\x7f\ud800-\udfff]")
"""Snakemake looks for wildcards in paths, and reads lists of them line by line; a config can hold no halves of
characters, which is how Python sees a name that is no UTF-8."""


def require_usable(path: str) -> str:
    """Return the path of a file of the user's, if the workflow can use it.

    Raises
    ------
    ValueError
        With one sentence that says what is in its way.
    """
    if found := _UNUSABLE.search(path):
        raise ValueError(f"the workflow cannot use paths with {found[0]!r}, as in {path!r}; rename the file or folder")
    if not path:
        raise ValueError("an empty path names no file")
    return path


UserPath = Annotated[str, AfterValidator(require_usable)]
"""Path of a file or a folder of the user's."""
LARGEST_SEED = 2**31 - 1
"""Two of them can be added, and random number generators take the sum."""


class Options(BaseModel):
    """A closed group of options: an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _numbers_are_no_switches(cls, given: Any) -> Any:
        """`seed: true` is no 1."""
        for name, value in given.items() if isinstance(given, dict) else ():
            field = cls.model_fields.get(name)
            if isinstance(value, bool) and field is not None and _is_number(field.annotation):
                raise ValueError(f"'{name}' is a number, not {str(value).lower()}")
        return given

    def check(self, place: str, config: "Config") -> None:
        """Check what can only be known beside the rest of the config, such as that a name is there.

        Parameters
        ----------
        place
            Of the group in the config ("systems.mine"), for the message.

        Raises
        ------
        ValueError
            With one sentence that begins with the place.
        """


CONTROL = "control"
"""Name of the system that is held-out real text; it stands in every comparison."""
SPLIT_HALF = "split_half"
"""Name under which one half of the control is judged against the other: what no difference looks like."""
KEPT_NAMES = {CONTROL: "held-out real text", SPLIT_HALF: "the control's halves"}
"""Names that no other system may have."""


def require_name(name: str, valid: Iterable[str], place: str, what: str) -> None:
    """Check that something of this name is there.

    Raises
    ------
    ValueError
        That names the place, what there is none of, and the nearest name.
    """
    valid = list(valid)
    if name not in valid:
        raise ValueError(f"{place}: there is no {what} '{name}'{nearest(name, valid)}")
