"""Parts of kept references for commands without a run: what each learns from the real texts alone.

`reference build` stores the part of each command, which learns it from real texts or reads it from a kept reference.
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

    def obtain(self, real: Sequence[Document], kept: KeptReference | None, settings: Settings) -> T:
        """Learn the part from real texts, or read it from the kept reference in their place."""
        if kept is None:
            return self.learn(real, settings)
        if not kept.gives(self.command, [str(self.version), *self.words(settings)], self.output):
            why = kept.header["left_out"].get(self.command, "the file was built without it")
            raise MacroscopeError(f"{kept.path}: nothing for `macroscope {self.command}` ({why}); give the texts")
        with tempfile.TemporaryDirectory(prefix="macroscope-") as folder:
            kept.lay(Path(folder), [self.output])
            return self.load(Path(folder) / self.output)

    def keep(self, real: Sequence[Document], settings: Settings, folder: Path) -> list[str]:
        """Learn the part, write it into the folder of a run, and return the name of the command and its recipe."""
        learned = self.learn(real, settings)
        (folder / self.output).mkdir(parents=True)
        self.save(learned, folder / self.output)
        return [self.command, str(self.version), *self.words(settings)]


def keep_parts(
    parts: Iterable[LearnedPart[Any]],
    real: Sequence[Document],
    settings: Settings,
    critics: Collection[str],
    folder: Path,
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Keep the parts that texts and critics allow; return them by their outputs, and why the others are left out."""
    outputs, left_out = dict[str, list[str]](), dict[str, str]()
    for part in parts:
        if part.critic and part.critic not in critics:
            left_out[part.command] = f"it needs the critic '{part.critic}'"
            continue
        try:
            outputs[part.output] = part.keep(real, settings, folder)
        except MacroscopeError as error:
            left_out[part.command] = str(error)
    return outputs, left_out
