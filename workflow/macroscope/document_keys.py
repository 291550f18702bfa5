"""Keys that texts of one prompt or document share: their prompt, their first words, or the id before a number.

Pseudonyms stand in the place of ids and first words in files without texts. Texts with the same key have the same one.
"""

import re
from hashlib import blake2b

OPENING_WORDS = 8
OPENING_CHARACTERS = 80
_PROMPT_KEY = re.compile(r"(prompt:[0-9a-f]{32})(?: |$)")
_NUMBER = re.compile(r" \((?:sample|passage) \d+\)$")
RARE_WORD = "rare:"
"""Beginning of what stands in the place of a rare word."""
_PSEUDONYM = re.compile(r"(?:prompt:[0-9a-f]{32} ?)?(?:text|opening):[0-9a-f]{32}")


def number_sample(identifier: str, number: int) -> str:
    """Return the id of the `number`-th text (from 1) that has an id: the id itself for the first one."""
    return identifier if number == 1 else f"{identifier} (sample {number})"


def number_passage(identifier: str, number: int) -> str:
    """Return the id of the `number`-th passage (from 1) of the document of an id."""
    return f"{identifier} (passage {number})"


def shared_id(identifier: str) -> str:
    """Return the id that a text shares with other texts of its prompt or passages of its document."""
    return _NUMBER.sub("", identifier) if identifier.endswith(")") else identifier


def opening_of(text: str) -> str:
    """Return the first words of a text, which continuations of one prompt share; "" if the text is not longer.

    The opening has `OPENING_WORDS` words or `OPENING_CHARACTERS` characters, whichever is less: not all scripts have
    spaces.
    """
    words = text[: 4 * OPENING_CHARACTERS].split()
    opening = " ".join(words[:OPENING_WORDS])[:OPENING_CHARACTERS]
    return opening if len(" ".join(words)) > len(opening) else ""


def key_of_prompt(prompt: str) -> str:
    """Return a key for a prompt, whatever its white space; prompts often begin alike, so that it needs all words."""
    return _hashed("prompt", " ".join(prompt.split()))


def key_of_text(text: str, prompt: str | None) -> str:
    """Return what a text shares with others of its prompt: the prompt's key, or the first words, or both.

    The first words count where the prompt is unknown, and where the text begins with it: a real text of which the
    prompt was taken may stand in a file that does not name it. An empty prompt says that the text has none: it shares
    nothing. A document without its text has its key as the prompt.
    """
    if prompt == "":
        return ""
    if prompt is None or not prompt.strip():
        return opening_of(text)
    if not text and (is_pseudonym(prompt) or _PROMPT_KEY.fullmatch(prompt)):
        return prompt
    return f"{key_of_prompt(prompt)} {opening_of(text)}".rstrip() if text.startswith(prompt) else key_of_prompt(prompt)


def split_key(key: str) -> tuple[str, str]:
    """Return the prompt's key and the first words of a key of `key_of_text`, "" for what it does not have."""
    match = _PROMPT_KEY.match(key)
    return (match[1], key[match.end() :]) if match else ("", key)


def pseudonym_of_id(identifier: str, salt: bytes = b"") -> str:
    """Return a pseudonym of an id, with the number of the sample or passage; that of a pseudonym is itself.

    With a secret salt, a reader cannot tell which id belongs to a pseudonym.
    """
    if is_pseudonym(identifier) and not salt:
        return identifier
    shared = shared_id(identifier)
    return _hashed("text", shared, salt) + identifier[len(shared) :]


def pseudonym_of_key(key: str, salt: bytes = b"") -> str:
    """Return a key of `key_of_text` with a pseudonym of the first words, and with a salt of the prompt, too."""
    prompt, first_words = split_key(key)
    if salt and prompt:
        prompt = _hashed("prompt", prompt, salt)
    if first_words and (salt or not is_pseudonym(key)):
        first_words = _hashed("opening", first_words, salt)
    return f"{prompt} {first_words}".strip()


def pseudonym_of_word(word: str, salt: bytes) -> str:
    return f"{RARE_WORD}{blake2b(word.encode('utf-8', 'surrogatepass'), digest_size=6, key=salt).hexdigest()}"


def is_pseudonym(value: str) -> bool:
    """Return whether a value is a pseudonym of an id or a key."""
    return _PSEUDONYM.match(value) is not None


def _hashed(kind: str, value: str, salt: bytes = b"") -> str:
    return f"{kind}:{blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=16, key=salt).hexdigest()}"
