"""documents -> latents, T(x): one module or sub-package a critic."""
