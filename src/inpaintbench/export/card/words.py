"""Facts of rows that several documents need, measures of how hard items are, and words as people read them in Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import frozen
from inpaintbench.export import layout
from inpaintbench.types import Dataset, Plain

_MARKS = re.compile(r"([\\`*_\[\]<>|#~$!])")


def are_stills(rows: Sequence[Plain]) -> bool:
    """Return whether every clip is a single picture."""
    return all(row["frames"] == 1 for row in layout.different(rows, "frames"))


def things(rows: Sequence[Plain]) -> str:
    """The noun for what the footage is cut into: clips or pictures."""
    return "pictures" if are_stills(rows) else "clips"


def sources(rows: Sequence[Plain]) -> dict[str, Plain]:
    """Id of each file that footage is from -> its first row; see ``n_sources`` for what counts as one source."""
    first: dict[str, Plain] = {}
    for row in layout.different(rows, "source_id"):
        first.setdefault(str(row["source_id"]), row)
    return first


def n_sources(rows: Sequence[Plain]) -> int:
    """Return the number of independent sources, as scores count them."""
    if all(row.get("attributes", {}).get(frozen.GROUP) is None for row in layout.different(rows, frozen.GROUP)):
        return layout.how_many(rows, "source_id")
    return len({frozen.source_of(row) for row in layout.different(rows, "source_id", frozen.GROUP)})


def one_line(text: object) -> str:
    """One line of printable characters, whatever somebody wrote; nothing where there is no text."""
    said = str(text or "")
    if not said.isprintable():
        said = "".join(mark if mark.isprintable() else " " for mark in said)
    return " ".join(said.split())


def plain(text: object) -> str:
    """One line in which nothing is Markdown or HTML, whatever somebody wrote."""
    # Some pages show the backslash before "<".
    line = one_line(str(text)).replace("<=", "≤").replace(">=", "≥")
    return _MARKS.sub(r"\\\1", line.replace("&", "&amp;"))


def code(text: object) -> str:
    """A span of code that may stand in a cell of a table."""
    return f"`{one_line(str(text)).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def counted(number: int, noun: str) -> str:
    """``1 item``, ``2 items``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    text = f"{value:.3g}"
    return f"{value:,.0f}" if "e" in text and abs(value) >= 1 else f"{value:.4f}" if "e" in text else text


def listed(names: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, with a line break after it; cells are Markdown already."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|", *(f"| {' | '.join(row)} |" for row in rows), ""]
    return "\n".join(lines)


Values = npt.NDArray[np.float64]


def number_in(value: Any) -> float:
    """An attribute as a number; NaN where it is none, or not finite."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if known else math.nan


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
        if isinstance(rows, layout.CodedRows):
            clips, lacking = rows.codes("clip_id"), np.isnan(self.values(rows))
            order = np.lexsort((lacking, clips))  # of a clip those with a value first, and the rows in their order
            _, first_of_clip = np.unique(clips[order], return_index=True)
            _, first_seen = np.unique(clips, return_index=True)
            return rows.take(order[first_of_clip][np.argsort(first_seen)])
        row_of_clip: dict[str, tuple[Plain, bool]] = {}
        for row, lacks in zip(rows, np.isnan(self.values(rows)).tolist(), strict=True):
            if row["clip_id"] not in row_of_clip or (row_of_clip[row["clip_id"]][1] and not lacks):
                row_of_clip[row["clip_id"]] = row, lacks
        return [row for row, _ in row_of_clip.values()]

    def values(self, rows: Sequence[Plain]) -> Values:
        """The numbers of items, NaN for those that have none."""
        if isinstance(rows, layout.CodedRows):
            return rows.numbers(self.name)
        return np.array([number_in(row["attributes"].get(self.name)) for row in rows], np.float64)


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
    return rows.take(np.flatnonzero(those)) if isinstance(rows, layout.CodedRows) else list(compress(rows, those))


def held_back(rows: Sequence[Plain]) -> int:
    """How many rows have no truth here."""
    return sum(count * frozen.is_held_back(row) for row, count in layout.counted(rows, "truth_file_name", "generator"))


def groups_of(measure: Measure, rows: Sequence[Plain]) -> list[str] | None:
    """The level of each item; None where items do not differ in one."""
    for name in filter(None, (measure.level, *_OTHER_LEVELS.get(measure.name, ()))):
        if isinstance(rows, layout.CodedRows):
            _, first, places = np.unique(rows.codes(name), return_index=True, return_inverse=True)
            of_code = [_level(rows[place], name) for place in first.tolist()]
            levels = [of_code[place] for place in places.tolist()]
        else:
            levels = [_level(row, name) for row in rows]
        if 1 < len(set(levels)) <= 8:
            return levels
    return None


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
    columns = ["slice"]
    for measure in measures:
        titled = f"{measure.title}, {measure.unit}" if measure.unit else measure.title
        columns.append(f"{titled} (of {things(dataset.items)})" if measure.of_clips else titled)
    rows_of = layout.finder(dataset.items)
    members = ((f"`{part.name}`", rows_of(part.item_ids)) for part in dataset.slices)
    whole, *slices = (
        [name, *(_spread(measure, some) for measure in measures)] for name, some in chain([("all items", dataset.items)], members)
    )
    return {
        "columns": columns,
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
