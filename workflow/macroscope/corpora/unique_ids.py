"""Detection of repeated documents, and of different documents with one id."""

from hashlib import blake2b

from macroscope.documents import Document
from macroscope.errors import MacroscopeError


class UniqueIds:
    """Record of the documents so far: their ids, and hashes of their contents.

    Parameters
    ----------
    own_ids
        True if ids are the user's: two different documents with one id are then an error. Otherwise the first counts.
    """

    def __init__(self, own_ids: bool = True) -> None:
        self.own_ids = own_ids
        self._seen: dict[str, bytes] = {}

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
        content = blake2b(repr(document).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        before = self._seen.get(document.id)
        if self.own_ids and before not in (None, content):
            raise MacroscopeError(
                f"{where}: an earlier document with another text has the id {document.id!r}, too; give each document"
                " an id of its own, or none"
            )
        self._seen[document.id] = content
        return before is None
