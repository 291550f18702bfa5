"""Statistics of latents and scores T(x), with their uncertainty. Imports from no other part of the package."""
