"""The reader of 6 systems x 10,000 documents: size on disk, seconds until a text is there, memory to write and read.

The documents have 500 words each, and three critics judge them; Chromium opens the folder by file://.
"""

import shutil
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import psutil
from _report import peak_megabytes, say, seconds

from macroscope.files import REPOSITORY
from macroscope.options import CONTROL
from macroscope.reporting.reader.writing import write_reader

sys.path.insert(0, str(REPOSITORY))
from tests.reader_runs import DESCRIBED, write_run

DOCUMENTS, WORDS = 10_000, 250
SYSTEMS = [CONTROL, *(f"system-{n}" for n in range(1, 6))]


def write(folder: str, output: str) -> None:
    """Write the reader of the run in a working directory."""
    with chdir(folder):
        write_reader(*DESCRIBED, Path("results/r1") / output)


def main() -> None:
    """Print what it takes to write and to read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_run(folder, dict.fromkeys(SYSTEMS, DOCUMENTS), WORDS)
        results = folder / "results" / "r1"
        samples = sum(path.stat().st_size for path in results.rglob("*.parquet"))
        taken = seconds(lambda: write(name, "reader"))
        rate = len(SYSTEMS) * DOCUMENTS / taken
        say("documents/s written", f"{rate:,.0f}", "1,000", rate / 1000, "1: a minute for 60,000")
        peak = peak_megabytes(write, name, "again")
        say("memory of the writer (MB)", f"{peak:,.0f}", "1,000", 1000 / peak, "1: a GB")
        size = sum(path.stat().st_size for path in (results / "reader").rglob("*.*"))
        print(f"{'size on disk (MB)':34s} {size / 1e6:,.0f}, of samples and blame {samples / 1e6:,.0f}")
        shutil.rmtree(results / "again")
        read(results / "reader" / "index.html")


def read(page: Path) -> None:
    """Print how long a browser takes, and its memory."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        opened = browser.new_page(viewport={"width": 1300, "height": 800})
        empty = _browser_megabytes()

        def open_at(address: str, text: str) -> None:
            opened.goto("about:blank")
            opened.goto(page.as_uri() + address)
            opened.locator("#document h2", has_text=text).wait_for()

        taken = seconds(lambda: open_at("#wiki/system-3/text-9000", "Title 9000"))
        say("until a text is there (s)", f"{taken:.2f}", "1.00", 1 / taken, "1: a second")

        def order() -> None:
            opened.select_option("#order", "strings")
            opened.locator("#document h2", has_text="Title 0").wait_for()

        taken = seconds(order)
        say("another order (s)", f"{taken:.2f}", "0.50", 0.5 / taken, "1: half a second")

        def step() -> None:
            for _ in range(20):
                opened.keyboard.press("j")
            opened.locator("#document h2", has_text="Title 20").wait_for()

        taken = seconds(step) / 20
        say("next text (s)", f"{taken:.3f}", "0.10", 0.1 / taken, "1: a tenth of a second")

        def search() -> None:
            opened.fill("#search", "second part 9998.")
            opened.click("#everywhere")
            opened.locator("#count", has_text="1 of 10,005 texts").wait_for(timeout=120_000)

        taken = seconds(search)
        say("search in 10,005 whole texts (s)", f"{taken:.1f}", "10.0", 10 / taken, "1: ten seconds")
        for system in SYSTEMS:
            open_at(f"#wiki/{system}/text-1", "Title 1")
        used = opened.evaluate("performance.memory.usedJSHeapSize") / 2**20
        more = _browser_megabytes() - empty
        say("memory of all its processes (MB)", f"{more:,.0f}", "500", 500 / max(more, 1), f"1; heap {used:,.0f} MB")
        browser.close()


def _browser_megabytes() -> float:
    """Memory of the browser's processes, what they share counted once."""
    children = psutil.Process().children(recursive=True)
    return sum(child.memory_full_info().pss for child in children) / 2**20


if __name__ == "__main__":
    main()
