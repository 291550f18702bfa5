"""Figures of the coherence critic that show all systems of a corpus, or what judges them."""

import pandas as pd

from macroscope.critics.coherence.reliability_diagram import reliability_diagram
from macroscope.critics.findings import Findings
from macroscope.plotting import save


def draw(findings: Findings) -> None:
    """Draw the reliability diagram of the section classifier."""
    table = pd.read_csv(findings.folder / "inference" / "reliability.csv")
    title = "Section classifier, validation sections"
    save(reliability_diagram(table, title, findings.confidence), findings.figure("reliability"))
