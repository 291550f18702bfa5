"""Kind `other_domain`: a system's texts of another corpus, a baseline about something else (deng2022 Figure 6)."""

from macroscope.colours import PURPLE
from macroscope.stages import Stage
from macroscope.systems.declaration import Kind

KIND = Kind(
    options="options:OtherDomainSystem",
    label="another domain",
    colour=PURPLE,
    stages={"draw": Stage("drawing:take_over", reads="other_samples corpus system", uses="of domain")},
    check=True,
)
