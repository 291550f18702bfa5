"""Uniqueness of ids over any number of documents, in bounded memory."""

from array import array
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b

from macroscope.documents import Document
from macroscope.errors import MacroscopeError

_FEWEST_SLOTS = 1024
_FULL, _GROWTH = 0.75, 1.5
"""Share of the slots that may be taken, and the factor by which their number grows."""


class HashMap:
    """Map from hashes to hashes, of 8 bytes each: two arrays with open addressing, and no objects.

    An entry takes 21 to 32 bytes, or half of that without values; in a dictionary of texts it takes about 170.

    Parameters
    ----------
    has_values
        Whether values are kept; otherwise the map is a set of keys.
    """

    def __init__(self, has_values: bool = True) -> None:
        self._has_values, self._size = has_values, 0
        self._keys, self._values = self._allocate(_FEWEST_SLOTS)

    def __len__(self) -> int:
        return self._size

    def _allocate(self, slots: int) -> tuple["array[int]", "array[int]"]:
        return array("Q", bytes(8 * slots)), array("Q", bytes(8 * slots) if self._has_values else b"")

    def _find(self, key: int) -> int:
        """Return the slot of a key, or the empty slot where it belongs."""
        keys = self._keys
        slots = len(keys)
        slot = key % slots
        while keys[slot] and keys[slot] != key:
            slot = slot + 1 if slot + 1 < slots else 0
        return slot

    def get(self, key: int) -> int | None:
        """Return the value of a key, 0 if the map has no values; None if the key is not in the map."""
        slot = self._find(key)
        if not self._keys[slot]:
            return None
        return self._values[slot] if self._has_values else 0

    def set(self, key: int, value: int) -> None:
        """Set the value of a key, which is not 0."""
        slot = self._find(key)
        if not self._keys[slot]:
            if self._size + 1 > _FULL * len(self._keys):
                self._grow()
                slot = self._find(key)
            self._keys[slot] = key
            self._size += 1
        if self._has_values:
            self._values[slot] = value

    def _grow(self) -> None:
        keys, values = self._keys, self._values
        self._keys, self._values = self._allocate(int(len(keys) * _GROWTH))
        for slot, key in enumerate(keys):
            if key:
                place = self._find(key)
                self._keys[place] = key
                if self._has_values:
                    self._values[place] = values[slot]


class UniqueIds:
    """Record of the documents so far: hashes of their ids and, if ids are the user's, of their contents.

    Of n ids, two have the same hash with a probability of about n^2 / 2^65: 0.00006 of 45 million.

    Parameters
    ----------
    own_ids
        True if ids are the user's: two different documents with one id are then an error. Otherwise the first counts.
    """

    def __init__(self, own_ids: bool = True) -> None:
        self.own_ids = own_ids
        self._seen = HashMap(has_values=own_ids)
        self._repeats: dict[str, int] = {}

    def is_new(self, document: Document, where: str) -> bool:
        """Record a document, and return whether its id is new.

        Parameters
        ----------
        where
            File and line of the document, for the message.

        Raises
        ------
        MacroscopeError
            If ids are the user's and another document had this id.
        """
        key, content = _hash(document.id), _hash(repr(document)) if self.own_ids else 0
        before = self._seen.get(key)
        if before not in (None, content):
            raise MacroscopeError(
                f"{where}: an earlier document with another text has the id {document.id!r}, too; give each document"
                " an id of its own, or none"
            )
        if before is None:
            self._seen.set(key, content)
        return before is None

    def numbered(self, document: Document, name: Callable[[str, int], str]) -> Document:
        """Return a document, under another id if another text has its id.

        The same text under the same id stays as it is, so that it is a repetition.

        Parameters
        ----------
        name
            Function of an id and the number of its text, from 1, that returns another id.
        """
        first = document
        number = self._repeats.get(first.id, 1)
        while self._seen.get(_hash(document.id)) not in (None, _hash(repr(document))):
            number += 1
            document = replace(first, id=name(first.id, number))
        if number > 1:
            self._repeats[first.id] = number
        return document


def _hash(text: str) -> int:
    """Return a hash of 8 bytes, never 0, which marks an empty slot."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little") or 1
