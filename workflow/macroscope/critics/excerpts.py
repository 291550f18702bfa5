"""The beginning of a text, to read in a table."""


def beginning(text: str, characters: int) -> str:
    """First words of a text on one line, up to so many characters; "…" says that there is more."""
    # Spaces may make up a part of what is cut off, however long the text.
    start = " ".join(text[: 2 * characters].split())
    if len(start) <= characters and len(text) <= 2 * characters:
        return start
    cut = start[: characters + 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut[:characters]} …".lstrip()
