"""Parts of kept references for commands without a run: what each learns from the real texts alone.

A command declares its part; `reference build` learns all parts and stores them, and the command learns its part from
real texts or reads it from a kept reference. So its numbers are those that the texts give.
"""

import tempfile
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from macroscope.critics import GivenOptions
from macroscope.documents import Document
from macroscope.engine.kept_references import COMMANDS, KeptReference
from macroscope.errors import MacroscopeError

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """Settings on which parts may depend: language of the texts, seed, and options of critics that the user gave."""

    language: str
    seed: int = 1
    options: GivenOptions | None = None


@dataclass(frozen=True)
class LearnedPart(Generic[T]):
    """Numbers or models that a command learns from real texts.

    Attributes
    ----------
    command
        Name of the command.
    version
        Version of the part, which is raised if its numbers change.
    words
        Function that returns the settings that change the part.
    learn
        Function of the real texts.
    save, load
        Functions that write the part into an empty folder, and read it.
    critic
        Critic that a kept reference must have for this part; "" for none.
    """

    command: str
    version: int
    words: Callable[[Settings], Sequence[str]]
    learn: Callable[[Sequence[Document], Settings], T]
    save: Callable[[T, Path], None]
    load: Callable[[Path], T]
    critic: str = ""

    @property
    def output(self) -> str:
        return f"{COMMANDS}/{self.command}"

    def recipe(self, settings: Settings) -> list[str]:
        return [str(self.version), *self.words(settings)]

    def obtain(self, real: Sequence[Document], kept: KeptReference | None, settings: Settings) -> T:
        """Learn the part from real texts, or read it from the kept reference in their place.

        Raises
        ------
        MacroscopeError
            If the kept reference lacks it, or has it with other settings.
        """
        if kept is None:
            return self.learn(real, settings)
        if not kept.gives(self.command, self.recipe(settings), self.output):
            why = kept.header["left_out"].get(self.command, "the file was built without it")
            raise MacroscopeError(f"{kept.path}: nothing for `macroscope {self.command}` ({why}); give the texts")
        with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
            kept.lay(Path(folder), [self.output])
            return self.load(Path(folder) / self.output)


def save_parts(
    parts: Iterable[LearnedPart[Any]],
    real: Sequence[Document],
    settings: Settings,
    critics: Collection[str],
    folder: Path,
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Learn parts and write them into the folder of a run.

    Parameters
    ----------
    critics
        Critics of the kept reference.

    Returns
    -------
    outputs
        Path -> name of the command and recipe.
    left_out
        Command -> why the texts do not allow it.
    """
    outputs, left_out = dict[str, list[str]](), dict[str, str]()
    for part in parts:
        try:
            if part.critic and part.critic not in critics:
                raise MacroscopeError(f"it needs the critic '{part.critic}'")
            learned = part.learn(real, settings)
        except MacroscopeError as error:
            left_out[part.command] = str(error)
            continue
        (folder / part.output).mkdir(parents=True)
        part.save(learned, folder / part.output)
        outputs[part.output] = [part.command, *part.recipe(settings)]
    return outputs, left_out
