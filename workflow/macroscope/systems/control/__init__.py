"""Kind `control`: held-out real documents, the floor that a perfect model would reach."""

from macroscope.colours import GREEN
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:ControlSystem",
    label="real text (control)",
    colour=GREEN,
    stages={"draw": Stage("drawing:draw_control", reads="documents corpus", uses="split")},
    check=True,
)
