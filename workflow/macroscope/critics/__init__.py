"""documents -> latents, T(x): one module or sub-package a critic."""

CRITICS = {
    "coherence": "macroscope.critics.coherence",
}
"""The registry: name in the config -> module. Its sub-module `options` holds `OPTIONS`."""
