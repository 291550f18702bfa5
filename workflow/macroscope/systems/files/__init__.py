"""Kind `files`: texts of the user's own model, or of a published one."""

from macroscope.colours import VERMILION
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:FilesSystem",
    label="your texts",
    colour=VERMILION,
    stages={
        "draw": Stage("drawing:import_texts", reads="files corpus system", uses="files one_section dataset splits"),
    },
)
