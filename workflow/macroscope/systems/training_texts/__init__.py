"""Kind `training_texts`: random samples of the train split, for the spread from one sample of real text to another."""

from macroscope.colours import GREEN
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:TrainingTextsSystem",
    label="training texts",
    colour=GREEN,
    stages={
        "draw": Stage(
            "drawing:draw_training_texts",
            reads="documents corpus system seed",
            uses="samples seed",
            megabytes=4000,
            minutes=240,
        )
    },
    check=True,
)
