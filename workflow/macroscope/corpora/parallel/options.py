"""Options of the source `parallel`."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from macroscope.config.options import UserPath
from macroscope.corpora.options import Corpus, TextFilters
from macroscope.errors import MacroscopeError


class ParallelCorpus(Corpus):
    """Translations of single lines into one or several languages, with their originals."""

    source: Literal["parallel"]
    dataset: str | None = Field(None, description="Data set of resources/sources.yaml, such as europarl.")
    languages: list[str] = Field(
        [], description="Languages of the translations; default: all that the data set or the files have."
    )
    original_language: str = Field("en", description="Language of the originals.")
    files: list[UserPath] = Field(
        [],
        description="Local files instead, each one part: tar archives (de-en.tgz) of two files of aligned lines, whose"
        " names end in their languages (.de, .en), or lines of original, tab, translation (en-de.tsv, also gzipped).",
    )
    filters: TextFilters = Field(TextFilters(), description="Which documents are kept.")

    def raw_parts(self, place: str, folder: str) -> dict[str, str]:
        """Local files, or those of the registry, of the languages that are asked for."""
        from macroscope.corpora.parallel.reading import language_of
        from macroscope.corpora.parts import local_or_retrieved

        parts = local_or_retrieved(self.files, "dataset", self.dataset, self.source, place)
        languages = {part: language_of(Path(path), self.original_language) for part, path in parts.items()}
        if not self.languages:
            return parts
        for part, language in languages.items():
            if not language:
                raise MacroscopeError(f"{place}: {parts[part]}: the name does not say which languages are in it")
        if missing := sorted(set(self.languages) - set(languages.values())):
            raise MacroscopeError(f"{place}.languages: no file has {', '.join(missing)}")
        return {part: path for part, path in parts.items() if languages[part] in self.languages}
