"""Perturbations: known defects put into the samples of another system (pimentel2022 §6.2)."""
