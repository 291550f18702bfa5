"""Where pages are, for those that link to them."""

from urllib.parse import quote


def system_page(corpus: str, system: str) -> str:
    """Name of the page of a system on a corpus, in the folder of pages."""
    return f"system.{corpus}.{system}"


def reader_address(corpus: str, system: str, document: str, critic: str, *, rising: bool = False) -> str:
    """Where the reader shows a document, with the places that a critic marks; from the folder of the run.

    Parameters
    ----------
    rising
        Whether the texts with the critic's smallest numbers come first.
    """
    parts = "/".join(quote(part, safe="") for part in (corpus, system, document))
    return f"reader/index.html#{parts}?by={'-' if rising else ''}{quote(critic, safe='')}"
