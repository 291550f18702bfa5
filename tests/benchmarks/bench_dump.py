"""Dump extraction: pages/s and MB/s against a plain loop of the same parser, and peak memory against dump size.

Two cores of a virtual machine are seldom twice one core, so the second reference is what the machine can give: a plain
loop on every core at the same time, each over the whole dump.

Worker processes import this file anew, as they do not import the `__main__` of a job: what they do not need is imported
in `main`.
"""

import bz2
import multiprocessing
import os
import tempfile
from pathlib import Path

from _report import in_turns, peak_megabytes, quiet, say

from macroscope.corpora.wikipedia.dump import stream_pages
from macroscope.corpora.wikipedia.parsing import parse_page

ARTICLES = 4000
CORES = min(8, os.cpu_count() or 1)


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


def plain(raw: Path) -> int:
    """Parse all pages in one process."""
    return sum(parse_page(page, frozenset({"file", "category"})) is not None for page in stream_pages(raw))


def extract_documents(dump: str, part: str) -> None:
    """Extract the documents of a dump as a job does."""
    from macroscope.corpora.prepare import extract
    from macroscope.corpora.simulated import SimulatedCorpus

    extract("wiki", SimulatedCorpus(source="simulated"), Path(dump), Path(part), CORES)


def main() -> None:
    """Print pages/s, MB/s and memory."""
    from macroscope.corpora.simulated import SimulatedCorpus
    from macroscope.corpora.simulated.wiki import write_corpus
    from macroscope.corpora.wikipedia.reading import read_dump
    from macroscope.documents import Provenance

    options = SimulatedCorpus(source="simulated", documents=ARTICLES)
    with tempfile.TemporaryDirectory() as name, quiet():
        folder = Path(name)
        raw = folder / "raw.xml.bz2"
        write_corpus(options, 1, raw, folder / "truth")
        megabytes = len(bz2.decompress(raw.read_bytes())) / 1e6
        n = plain(raw)
        with multiprocessing.get_context("spawn").Pool(CORES) as pool:
            pool.map(abs, range(CORES))
            reference, on_each, ours = in_turns(
                lambda: plain(raw),
                lambda: pool.map(plain, [raw] * CORES, chunksize=1),
                lambda: list(read_dump(options, raw, Provenance("bench"), CORES)),
            )
        ceiling = on_each / CORES
        ratio = reference / ours
        say("pages/s", f"{n / ours:,.0f}", f"{n / reference:,.0f}", ratio, f"{0.9 * CORES:.1f} on {CORES} cores")
        say("MB/s (of XML)", f"{megabytes / ours:.2f}", f"{megabytes / reference:.2f}", ratio, f"{0.9 * CORES:.1f}")
        say("pages/s, all cores busy", f"{n / ours:,.0f}", f"{n / ceiling:,.0f}", ceiling / ours, "0.9: the machine")
        small, large = (
            peak_megabytes(extract_documents, str(repeated(raw, times, folder / f"{times}.bz2")), str(folder / "p"))
            for times in (1, 3)
        )
        say("peak memory, dump x 3 (MB)", f"{large:.0f}", f"{small:.0f} (x 1)", small / large, "about 1: flat")


if __name__ == "__main__":
    main()
