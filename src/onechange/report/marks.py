"""One colour and one shape per arm, the same on the whole page.

The colours are custom properties of the page, so that a chart follows the reader's light or dark
system without being drawn again. They are those of Okabe and Ito (Color Universal Design, 2008),
darkened for light paper and lightened for dark, at least 3 : 1 against the page. The shape says the
same as the colour to those who see none.
"""

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
LIGHT = ("#0072b2", "#c2500a", "#00805c", "#a3457f", "#8a6d00", "#2f4b9a", "#6b6b6b", "#7a3f1d")
DARK = ("#56b4e9", "#f08a4b", "#2fc39a", "#e79ac6", "#e3c64b", "#9fb3f5", "#b5b5b5", "#d3a17e")
SYMBOLS = ("●", "■", "▲", "◆", "✚", "▼", "▶", "◀")
_PATHS = {
    "circle": '<circle cx="8" cy="8" r="5.5"/>',
    "square": '<path d="M3 3h10v10H3z"/>',
    "triangle-up": '<path d="M8 2l6.5 11.5h-13z"/>',
    "diamond": '<path d="M8 1l5.5 7L8 15 2.5 8z"/>',
    "cross": '<path d="M5.5 2h5v3.5H14v5h-3.5V14h-5v-3.5H2v-5h3.5z"/>',
    "triangle-down": '<path d="M8 14l6.5-11.5h-13z"/>',
    "triangle-right": '<path d="M14 8L2.5 14.5v-13z"/>',
    "triangle-left": '<path d="M2 8l11.5 6.5v-13z"/>',
}


def colour(index: int) -> str:
    """The arm's colour as the page's custom property."""
    return f"var(--arm-{index % len(LIGHT)})"


def shape(index: int) -> str:
    """The arm's shape, a name of Vega's; beyond eight arms shapes return with other colours."""
    return SHAPES[(index + index // len(SHAPES)) % len(SHAPES)]


def symbol(index: int) -> str:
    """The arm's shape as one character, for text."""
    return SYMBOLS[SHAPES.index(shape(index))]


def swatch(index: int) -> str:
    """The arm's mark as a small inline SVG, hidden from screen readers: the name stands beside it."""
    drawn = f'viewBox="0 0 16 16" fill="{colour(index)}">{_PATHS[shape(index)]}'
    return f'<svg class="mark" aria-hidden="true" {drawn}</svg>'
