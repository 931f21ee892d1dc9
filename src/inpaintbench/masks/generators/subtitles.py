"""Generator of subtitles over a clip, like burnt-in captions of films."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np

from inpaintbench import regions
from inpaintbench.catalogue import Deviation, known_name
from inpaintbench.errors import InputError, Rejected
from inpaintbench.masks.generators.base import Drawn, Generator
from inpaintbench.masks.overlays.fonts import find_font, installed_families
from inpaintbench.masks.overlays.raster import Placed, Track, fits_half, place, render, thinned_out
from inpaintbench.masks.overlays.styles import Difficulty, Style, check_fields, draw_style
from inpaintbench.types import Plain, TextEvent
from inpaintbench.view import ItemView


class Subtitles(Generator):
    """The timed text of a clip, drawn in a style that is drawn from a grid. Source: ChaLearn 2018, track 2 (decaptioning).

    The style is one for the whole clip. What a subtitle file states of an event (an ASS style, tags inside the text) comes
    before it unless ``obey_file`` is off. No frame is hidden by more than half: texts that together would hide more are shown
    fewer lines at a time, and where that is not enough the oldest goes when the next one comes (``texts_left_out``).
    """

    name = "subtitles"
    deviations = (
        Deviation(
            "looks of the text",
            "a grid that was not published; Arial or the like by all appearance",
            "a grid after the pictures that participants showed; the bundled font or those that are installed",
            "not known",
        ),
        Deviation(
            "hole",
            "was not published; participants took thresholds of the difference",
            "where the overlay is not wholly transparent, exactly",
            "no score under `as-published` uses it",
        ),
    )
    version = "2"
    needs = ("timed_text",)

    def __init__(
        self,
        *,
        difficulty: Difficulty = "any",
        style: Plain | None = None,
        families: Sequence[str] | None = None,
        obey_file: bool = True,
        paired: bool = False,
    ) -> None:
        """Settings of the text.

        Args:
            difficulty: what styles are drawn from.
            style: fields of ``Style`` that are not drawn.
            families: fonts to draw from, by default those of the grid.
            obey_file: whether a subtitle file's own styles count.
            paired: whether all that ``style`` does not name is drawn as if it named nothing.

        Of the grid's fonts only the installed ones count, so name them where a dataset must not depend on the machine;
        ``["bundled"]`` always works.

        Raises:
            InputError: a family is not installed or cannot be looked for, or a field of the style is out of range.
        """
        known_name("subtitle difficulty", difficulty, get_args(Difficulty))
        if families is not None and (not families or isinstance(families, str)):
            raise InputError(f"families is {families!r}, it must be a list of at least one font family, e.g. ['bundled']")
        self.fixed: dict[str, Any] = dict(style or {})
        check_fields(self.fixed)
        self.difficulty, self.obey_file = difficulty, obey_file
        if paired:
            self.same_draw = ("style", "paired")
        self.families = tuple(families) if families is not None else None
        for family in (*(self.families or ()), self.fixed.get("family", "bundled")):
            find_font(family)

    def generate(self, view: ItemView, rng: np.random.Generator) -> Drawn:
        """Draw the overlay; its hole is ``alpha > 0``.

        Raises:
            Rejected: no text is on screen in any frame, each one alone would hide more than half of the frame, or no installed
                font can show it.
        """
        families = self.families or installed_families()
        style = replace(draw_style(rng, self.difficulty, families=families), **self.fixed)
        events = view.timed_text if self.obey_file else tuple(replace(event, style=None) for event in view.timed_text)
        try:
            placed, track, left_out = _within_half(events, style, view)
        except InputError as error:  # caused by this clip's text, since parameters were checked before
            raise Rejected(str(error)) from error
        if not placed or not any(track.pictures[number].alpha.any() for number in set(track.shown)):
            large = f"; {left_out} of them would hide more than half of the frame" if left_out else ""
            raise Rejected(f"no text is on screen in the {view.frames} frames ({len(events)} events of timed text{large})")
        shown = np.array(track.shown)
        alpha = np.stack([picture.alpha for picture in track.pictures])
        holes = alpha > 0
        colour = np.stack([picture.colour for picture in track.pictures])
        facts = self._facts(style) | _measured(track, placed) | {"texts_left_out": left_out}
        return Drawn(holes[shown], facts, alpha=alpha[shown], colour=colour[shown])

    def _facts(self, style: Style) -> dict[str, Any]:
        return {
            "difficulty": self.difficulty,
            "family": style.family,
            "size_fraction": style.size_fraction,
            "colour": style.colour,
            "weight": "-".join(name for name, on in (("bold", style.bold), ("italic", style.italic)) if on) or "regular",
            "background": style.background,
            "box_alpha": style.box_alpha if style.background != "none" else 0.0,
            "outline_pixels": style.outline_pixels,
            "alignment": style.alignment,
        }


def _within_half(events: Sequence[TextEvent], style: Style, view: ItemView) -> tuple[list[Placed], Track, int]:
    """Layout and pictures that hide no more than half of any frame, and the number of texts that end early or are missing."""
    size = {"height": view.height, "width": view.width}
    lay_out = partial(place, events, frames=view.frames, height=view.height, width=view.width, fps=view.fps)
    for lines in range(style.lines_most, 0, -1):
        placed = lay_out(replace(style, lines_most=lines))
        track = render(placed, frames=view.frames, **size)
        if all(fits_half(picture) for picture in track.pictures):
            return placed, track, 0
    single = replace(style, lines_most=1)
    placed, left_out = thinned_out(lambda ends: lay_out(single, ends=ends), frames=view.frames, **size)
    return placed, render(placed, frames=view.frames, **size), left_out


def _measured(track: Track, placed: Sequence[Placed]) -> dict[str, Any]:
    """Facts of the overlay. Fractions are of the frame's pixels, over all frames, also those without text."""
    counts = np.bincount(track.shown, minlength=len(track.pictures))
    holes = np.array([np.mean(picture.alpha > 0) for picture in track.pictures])
    texts = np.array([np.mean(picture.text_alpha > 0) for picture in track.pictures])
    painted = np.any([picture.alpha > 0 for picture in track.pictures], axis=0)
    rows, columns = regions.box_of(painted) or (slice(0, 0), slice(0, 0))
    faces = sorted({piece.font.path for text in placed for line in text.block.lines for piece in line.pieces})
    return {
        "lines_most": max(len(text.block.lines) for text in placed),
        "events": len({text.block.event for text in placed}),
        "overlay_fraction": float(counts @ holes / counts.sum()),
        "text_fraction": float(counts @ texts / counts.sum()),
        "overlay_fraction_peak": float(holes[counts > 0].max()),
        # ``[row, column, height, width]`` of all pixels that are painted in any frame.
        "overlay_box": [rows.start, columns.start, rows.stop - rows.start, columns.stop - columns.start],
        "frames_with_text": int(counts[holes > 0].sum()),
        "fonts": [f"{Path(path).name} {_short_hash(path)}" for path in faces],
    }


@lru_cache(maxsize=256)
def _short_hash(path: str) -> str:
    """First 12 hex digits of the SHA-256 of a font file: other versions of a font draw other pixels."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12]
