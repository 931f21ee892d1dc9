"""The attributes that a card shows, with their units, and how they are spread over items and slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench.export.card.words import number, things
from inpaintbench.export.layout import CodedRows, counted, finder
from inpaintbench.frozen import is_held_back
from inpaintbench.types import Dataset, Plain

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A number in ``attributes`` that says how hard an item is."""

    name: str
    title: str
    unit: str
    """As printed."""
    scale: float = 1.0
    """Factor for the number as printed."""
    level: str | None = None
    """Attribute or column that items are grouped by."""
    of_clips: bool = False
    """True when it says something of the clip, so that items of one clip have one value."""

    def counting(self, rows: Sequence[Plain]) -> Sequence[Plain]:
        """The rows that count once: all, or the first of each clip that has a value, or else its first."""
        if not self.of_clips:
            return rows
        if isinstance(rows, CodedRows):
            clips, lacking = rows.codes("clip_id"), np.isnan(self.values(rows))
            order = np.lexsort((lacking, clips))  # of a clip those with a value first, and the rows in their order
            _, first_of_clip = np.unique(clips[order], return_index=True)
            _, first_seen = np.unique(clips, return_index=True)
            return rows.take(order[first_of_clip][np.argsort(first_seen)])
        row_of_clip: dict[str, Plain] = {}
        for row in rows:
            before = row_of_clip.get(row["clip_id"])
            if before is None or (self.of(before) is None and self.of(row) is not None):
                row_of_clip[row["clip_id"]] = row
        return list(row_of_clip.values())

    def of(self, row: Plain) -> float | None:
        """The number of an item; None where it has none."""
        value = row["attributes"].get(self.name)
        known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        return float(value) if known else None

    def values(self, rows: Sequence[Plain]) -> Values:
        """The numbers of items, NaN for those that have none."""
        if isinstance(rows, CodedRows):
            return rows.numbers(self.name)
        return np.array([math.nan if (value := self.of(row)) is None else value for row in rows])


# Columns of the table of statistics: five fit a page of the Hub.
_MOST_COLUMNS = 4
_SHARE = ("%", 100.0)
MEASURES = (
    Measure("hole.hole_fraction", "Share of the pixels in the hole", *_SHARE, level="size_level"),
    Measure(
        "camera_motion_per_frame", "Camera motion, share of the view a frame", *_SHARE, level="camera_motion_level", of_clips=True
    ),
    Measure("camera_motion", "Camera motion, share of the view", *_SHARE, level="camera_motion_level", of_clips=True),
    Measure(
        "bg_scene_motion", "Background scene motion, share of the view", *_SHARE, level="bg_scene_motion_level", of_clips=True
    ),
    Measure("hole.pose_change", "Change of the hole's shape, 1 - IoU", "", level="pose_level"),
    Measure("hole.centroid_displacement_pixels", "Displacement of the hole", "pixels", level="displacement_level"),
    Measure("mask.blocks", "Blocks in a picture", "blocks"),
    Measure("mask.joints_hidden", "Hidden joints of a person", "joints"),
    Measure("mask.events", "Texts in a clip", "texts"),
    Measure("degradation.wear_rms", "Wear of the print, RMS", *_SHARE),
    Measure("degradation.change_rms", "Change from truth to input, RMS", *_SHARE),
    Measure("moisture", "Moisture, -1 dry to 1 wet", "", of_clips=True),
    Measure("warp_valid_share", "What optical flow explains, share of the pixels", *_SHARE, of_clips=True),
    Measure("object_fraction", "Object, share of the frame", *_SHARE, level="task"),
)
_OTHER_LEVELS = {"hole.hole_fraction": ("mask.difficulty", "mask.kind", "set")}
_ORDER = ("low", "easy", "medium", "hard", "high")
NEITHER = "neither"
# Every attribute or column that items are grouped by.
_GROUPED_BY = ([measure.level for measure in MEASURES if measure.level], *_OTHER_LEVELS.values())
GROUPS = tuple(dict.fromkeys(name for names in _GROUPED_BY for name in names))


