"""Documents that come twice: the same ones count once, and no two different ones share an id."""

from hashlib import blake2b

from macroscope.documents import Document
from macroscope.errors import MacroscopeError


class UniqueIds:
    """The documents that were seen, by their ids; of their contents hashes alone are kept.

    Parameters
    ----------
    own
        Whether two documents with one id are an error; otherwise the first of them counts.
    """

    def __init__(self, own: bool = True) -> None:
        self.own = own
        self._seen: dict[str, bytes] = {}

    def is_new(self, document: Document, where: str) -> bool:
        """Whether the document has not been seen before.

        Parameters
        ----------
        where
            It stands, for the message.

        Raises
        ------
        MacroscopeError
            Where another document had its id.
        """
        content = blake2b(repr(document).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        before = self._seen.get(document.id)
        if self.own and before not in (None, content):
            raise MacroscopeError(
                f"{where}: an earlier document with another text has the id {document.id!r}, too; give each document"
                " an id of its own, or none"
            )
        self._seen[document.id] = content
        return before is None
