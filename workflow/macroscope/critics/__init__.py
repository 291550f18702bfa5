"""documents -> latents, T(x): one module or sub-package a critic."""

CRITICS = {
    "coherence": "macroscope.critics.coherence",
    "tendencies": "macroscope.critics.tendencies",
    "clusters": "macroscope.critics.clusters",
    "strings": "macroscope.critics.strings",
}
"""The registry: name in the config -> module. Its sub-module `options` holds `OPTIONS`."""

EMPIRICAL = frozenset({"tendencies", "clusters", "strings"})
"""Critics without a prior: they compare collections, and give no T(x)."""
