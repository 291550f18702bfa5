"""The tutorials of docs/, which are run from their pages.

    python -m tests.tutorials [PAGE ...]

runs pages, writes what came out into their blocks, and stores their figures in docs/images/ and their reports in the
gallery (`make tutorials`).

The blocks of a page count in their order, by the words behind the fence:

- `title="PATH"` and any language: a file, which is written;
- `bash`, `python`: commands, each block in a process of its own, all of a page in one folder;
- `text`: what the block before it printed. A line `...` stands for lines that the page leaves out.

A picture of a page is a figure that the run made, in any folder, under the same name. The report of a page is the one
in the folder `judged`.
"""

import math
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from macroscope.files import REPOSITORY

from .environments import make_environment
from .gallery import GALLERY, NUMBER, store_report, words_of_line

PAGES = tuple(REPOSITORY / "docs" / f"{name}.md" for name in ("checkpoints", "first-verdict", "own-critic"))
REPORT = Path("judged", "results", "criticism")
LEFT_OUT = "..."
TOLERANCE, LAST_PLACES = 0.05, 2
"""Largest difference of a number from the page's: relative, or in units of its last decimal place."""
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"!\[[^]]*\]\(([^)]+)\)")
_COMMANDS = {"bash": ("bash", "-euo", "pipefail", "-c"), "python": ("python", "-c")}
_SETTINGS = {
    "PIP_NO_BUILD_ISOLATION": "0",
    "PIP_NO_DEPS": "1",
    "PIP_NO_INDEX": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}
"""Settings for pip: everything is installed already, and nothing is loaded. (0 is pip's word for "do not isolate".)"""


@dataclass
class Step:
    """A block that is run, and what the page says that it prints; None if it says nothing.

    Attributes
    ----------
    language, code
        Language behind the fence, and the text of the block.
    expected
        Lines of the block of output.
    span
        Place of these lines in the page.
    """

    language: str
    code: str
    expected: list[str] | None = None
    span: tuple[int, int] = (0, 0)


@dataclass
class Tutorial:
    """A page: its files, its steps and its pictures, in their order.

    Attributes
    ----------
    page
        The Markdown file.
    text
        Its text.
    parts
        Files to write (path, text) and steps to run.
    """

    page: Path
    text: str = field(init=False)
    parts: list[tuple[str, str] | Step] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.text = self.page.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(self.text):
            language, title, body = block.groups()
            if title:
                self.parts.append((title, body))
            elif language in _COMMANDS:
                self.parts.append(Step(language, body))
            elif language == "text":
                step = self.parts[-1]
                assert isinstance(step, Step), f"{self.page}: no command is before the output {body!r}"
                step.expected, step.span = body.splitlines(), block.span(3)

    @property
    def pictures(self) -> list[str]:
        """Return the paths of the pictures, from the page on."""
        return _PICTURE.findall(self.text)

    def files(self) -> dict[str, str]:
        """Return path -> text of the files that the page has the reader write."""
        return dict(part for part in self.parts if not isinstance(part, Step))

    def run(self, folder: Path) -> Iterator[tuple[Step, list[str]]]:
        """Run the page in a new folder; yield each step with the lines that it printed."""
        environment = (
            os.environ | _SETTINGS | {"PATH": f"{make_environment(folder / 'environment')}:{os.environ['PATH']}"}
        )
        settings = folder / "matplotlibrc"
        settings.write_text("svg.hashsalt: macroscope\n", encoding="utf-8")  # ids in pictures are the same in each run
        environment["MATPLOTLIBRC"] = str(settings)
        work = folder / "work"
        work.mkdir()
        for part in self.parts:
            if not isinstance(part, Step):
                path = work / part[0]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(part[1], encoding="utf-8")
                continue
            command = [*_COMMANDS[part.language], part.code]
            done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{self.page}:\n{part.code}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
            yield part, [line.rstrip() for line in done.stdout.rstrip().splitlines()]

    def figures(self, folder: Path) -> dict[str, Path]:
        """Return the path of each picture -> the file of that name that the run made."""
        figures = {}
        for name in self.pictures:
            (figures[name],) = (folder / "work").rglob(Path(name).name)
        return figures


def align(expected: list[str], printed: list[str]) -> list[str] | None:
    """Return the expected lines with the numbers that were printed; None if other words were printed."""
    if not expected:
        return None if printed else []
    head, *rest = expected
    if head == LEFT_OUT:
        ends = (align(rest, printed[start:]) for start in range(len(printed) + 1))
        end = next((lines for lines in ends if lines is not None), None)
        return None if end is None else [LEFT_OUT, *end]
    if not printed or words_of_line(head) != words_of_line(printed[0]):
        return None
    end = align(rest, printed[1:])
    return None if end is None else [printed[0], *end]


def differences(expected: list[str], printed: list[str]) -> list[str]:
    """Return a sentence per line that differs from the page's by more than the tolerance."""
    aligned = align(expected, printed)
    if aligned is None:
        return ["\n".join(["the page says:", *expected, "and it printed:", *printed])]
    return [
        f"the page says {line!r}, and it printed {now!r}"
        for line, now in zip(expected, aligned, strict=True)
        if not all(map(_is_near, NUMBER.findall(line), NUMBER.findall(now)))
    ]


def _is_near(expected: str, printed: str) -> bool:
    unit = 10.0 ** -len(expected.partition("e")[0].partition(".")[2])
    return math.isclose(float(expected), float(printed), rel_tol=TOLERANCE, abs_tol=LAST_PLACES * unit)


def write(page: Path) -> None:
    """Run a page, write what came out into its blocks, and store its figures."""
    tutorial = Tutorial(page)
    with tempfile.TemporaryDirectory() as folder:
        ran = []
        for step, lines in tutorial.run(Path(folder)):
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            print(
                f"{used.ru_utime + used.ru_stime:6.1f} s of the processor after: {step.code.splitlines()[-1]}",
                flush=True,
            )
            if step.expected is not None:
                ran.append((step, lines))
        text = tutorial.text
        for step, lines in reversed(ran):
            begin, end = step.span
            text = "".join(
                [text[:begin], *(f"{line}\n" for line in align(step.expected or [], lines) or lines), text[end:]]
            )
        page.write_text(text, encoding="utf-8")
        for name, figure in tutorial.figures(Path(folder)).items():
            shutil.copyfile(figure, page.parent / name)
        store_report(Path(folder) / "work", REPORT, GALLERY / page.stem)


if __name__ == "__main__":
    for path in [Path(word) for word in sys.argv[1:]] or PAGES:
        print(path, flush=True)
        write(path)
