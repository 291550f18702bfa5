"""The palette of all figures, importable without matplotlib: kinds of systems declare their colours."""

# Okabe and Ito (2008): distinguishable under all common forms of colour blindness; without yellow, pale on white paper.
BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
GREY = "#767676"
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE, BLACK, GREY)
"""Colours in the order in which lines use them."""
