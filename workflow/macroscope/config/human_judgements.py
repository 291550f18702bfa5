"""Options of the reporting room: human judgements with which statistics are correlated."""

from typing import Annotated

from pydantic import Field, ValidatorFunctionWrapHandler, WrapValidator

from macroscope.errors import MacroscopeError
from macroscope.options import CONTROL, ConfigView, Options, UserPath, require_name
from macroscope.statistics.judgements import (
    BUILT_IN,
    FEWEST_SYSTEMS,
    check_mapping,
    check_no_seeds,
    group_seeds,
    has_document_ratings,
    match_system_names,
    read_judgements,
    table_exists,
)


def _require_file(table: str, require: ValidatorFunctionWrapHandler) -> str:
    return table if table in BUILT_IN else str(require(table))


class HumanJudgements(Options):
    """Scores that people gave to systems: every statistic is correlated with them (pimentel2022 §5.2)."""

    corpus: str = Field(description="Name of the corpus that the systems are judged against.")
    table: Annotated[UserPath, WrapValidator(_require_file)] = Field(
        description=f"A built-in table ({', '.join(BUILT_IN)}); the path of a CSV of your own, with the columns"
        " system, score and, if there are several, question; a CSV of ratings of single documents, with a column"
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

    def check(self, place: str, config: ConfigView) -> None:
        """Check that corpus and systems exist and are judged, and that the table has their names."""
        require_name(self.corpus, config.corpora, f"{place}.corpus", "corpus")
        judged = config.judged_systems(self.corpus)
        for system in self.systems or {}:
            if system == CONTROL:
                raise ValueError(f"{place}.systems: '{CONTROL}' is real text; name its row of the table by 'real_text'")
            require_name(system, config.systems, f"{place}.systems", "system")
            if system not in judged:
                raise ValueError(f"{place}.systems: no comparison judges '{system}' against '{self.corpus}'")
        try:
            # A file that does not exist yet is a missing input of the workflow, which reports it.
            group_seeds(self.matched(judged, place) if table_exists(self.table) else self.systems or {}, place)
        except MacroscopeError as error:
            raise ValueError(str(error)) from None

    def matched(self, judged: list[str], place: str) -> dict[str, str]:
        """Return system -> name in the table.

        Parameters
        ----------
        judged
            Systems that some critic judges against the corpus.
        place
            Place of the entry in the config, for the message.

        Raises
        ------
        MacroscopeError
            If the table cannot be read, lacks these names, or has too few of them.
        """
        judgements = read_judgements(self.table)
        mapping = self.systems
        if mapping is None:
            mapping = match_system_names(judgements, judged, self.real_text)
        of_documents = has_document_ratings(self.table)
        if of_documents:
            check_no_seeds(mapping, f"{place}.systems")
        fewest = 1 if of_documents else FEWEST_SYSTEMS
        check_mapping(mapping, self.real_text, judgements, f"{place}.systems", fewest)
        return mapping
