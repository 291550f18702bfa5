"""Excerpts of texts."""


def shorten(text: str, characters: int) -> str:
    """Return the first words of a text on one line, at most `characters` long; a final "…" marks a cut."""
    # Taking twice as many characters leaves room for white space that the join removes.
    start = " ".join(text[: 2 * characters].split())
    if len(start) <= characters and len(text) <= 2 * characters:
        return start
    cut = start[: characters + 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut[:characters]} …".lstrip()
