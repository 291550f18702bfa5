"""In what precision encoders compute: exactly as they were trained, or several times faster where a processor can."""

from contextlib import AbstractContextManager
from typing import Annotated, Literal

from pydantic import Field

Precision = Annotated[
    Literal["float32", "bfloat16"],
    Field(
        description="What encoders multiply matrices in. bfloat16: some three times faster on processors that have it"
        " (AMX; GPUs from 2020 on), slower on others; embeddings then differ in their third digit."
    ),
]


def computing_in(precision: Precision, device: str) -> AbstractContextManager[object]:
    """Multiply matrices in a precision; sums, norms and softmax stay in float32.

    Parameters
    ----------
    device
        "cpu" or "cuda".
    """
    import torch  # options are read where nothing computes

    return torch.autocast(device, torch.bfloat16, enabled=precision == "bfloat16")
