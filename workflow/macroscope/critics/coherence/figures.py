"""Figures of the coherence critic that show all systems of a corpus, or what judges them."""

from macroscope.critics.coherence.reliability_diagram import reliability_diagram
from macroscope.critics.findings import Findings
from macroscope.plotting import save
from macroscope.tables import read_csv


def draw(findings: Findings) -> None:
    """Draw the reliability diagram of the section classifier."""
    table = read_csv(findings.folder / "inference" / "reliability.csv")
    title = "Section classifier, validation sections"
    save(reliability_diagram(table, title, findings.confidence), findings.figure("reliability"))
