"""Numbers of things in sentences: "1 text", "2,000 texts"."""


def format_count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the form that the number needs.

    Parameters
    ----------
    noun, plural
        The noun after 1, and after all other numbers; default: `noun` with an "s".
    """
    return f"{number:,} {choose_form(number, noun, plural if plural is not None else f'{noun}s')}"


def choose_form(number: int, singular: str, plural: str) -> str:
    """Return the form of a verb or pronoun that agrees with a number."""
    return singular if number == 1 else plural
