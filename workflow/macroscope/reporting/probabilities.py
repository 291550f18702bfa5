"""Do estimated probabilities rank a model's texts as the model itself does (pimentel2022 §5.1, Figure 1)."""

MARKERS = "os^Dv"