def present(rows: Sequence[Plain], *, most: int) -> list[Measure]:
    """The first ``most`` measures that differ between items."""
    known = ((measure, known_numbers(rows, measure.name)) for measure in MEASURES)
    return list(islice((measure for measure, values in known if len(values) and values.min() < values.max()), most))


def known_numbers(rows: Sequence[Plain], name: str) -> Values:
    """The numbers of a measure in the order of rows, without those of rows that have none."""
    values = next(measure for measure in MEASURES if measure.name == name).values(rows)
    return values[~np.isnan(values)]


def chosen(rows: Sequence[Plain], those: npt.NDArray[np.bool_]) -> Sequence[Plain]:
    """The rows of which ``those`` is true."""
    return rows.take(np.flatnonzero(those)) if isinstance(rows, CodedRows) else list(compress(rows, those))


def held_back(rows: Sequence[Plain]) -> int:
    """How many rows have no truth here."""
    return sum(count * is_held_back(row) for row, count in counted(rows, "truth_file_name", "generator"))


def groups_of(measure: Measure, rows: Sequence[Plain]) -> list[str] | None:
    """The level of each item; None where items do not differ in one."""
    for name in filter(None, (measure.level, *_OTHER_LEVELS.get(measure.name, ()))):
        levels = _levels(rows, name)
        if 1 < len(set(levels)) <= 8:
            return levels
    return None


def _levels(rows: Sequence[Plain], name: str) -> list[str]:
    if not isinstance(rows, CodedRows):
        return [_level(row, name) for row in rows]
    _, first, places = np.unique(rows.codes(name), return_index=True, return_inverse=True)
    levels = [_level(rows[place], name) for place in first.tolist()]
    return [levels[place] for place in places.tolist()]


def _level(row: Plain, name: str) -> str:
    value = row["attributes"].get(name, row.get(name))
    return str(value) if isinstance(value, str) else NEITHER


def rank_of(level: str) -> tuple[int, str]:
    """Sort key of a level: low before high, and those that have none last."""
    place = _ORDER.index(level) if level in _ORDER else len(_ORDER) + (level == NEITHER)
    return place, level


def statistics(dataset: Dataset) -> dict[str, Any]:
    """The table of the measures that differ between items: its columns, its row of all items and those of slices.

    Empty where no measure differs. ``missing`` says why numbers are missing in it, ``of_clips`` whether a column counts clips.
    """
    measures = present(dataset.items, most=_MOST_COLUMNS)
    if not measures:
        return {}
    rows_of = finder(dataset.items)
    members = ((f"`{part.name}`", rows_of(part.item_ids)) for part in dataset.slices)
    whole, *slices = (
        [name, *(_spread(measure, some) for measure in measures)] for name, some in chain([("all items", dataset.items)], members)
    )
    return {
        "columns": ["slice", *(_column(measure, dataset.items) for measure in measures)],
        "whole": whole,
        "slices": slices,
        "of_clips": any(measure.of_clips for measure in measures),
        "missing": " ".join(word for measure in measures for word in _missing(measure, measure.counting(dataset.items))),
    }


def _spread(measure: Measure, rows: Sequence[Plain]) -> str:
    counting = measure.counting(rows)
    values = measure.scale * known_numbers(counting, measure.name)
    if not len(values):
        return "-"
    low, high = number(float(values.min())), number(float(values.max()))
    brackets = [*([f"{low} to {high}"] if low != high else []), *_missing(measure, counting)]
    return number(float(np.median(values))) + (f" ({', '.join(brackets)})" if brackets else "")


def _missing(measure: Measure, counting: Sequence[Plain]) -> list[str]:
    """Counts of rows without a number, in words; those held back apart."""
    without = chosen(counting, np.isnan(measure.values(counting)))
    hidden = held_back(without)
    counts = {"held back": hidden, "unknown": len(without) - hidden}
    return [f"{count} {words}" for words, count in counts.items() if count]


def _column(measure: Measure, rows: Sequence[Plain]) -> str:
    unit = f", {measure.unit}" if measure.unit else ""
    return f"{measure.title}{unit} (of {things(rows)})" if measure.of_clips else f"{measure.title}{unit}"
