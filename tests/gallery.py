"""The gallery of docs/gallery: reports that are stored, and the report on an encyclopaedia that is made for it.

    python -m tests.gallery

runs the encyclopaedia of config.yaml, stores the report in the gallery, and draws the picture of it in README.md (`make
gallery`). It needs the package index, the development environment and Chromium. The other reports are those of the
tutorials (`make tutorials`).
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from macroscope.files import REPOSITORY

GALLERY, PICTURE = REPOSITORY / "docs" / "gallery", REPOSITORY / "docs" / "images" / "report.png"
CONFIG, RUN = REPOSITORY / "config.yaml", Path("results", "default")
SHOWN = ("report.html", "pages", "reader", "tables/statistics.csv")
"""Parts of a report that refer to each other."""
CORPUS = "encyclopedia"
WIDTH, HEIGHT, MARGIN = 1160, 1000, 8
"""Size of the window of the picture, and the margin above it, in pixels."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def words_of_line(line: str) -> list[str]:
    """Return the words of a line without its numbers; neither they nor the columns' widths count."""
    return NUMBER.sub(" 0 ", line).split()


def store_report(work: Path, report: Path, target: Path) -> None:
    """Store the report of a run, without the path of the folder in which it ran.

    Parameters
    ----------
    work, report
        The folder, and that of the report in it.
    """
    shutil.rmtree(target, ignore_errors=True)
    for name in SHOWN:
        source, copy = work / report / name, target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copyfile(source, copy)
    for path in target.rglob("*.*"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"{work.resolve()}{os.sep}", ""), encoding="utf-8")


def stale_files(work: Path, report: Path, stored: Path) -> list[str]:
    """Return the files of a stored report that the report of a run has not, or has in other words; numbers may differ.

    The code that writes reports has changed since these were stored.
    """
    with tempfile.TemporaryDirectory() as folder:
        store_report(work, report, Path(folder))
        names = {path.relative_to(root) for root in (Path(folder), stored) for path in root.rglob("*.*")}
        return sorted(
            str(name) for name in names if _words_of_file(Path(folder, name)) != _words_of_file(stored / name)
        )


def _words_of_file(path: Path) -> Counter[str] | None:
    """Count the words of a file of a report, without tags; none of data, and None if there is no such file.

    The order of words does not count: rules are in the order of their running times.
    """
    if not path.is_file():
        return None
    is_data = path.suffix == ".csv" or (path.suffix == ".js" and path.parent.name != "reader")
    text = "" if is_data else path.read_text(encoding="utf-8")
    # Tags differ with the length of a cell, and so with that of the folder's path.
    return Counter(words_of_line(re.sub(r"<[^<>]*>", " ", text) if path.suffix == ".html" else text))


def cut_config(config: dict[str, Any], corpus: str) -> dict[str, Any]:
    """Return the part of a config that concerns a corpus, without comparisons with others."""
    comparisons = [each for each in config["comparisons"] if each["corpus"] == corpus]
    systems, critics = (set().union(*(each[key] for each in comparisons)) for key in ("systems", "critics"))
    return {
        **config,
        "corpora": {corpus: config["corpora"][corpus]},
        "systems": {name: system for name, system in config["systems"].items() if name in systems},
        "critics": {
            name: {key: value for key, value in options.items() if key != "probing"}  # it has a corpus of its own
            for name, options in config["critics"].items()
            if name in critics
        },
        "comparisons": comparisons,
    }


def draw_picture(report: Path) -> None:
    """Save what stands between the first heading and the control: systems, and checks whose answer is known."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(report.resolve().as_uri())
        boxes = [
            page.locator(place).first.bounding_box()
            for place in ("main h2", "table.scorecard >> nth=0 >> tr >> nth=-1")
        ]
        top, end = (box["y"] for box in boxes if box is not None)
        clip = {"x": 0, "y": top - MARGIN, "width": WIDTH, "height": end - top}
        page.screenshot(path=PICTURE, full_page=True, clip=clip)
        browser.close()


def main() -> None:
    """Run the encyclopaedia in a folder of its own; store its report and the picture."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(
            yaml.safe_dump(cut_config(yaml.safe_load(CONFIG.read_text(encoding="utf-8")), CORPUS)), encoding="utf-8"
        )
        command = [sys.executable, "-m", "macroscope", "run", "--config", str(config), "--cores", "all"]
        subprocess.run(command, cwd=folder, check=True)
        store_report(Path(folder), RUN, GALLERY / CORPUS)
        draw_picture(GALLERY / CORPUS / "report.html")


if __name__ == "__main__":
    main()
