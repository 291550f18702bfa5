"""Kind `hub`: a model's texts from a Hugging Face data set."""

from macroscope.colours import VERMILION
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:HubSystem",
    label="texts of a data set",
    colour=VERMILION,
    stages={
        "draw": Stage(
            "drawing:import_data_set",
            reads="files corpus system",
            uses="folder name revision configuration split columns one_section",
        ),
    },
)
