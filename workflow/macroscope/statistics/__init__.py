"""latents, T(x) -> numbers with their uncertainty. Imports from no other room."""
