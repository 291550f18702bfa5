"""Tables that `tables` has written, read from their folder without what computes them."""

from pathlib import Path

import pandas as pd

from macroscope.reporting.scorecard import FILE
from macroscope.tables import read_csv


def read_warnings(tables: Path) -> pd.DataFrame:
    """Read the warnings of the run's critics from the folder of the tables."""
    return read_csv(tables / "warnings.csv")


def read_scorecard(tables: Path) -> pd.DataFrame:
    """Read the scorecard table from the folder of the tables."""
    return read_csv(tables / FILE)


def read_statistics(tables: Path) -> pd.DataFrame:
    """Read all statistics of the run, with p_adjusted, from the folder of the tables."""
    return read_csv(tables / "statistics.csv")
