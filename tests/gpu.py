"""Mark of tests whose expectation holds without a GPU only."""

import pytest
import torch

same_bytes = pytest.mark.skipif(
    torch.cuda.is_available(), reason="a GPU adds numbers in any order: the same bytes are promised on a CPU only"
)
