"""Figure of the strings critic for one corpus."""

from macroscope.critics.divergence_figure import plot_divergences
from macroscope.critics.findings import Findings
from macroscope.plotting import save


def plot(findings: Findings) -> None:
    """Plot the divergences."""
    save(plot_divergences(findings.statistics, findings.systems), findings.figure("divergences"))
