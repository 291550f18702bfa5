"""Options of the reporting room: human judgements that statistics are held against."""

from typing import TYPE_CHECKING

from pydantic import Field

from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, Options, require_name
from macroscope.statistics.judgements import (
    BUILT_IN,
    FEWEST_SYSTEMS,
    check_mapping,
    holds_documents,
    is_there,
    read_judgements,
    require_no_seeds,
    same_names,
    seed_groups,
)

if TYPE_CHECKING:
    from macroscope.config.schema import Config


class HumanJudgements(Options):
    """Scores that people gave to systems: every statistic is correlated with them (pimentel2022 §5.2)."""

    corpus: str = Field(description="Name of the corpus that the systems are judged against.")
    table: str = Field(
        description=f"A built-in table ({', '.join(BUILT_IN)}); the path of a CSV of your own, with the columns"
        " system, score and, where there are several, question; a CSV of ratings of single documents, with a column"
        " document as well; or a folder that `macroscope human collect` wrote."
    )
    systems: dict[str, str] | None = Field(
        None,
        description="Name of a system here to its name in the table. Several systems with the same name there are its"
        " seeds, the k-th of each name in group k. Default: systems that have the same name here and there.",
    )
    real_text: str | None = Field(
        None,
        description="Name in the table of text by people: the control then counts as one more system wherever it has a"
        " value (mauve, deng2022: human). Default: real text is left out, as in the paper.",
    )

    def check(self, place: str, config: "Config") -> None:
        """Corpus and systems are there and judged; the table knows what they are mapped to."""
        require_name(self.corpus, config.corpora, f"{place}.corpus", "corpus")
        judged = config.judged_systems(self.corpus)
        for system in self.systems or {}:
            if system == CONTROL:
                raise ValueError(f"{place}.systems: '{CONTROL}' is real text; name its row of the table by 'real_text'")
            require_name(system, config.systems, f"{place}.systems", "system")
            if system not in judged:
                raise ValueError(f"{place}.systems: no comparison judges '{system}' against '{self.corpus}'")
        try:
            # A file that is not there yet is a missing input of the workflow, which says so.
            seed_groups(self.matched(judged, place) if is_there(self.table) else self.systems or {}, place)
        except MacroscopeError as error:
            raise ValueError(str(error)) from None

    def matched(self, judged: list[str], place: str) -> dict[str, str]:
        """System -> name in the table.

        Parameters
        ----------
        judged
            Systems that some critic judges against the corpus.
        place
            Of the entry in the config, for the message.

        Raises
        ------
        MacroscopeError
            Where the table cannot be read, or has not these names, or too few of them.
        """
        judgements = read_judgements(self.table)
        mapping = self.systems
        if mapping is None:
            mapping = same_names(judgements, judged, self.real_text)
        of_documents = holds_documents(self.table)
        if of_documents:
            require_no_seeds(mapping, f"{place}.systems")
        fewest = 1 if of_documents else FEWEST_SYSTEMS
        check_mapping(mapping, self.real_text, judgements, f"{place}.systems", fewest)
        return mapping
