"""Tables that `tables` has written, read from their folder without what computes them."""

from pathlib import Path

import pandas as pd

from macroscope.reporting.matched_length import MATCHED
from macroscope.reporting.scorecard import COLUMNS, FILE
from macroscope.tables import read_csv


def read_warnings(tables: Path) -> pd.DataFrame:
    """Read the warnings of the run's critics from the folder of the tables."""
    return read_csv(tables / "warnings.csv")


def read_scorecard(tables: Path) -> pd.DataFrame:
    """Read the scorecard table from the folder of the tables; cells that need no reason have ""."""
    table = read_csv(tables / FILE).reindex(columns=list(COLUMNS))
    texts = ["reason", "explanation", f"{MATCHED}_explanation"]
    table[texts] = table[texts].astype(object).fillna("")  # a column without any is one of numbers
    return table


def read_statistics(tables: Path) -> pd.DataFrame:
    """Read all statistics of the run, with p_adjusted, from the folder of the tables."""
    return read_csv(tables / "statistics.csv")
