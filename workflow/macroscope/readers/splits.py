"""Assignment of documents to splits by their ids, or by their texts if they have none.

It depends neither on their order nor on other documents.

Sources with official splits keep those.
"""

import hashlib
import re

_RANGE = 2.0**64
_IN_NAME = re.compile(r"\.(train|valid|test)\.")


def assign_split(identifier: str, valid_share: float, test_share: float) -> str:
    """Assign a document to a split by a BLAKE2b hash of its id, or of its text.

    Parameters
    ----------
    identifier
        Id of the document; its text if the source gives no id.
    valid_share, test_share
        Expected shares of the two held-out splits, in [0, 1). A larger `test_share` only moves documents into the
        test split, from the training split or from the upper end of the validation split.

    Returns
    -------
    str
        "train", "valid" or "test".

    Notes
    -----
    deng2022 does not say how WIKI was split; Table 11 implies shares of 80, 10 and 10 %.
    """
    digest = hashlib.blake2b(identifier.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    position = int.from_bytes(digest, "big") / _RANGE
    if position < test_share:
        return "test"
    return "valid" if position < test_share + valid_share else "train"


def parse_split(name: str) -> str | None:
    """Return the split in the name of a file, as in webtext.test.jsonl; None if there is none."""
    match = _IN_NAME.search(name)
    return match.group(1) if match else None
