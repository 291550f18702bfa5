"""Options of the source `tripadvisor`."""

from typing import Literal

from pydantic import Field

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, TextFilters


class TripAdvisorCorpus(Corpus):
    """Hotel reviews, each a short narrative of sentences (Wang et al. 2010; cai2020)."""

    source: Literal["tripadvisor"]
    dataset: Literal["tripadvisor"] | None = Field(None, description="The data set of resources/sources.yaml.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: hotels as LARA has them (.json, or a .tar.bz2, .tar.gz, .tar"
        " or .zip of such files), or JSON Lines (.jsonl, .jsonl.gz) with a review a line: an object with `text`, or a"
        " list of sentences.",
    )
    fewest_sentences: int = Field(
        8,
        ge=1,
        description="Fewest sentences of a review: cai2020's segments have 8; INSET kept reviews of 7 and more.",
    )
    most_words: int | None = Field(
        30,
        ge=1,
        description="Longest sentence, in words between white space; a review with a longer one is dropped (none: any"
        " length). INSET's sentences have fewer than 32 tokens of BERT, its two special ones among them; words stand in"
        " for tokens, and let a little more through.",
    )
    filters: TextFilters = Field(TextFilters(), description="Which reviews are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry."""
        from macroscope.corpora.parts import local_or_retrieved

        return local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)
