"""Options of the source `webtext`."""

from typing import Literal

from pydantic import Field, model_validator

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, Split, TextFilters


class WebTextCorpus(Corpus):
    """Texts without sections, in the layout of openai/gpt-2-output-dataset: WebText itself, or other texts."""

    not_extracted = Corpus.not_extracted | {"splits"}

    source: Literal["webtext"]
    dataset: str | None = Field(None, description="Name of a data set in resources/sources.yaml: webtext.")
    splits: list[Split] = Field(
        ["train", "valid", "test"],
        min_length=1,
        description="Which of the data set's files are taken, by the split in their names (train: 250,000 texts).",
    )
    files: list[UserPath] = Field([], description="Local JSON Lines files (also gz) instead, each one part.")
    official_splits: bool = Field(
        True,
        description="Keep the split in a file's name, as in webtext.test.jsonl; without one, or if not, by id hash.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    @model_validator(mode="after")
    def _something_to_train_on(self) -> "WebTextCorpus":
        if self.dataset is not None and self.official_splits and "train" not in self.splits:
            raise ValueError(
                "without 'train' among 'splits' nothing is left to train on; give 'official_splits: false'"
            )
        return self

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place, self.splits)
