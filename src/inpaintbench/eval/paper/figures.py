"""The figures of a paper, as wide as its columns and in its type: the report's, quality over speed, and a strip of frames."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.eval.report.figures import PALE_NOTE, paper_figure
from inpaintbench.eval.report.gallery import Media, finite_values, spread
from inpaintbench.eval.results.quantity import Quantity, quantity_title
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.effort import Effort
from inpaintbench.eval.trackers import held_back
from inpaintbench.lazily import lazily
from inpaintbench.pages import data_uri, method_styles
from inpaintbench.pages.plots import PAPER_LEGEND, for_paper, method_looks, paper_svg

if TYPE_CHECKING:
    import altair as alt
else:
    alt = lazily("altair")  # takes a quarter of a second, and most commands draw nothing

cv2 = lazily("cv2")

# A point of 1/72 inch is a pixel of a drawing.
_POINTS_AN_INCH = 72
# Points: a narrower panel cannot be read, and the last panels go into a further line.
_LEAST_PANEL = 60
_WIDTH = re.compile(r'<svg[^>]* width="([0-9.]+)"')
# Points between pictures of a strip; pictures side by side at most; pixels a point.
_GAP, _MOST_ACROSS, _PIXELS_A_POINT = 3, 6, 4


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


class Figure(NamedTuple):
    """A figure as Vega-Lite, with its caption in plain text."""

    chart: Mapping[str, Any]
    caption: str
    wide: bool


def paper_figures(results: Results, quantity: Quantity, efforts: Mapping[str, Effort], style: Style) -> dict[str, Figure]:
    """Name -> figure, of those that the run has the numbers of.

    Args:
        results: the scores.
        quantity: that is drawn.
        efforts: what methods took.
        style: of the paper.
    """
    title, found = quantity_title(quantity, results.protocol), {}
    if (speed := _speed_chart(results, quantity, efforts)) is not None:
        caption = (
            f"{title} over the time of a frame: means over all items with 95% intervals, where there are sources enough for "
            "one. Times are those of one machine and one number of workers alone."
        )
        found["speed"] = Figure(_sized(speed, style.column_inches, style), caption, wide=False)
    captions = {
        "means": f"{title} by slice: means with 95% intervals; hollow points bear no claim, dashed lines do not compete.",
        "fingerprint": f"{title}: effects of attributes with intervals that hold together. {PALE_NOTE}",
    }
    for name, caption in captions.items():
        try:
            chart = paper_figure(results, name, quantity)
        except InputError:  # nothing that it shows was measured
            continue
        found["effects" if name == "fingerprint" else name] = Figure(_sized(chart, style.text_inches, style), caption, wide=True)
    return found


def _speed_chart(results: Results, quantity: Quantity, efforts: Mapping[str, Effort]) -> Mapping[str, Any] | None:
    """A dot for each method whose time and mean are known, with its interval; None without two."""
    rows: list[dict[str, Any]] = []
    for method in results.methods:
        seconds, found = efforts.get(method, Effort()).seconds_a_frame, results.summary(results.everything, method, quantity)
        if seconds and found.mean is not None and math.isfinite(found.mean):
            ends = {"low": found.interval_low, "high": found.interval_high}
            rows.append({"method": method, "seconds": seconds, "value": found.mean, **ends})
    if len(rows) < 2:
        return None
    styles = method_styles(results.methods, results.aside)
    looks = method_looks({row["method"]: styles[row["method"]] for row in rows})
    time = alt.Scale(type="log", nice=False, padding=12)
    base = alt.Chart(alt.NamedData(name="rows")).encode(
        x=alt.X("seconds:Q", title="Seconds a frame", scale=time, axis=alt.Axis(tickCount=4, format="~g"))
    )
    value = alt.Y("value:Q", title=quantity_title(quantity), scale=alt.Scale(zero=False, padding=8))
    intervals = (
        base.transform_filter("isValid(datum.low)").mark_rule().encode(y=alt.Y("low:Q"), y2="high:Q", color=looks["color"])
    )
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(y=value, **looks)
    return for_paper(alt.layer(intervals, dots).properties(width=200, height=150), rows)


def _sized(chart: Mapping[str, Any], inches: float, style: Style) -> dict[str, Any]:
    """The chart in the type of a style and as wide as is asked for, without a title, which is the caption's, and where axes or
    heads name the methods without a legend."""
    legend = None if "facet" in chart else {**PAPER_LEGEND, "columns": 2}

    def typed(part: dict[str, Any]) -> dict[str, Any]:
        sized = {name: style.figure_points if name.lower().endswith("fontsize") else value for name, value in part.items()}
        return sized | ({"legend": legend} if part.get("field") == "method" and "legend" in part else {})

    found: dict[str, Any] = json.loads(json.dumps(chart), object_hook=typed)
    found.pop("title", None)
    found["config"] |= {"font": FONT, "padding": 1}
    points, most, view = inches * _POINTS_AN_INCH, 1, found.get("spec", found)
    if "facet" in found:
        most = _balanced(len(found["facet"].get("sort", [0])), found.get("columns") or 1)
    for panels in range(most, 0, -1):
        if "facet" in found:
            found["columns"] = panels
        # Whatever stands beside the panels keeps its width, so the second drawing is as wide as is wanted.
        drawn = _WIDTH.search(paper_svg(found))
        wanted = view["width"] + (points - float(drawn[1] if drawn else points)) / panels
        if wanted >= _LEAST_PANEL or panels == 1:
            break
    view["width"] = max(1, math.floor(wanted))
    return found


def _balanced(count: int, most: int) -> int:
    """How many stand side by side where at most ``most`` do, so that lines are of one length as far as they can be."""
    return math.ceil(count / math.ceil(count / most))


def chosen_items(results: Results, quantity: Quantity) -> dict[str, str]:
    """Item -> the rule that chose it: the median one and the one that methods disagree on most; none where items have no values.

    Equal items are taken in the order of the dataset; those whose truth nobody else may see are left out.
    """
    hidden = held_back(results.dataset)
    public = [item_id for item_id in results.sources if item_id not in hidden]
    values = {item_id: known for item_id in public if (known := finite_values(results, item_id, quantity))}
    means = {item_id: statistics.fmean(known) for item_id, known in values.items()}
    spreads = {item_id: size for item_id, known in values.items() if (size := spread(known))}
    found: dict[str, str] = {}
    if means:
        ordered = sorted(means, key=means.__getitem__)
        found[ordered[(len(ordered) - 1) // 2]] = "median item"
    if spreads:
        most = max(spreads, key=spreads.__getitem__)
        found[most] = f"{found[most]} and greatest disagreement" if most in found else "greatest disagreement"
    return found


def strip(results: Results, quantity: Quantity, media: Media, style: Style, *, edits: bool = False) -> Figure | None:
    """The middle frames of the ``chosen_items``: truth, input and methods; None where there are none.

    Args:
        results: the scores.
        quantity: by which items are chosen.
        media: where pixels come from.
        style: of the paper.
        edits: the truth is the input, and is shown once.
    """
    chosen = chosen_items(results, quantity)
    frames = {
        item_id: {name: _middle(media, item_id, name) for name in ("truth", *(() if edits else ("input",)), *results.contenders)}
        for item_id in chosen
    }
    there = {name for of in frames.values() for name, frame in of.items() if frame is not None}
    channels = [name for name in ("truth", "input", *results.contenders) if name in there or name in results.contenders]
    if not there:
        return None
    across = _balanced(len(channels), _MOST_ACROSS)
    width, line = style.text_inches * _POINTS_AN_INCH, style.figure_points + 3
    side = (width - _GAP * (across - 1)) / across
    pictures: list[dict[str, Any]] = []
    words: list[dict[str, Any]] = []
    top = 0.0
    for item_id, rule in chosen.items():
        words.append({"x": 0, "y": top, "text": f"{rule[0].upper()}{rule[1:]}: {item_id}", "wide": width})
        top += line
        height = side * next((frame.shape[0] / frame.shape[1] for frame in frames[item_id].values() if frame is not None), 0.5)
        for place, name in enumerate(channels):  # each in its own place, whatever others lack
            row, column = divmod(place, across)
            at = {"x": column * (side + _GAP), "y": top + row * (height + line + _GAP), "wide": side}
            words.append(at | {"text": "input" if edits and name == "truth" else name})
            if (frame := frames[item_id].get(name)) is None:
                words.append(at | {"y": at["y"] + line, "text": "no result"})
            else:
                # A frame as the address of a PNG, no larger than print can show.
                scale = min(1.0, _PIXELS_A_POINT * side / frame.shape[1])
                size = (max(1, round(frame.shape[1] * scale)), max(1, round(frame.shape[0] * scale)))
                small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
                picture = data_uri(video.png_bytes(small.astype("uint8")), "image/png")
                pictures.append(at | {"y": at["y"] + line, "url": picture, "high": height})
        top += math.ceil(len(channels) / across) * (height + line + _GAP) + line / 2
    public = ", of those whose truth is public" if held_back(results.dataset) else ""
    caption = (
        f"Middle frames of items that were chosen by rule, not by hand, by {quantity_title(quantity, results.protocol)}: the "
        "item whose mean over the methods is the median of all items, and the one on which the methods' values have the "
        f"greatest standard deviation{public}. Around a hole a part is shown that is three times as wide or high as it."
    )
    return Figure(_strip_chart(pictures, words, side=side, width=width, height=top, style=style), caption, wide=True)


def _middle(media: Media, item_id: str, name: str) -> Any:
    """The part of the middle frame that has its shape and three times the width or height of its hole, whichever is more.

    All of it where there is no hole, or no room for that; None where there are no frames.
    """
    frames, holes = media.frames(item_id, name), media.hole(item_id)
    if frames is None:
        return None
    frame, hole = frames[len(frames) // 2], None if holes is None else holes[len(holes) // 2]
    if hole is None or not hole.any():
        return frame
    ends = [np.flatnonzero(hole.any(axis=axis))[[0, -1]] for axis in (1, 0)]
    share = min(1.0, max(3 * float(last - first + 1) / side for (first, last), side in zip(ends, hole.shape, strict=True)))
    parts = []
    for (first, last), side in zip(ends, hole.shape, strict=True):
        length = max(1, round(share * side))
        begin = min(max(0, int(first + last + 1 - length) // 2), side - length)
        parts.append(slice(begin, begin + length))
    return frame[parts[0], parts[1]]


def _strip_chart(
    pictures: Sequence[dict[str, Any]], words: Sequence[dict[str, Any]], *, side: float, width: float, height: float, style: Style
) -> dict[str, Any]:
    def place(name: str, most: float) -> dict[str, Any]:
        scale = {"domain": [0, most], "range": [0, most], "nice": False, "zero": False}
        return {"field": name, "type": "quantitative", "scale": scale, "axis": None}

    at = {"x": place("x", width), "y": place("y", height)}
    look = {"align": "left", "baseline": "top"}
    layers = [
        {
            "data": {"values": [one for one in pictures if one["high"] == high]},
            "mark": {"type": "image", "width": side, "height": high, **look},
            "encoding": {**at, "url": {"field": "url", "type": "nominal"}},
        }
        for high in sorted({one["high"] for one in pictures})
    ]
    for limit in sorted({one["wide"] for one in words}):
        layers.append({
            "data": {"values": [one for one in words if one["wide"] == limit]},
            "mark": {"type": "text", "fontSize": style.figure_points, "limit": limit, **look},
            "encoding": {**at, "text": {"field": "text", "type": "nominal"}},
        })  # fmt: skip
    config = {"font": FONT, "view": {"stroke": None}, "background": None}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json", "width": width, "height": height, "padding": 0,
        "config": config, "layer": layers,
    }  # fmt: skip
