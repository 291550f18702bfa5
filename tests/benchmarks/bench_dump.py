"""Dump extraction: pages/s and MB/s against a plain loop of the same parser, and peak memory against dump size."""

import bz2
import os
import tempfile
from pathlib import Path

from _report import peak_megabytes, quiet, say, seconds

from macroscope.corpora.dump import pages
from macroscope.corpora.options import SimulatedCorpus
from macroscope.corpora.pages import parse_page
from macroscope.corpora.simulated.wiki import write_corpus
from macroscope.corpora.wikipedia import read_dump
from macroscope.documents import Provenance

ARTICLES = 3000
CORES = min(8, os.cpu_count() or 1)

EXTRACT = """
from pathlib import Path
from macroscope.corpora.extract import extract
from macroscope.corpora.options import SimulatedCorpus
if __name__ == "__main__":
    extract("wiki", SimulatedCorpus(source="simulated"), Path({dump!r}), Path({part!r}), {cores})
"""


def repeated(raw: Path, times: int, output: Path) -> Path:
    """Write a dump with the same pages several times over, under page ids of their own."""
    text = bz2.decompress(raw.read_bytes()).decode()
    head, body = text[: text.index("  <page>")], text[text.index("  <page>") : text.rindex("</mediawiki>")]
    with output.open("wb") as file:
        file.write(bz2.compress(head.encode()))
        for n in range(times):
            parts = body.split("  <page>")[1:]
            for start in range(0, len(parts), 100):
                block = "".join("  <page>" + p.replace("<id>", f"<id>{n + 1}0", 1) for p in parts[start : start + 100])
                file.write(bz2.compress(block.encode()))
        file.write(bz2.compress(b"</mediawiki>\n"))
    return output


def main() -> None:
    """Print pages/s, MB/s and memory."""
    options = SimulatedCorpus(source="simulated", documents=ARTICLES)
    with tempfile.TemporaryDirectory() as name, quiet():
        folder = Path(name)
        raw = folder / "raw.xml.bz2"
        write_corpus(options, 1, raw, folder / "truth")
        megabytes = len(bz2.decompress(raw.read_bytes())) / 1e6
        n = sum(1 for _ in pages(raw))

        def plain() -> None:
            for page in pages(raw):
                parse_page(page, frozenset({"file", "category"}))

        reference = seconds(plain)
        ours = seconds(lambda: list(read_dump(options, raw, Provenance("bench"), CORES)))
        ratio = reference / ours
        say("pages/s", f"{n / ours:,.0f}", f"{n / reference:,.0f}", ratio, f"{0.9 * CORES:.1f} on {CORES} cores")
        say("MB/s (of XML)", f"{megabytes / ours:.2f}", f"{megabytes / reference:.2f}", ratio, f"{0.9 * CORES:.1f}")
        small, large = (
            peak_megabytes(
                EXTRACT.format(
                    dump=str(repeated(raw, times, folder / f"{times}.bz2")), part=str(folder / "p"), cores=CORES
                )
            )
            for times in (1, 4)
        )
        say("peak memory, dump x 4 (MB)", f"{large:.0f}", f"{small:.0f} (x 1)", small / large, "about 1: flat")


if __name__ == "__main__":
    main()
