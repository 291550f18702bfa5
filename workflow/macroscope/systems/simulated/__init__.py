"""Kind `simulated`: samples of a simulated corpus's own process, or of that process with a known defect."""

from macroscope.colours import ORANGE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:SimulatedSystem",
    label="known process",
    colour=ORANGE,
    stages={
        "draw": Stage(
            "drawing:simulate", reads="process kind_of_process corpus system seed", uses="order samples seed"
        ),
    },
    check=True,
)
