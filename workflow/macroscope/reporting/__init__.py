"""Tables, figures and pages of a run, from the numbers of the other rooms: a stage for each."""

from macroscope.stages import Stage

PACKAGE = __name__
"""The package whose functions are the stages."""
STAGES = {
    "tables": Stage("tables:write_tables", "config contents", folder=True, megabytes=4000, version=4),
    "figures": Stage("figures:plot_figures", "config contents tables threads", folder=True, megabytes=4000, threads=4),
    "report": Stage("report:write_report", "config contents tables figures pages logs", megabytes=4000, version=3),
    "sensitivity": Stage("sensitivity:write_sensitivity", "config contents", folder=True, megabytes=4000),
    "reader": Stage("reader.writing:write_reader", "config contents", folder=True, megabytes=4000, minutes=240),
}
"""Stages of the room, by name."""
