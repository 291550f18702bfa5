"""Write the effective config of a run; a script of Snakemake, since a config may be longer than a command line."""

from pathlib import Path

Path(snakemake.output[0]).write_text(snakemake.params.config, encoding="utf-8")  # noqa: F821 - Snakemake gives it
