"""Words of a command line, quoted for a shell and for Snakemake, which looks for wildcards in what a shell gets."""

import shlex
from os import PathLike


def in_shell(word: str | PathLike[str]) -> str:
    """Quote a word, so that a shell takes it as it stands, whatever is in it."""
    return shlex.quote(str(word)).replace("{", "{{").replace("}", "}}")
