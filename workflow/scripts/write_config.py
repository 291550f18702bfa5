"""Write the config and the contents of a run; a script of Snakemake, as they may be longer than a command line."""

from pathlib import Path

for path, text in zip(snakemake.output, snakemake.params.descriptions, strict=True):  # noqa: F821 - Snakemake gives it
    Path(path).write_text(text, encoding="utf-8")
