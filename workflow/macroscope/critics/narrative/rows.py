"""Examples of a training by their numbers alone."""

from torch.utils.data import Dataset


class Rows(Dataset[int]):
    """Numbers of consecutive examples; what makes batches of them knows the rest."""

    def __init__(self, first: int, size: int) -> None:
        self.first, self.size = first, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> int:
        return self.first + index
