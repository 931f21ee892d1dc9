"""Sheets of venues: widths of text and columns, and the type of figures, as their style files have them."""

from __future__ import annotations

from typing import NamedTuple


class Style(NamedTuple):
    """What a sheet measures, in inches, and its type, in points of 1/72 inch."""

    text_inches: float
    height_inches: float
    gap_inches: float
    """Between columns; 0 where there is one."""
    body: str
    """LaTeX's name of the size of its text, of a class whose usual size is 10."""
    figure_points: int
    """Size of words in figures: that of captions, or one below."""

    @property
    def column_inches(self) -> float:
        """Width of a column."""
        return (self.text_inches - self.gap_inches) / 2 if self.gap_inches else self.text_inches


# CVPR, ICCV and WACV of 2022 and later; NeurIPS of 2020 and later; ACM's `sigconf`. Those set in Times have Times here, and ACM's
# Libertine is replaced by it, since it does not come with LaTeX.
STYLES = {
    "cvpr": Style(6.875, 8.875, 0.3125, "normalsize", 8),
    "neurips": Style(5.5, 9.0, 0.0, "normalsize", 8),
    "acm": Style(7.0, 9.125, 1 / 3, "small", 7),
}
# Of figures: metrically Times, which the program that draws brings along.
FONT = "'Liberation Serif', 'Times New Roman', Tinos, serif"
