"""Kind `resampled`: samples of another system's language model, whose stages make them."""

from macroscope.colours import BLUE
from macroscope.systems.declaration import Kind

KIND = Kind(options="options:ResampledSystem", label="language model", colour=BLUE, names_setting=True)
