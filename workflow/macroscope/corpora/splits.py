"""Which split a document belongs to: decided by its id alone, so that it depends neither on order nor on others.

Sources with official splits keep those.
"""

import hashlib
import re

_RANGE = 2.0**64
_IN_NAME = re.compile(r"\.(train|valid|test)\.")


def split_of(identifier: str, valid_share: float, test_share: float) -> str:
    """Split of a document, by a BLAKE2b hash of its id.

    Parameters
    ----------
    identifier
        The document's id.
    valid_share, test_share
        Expected shares of the two held-out splits, in [0, 1). A larger `test_share` only moves documents into the
        test split, from the training split or from the validation split's upper end.

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


def named_split(name: str) -> str | None:
    """Split in the name of a file, as in webtext.test.jsonl; None where there is none."""
    found = _IN_NAME.search(name)
    return found.group(1) if found else None
