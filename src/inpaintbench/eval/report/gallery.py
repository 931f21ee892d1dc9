"""Choice of the items that the gallery shows, with their videos, posters and errors by frame."""

from __future__ import annotations

import math
import os
import statistics
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

from inpaintbench import regions
from inpaintbench.errors import InputError
from inpaintbench.eval.report.media import Layout, Recipe, Tiles, encode, frame_values, poster
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Frames, Hole, Slice

_THREADS = 2


class Media(Protocol):
    """Source of the report's pixels, asked by several threads, by each for one item after the other."""

    def frames(self, item_id: str, channel: str) -> Frames | None:
        """``uint8[T, H, W, 3]`` of ``"truth"``, ``"input"`` (hole filled) or a method (composite); None without a prediction."""
        ...

    def hole(self, item_id: str) -> Hole | None:
        """``bool[T, H, W]``, True = hole; None for an item without one."""
        ...


@dataclass
class Choice:
    """An item of the gallery: the slices it stands for, each with the reason it was chosen."""

    item_id: str
    interest: float = -math.inf
    """Spread of the methods; of the items with most predictions the one with the largest is shown first."""
    reasons: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    """Further labels, such as ``Hardest 1``, each with the reason."""


@dataclass(frozen=True)
class Exhibit:
    """One item ready to be shown."""

    choice: Choice
    layout: Layout
    poster: bytes
    """PNG of the middle of the clip: of the truth, or of the input where all of it is degraded, since truths look alike then."""
    errors: dict[str, list[float | None]]
    """Method -> root mean square error (0..255) of each frame inside the hole, or in the whole frame where items have none."""
    centres: list[tuple[float, float]]
    """Centre of the hole in each frame as shares of width and height, gliding, for the close-up."""
    hole_fraction: float | None
    """Mean share of hole pixels."""
    by_frame: dict[str, dict[Quantity, list[float | None]]] = field(default_factory=dict)
    """Method -> quantity -> value of each frame, measured on the originals."""


def choose_items(results: Results, quantity: Quantity, *, per_slice: int) -> list[Choice]:
    """For each slice the items on which the methods differ most in ``quantity``, each item for one slice as far as they last.

    How much they differ is the median over all pairs of methods, so that one hopeless method does not decide alone. With one
    method, the items on which it is worst.
    """
    choices: dict[str, Choice] = {}
    for one in results.slices or (results.everything,):
        ordered = sorted(one.item_ids, key=lambda item_id: _interest(results, item_id, quantity), reverse=True)
        fresh = [item_id for item_id in ordered if item_id not in choices]
        repeated = [item_id for item_id in ordered if item_id in choices]
        for item_id in (fresh + repeated)[:per_slice]:
            choice = choices.setdefault(item_id, Choice(item_id, _interest(results, item_id, quantity)))
            choice.reasons[one.name] = _reason(results, one, item_id, quantity)
    return list(choices.values())


def finite_values(results: Results, item_id: str, quantity: Quantity, *, methods: Sequence[str] | None = None) -> list[float]:
    """The values of the methods, by default of all contenders, on one item, without missing and infinite ones."""
    values = (results.value(method, item_id, quantity) for method in (results.contenders if methods is None else methods))
    return [value for value in values if value is not None and math.isfinite(value)]


def _interest(results: Results, item_id: str, quantity: Quantity) -> float:
    values = finite_values(results, item_id, quantity)
    if len(results.contenders) > 1 and len(values) > 1:
        return statistics.median(abs(one - other) for one, other in combinations(values, 2))
    if len(results.contenders) == 1 and values:
        return -values[0] if quantity.higher_is_better else values[0]
    return -math.inf


def _reason(results: Results, one: Slice, item_id: str, quantity: Quantity) -> str:
    values = finite_values(results, item_id, quantity)
    among = f"among {len(one.item_ids)} {'item' if len(one.item_ids) == 1 else 'items'} of {one.name}"
    if len(results.contenders) > 1 and len(values) > 1:
        return f"methods differ most here {among}"
    if len(results.contenders) == 1 and values:
        return f"{results.contenders[0]} is worst here {among}"
    return f"the first {among}: none has two finite values to compare"


def make_exhibits(
    choices: Sequence[Choice],
    media: Media,
    *,
    methods: Sequence[str],
    rates: Mapping[str, float],
    edits: bool = False,
    whole: bool = False,
    recipe: Recipe | None = None,
) -> list[tuple[Exhibit, bytes]]:
    """Each choice with its tiled video as H.264 mp4; ``rates`` gives the frames per second of items.

    With ``edits`` the input is the truth, and is shown once. With ``whole`` results are shown outside the hole too.

    With a ``recipe`` clips are measured frame by frame.

    Raises:
        InputError: the media hold no truth or input for an item, or frames of another shape.
    """

    def made(choice: Choice) -> tuple[Exhibit, bytes]:
        fps = rates[choice.item_id]
        exhibit, sheet = _draw(choice, media, methods=methods, fps=fps, edits=edits, whole=whole, recipe=recipe)
        return exhibit, encode(sheet, fps=fps)

    # Decoding, drawing and encoding do without the interpreter for most of their time. Each thread holds an item.
    threads = ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1))
    try:
        return list(threads.map(made, choices))
    finally:
        threads.shutdown(cancel_futures=True)


def _draw(
    choice: Choice, media: Media, *, methods: Sequence[str], fps: float, edits: bool, whole: bool, recipe: Recipe | None
) -> tuple[Exhibit, Frames]:
    truth, hole = _required(media, choice.item_id, "truth"), media.hole(choice.item_id)
    given, tiles = truth, Tiles(truth, hole=hole, whole=whole)
    if not edits:
        given = _fitting(_required(media, choice.item_id, "input"), truth, item_id=choice.item_id, channel="input")
        tiles.add("input", given)
    errors: dict[str, list[float | None]] = {}
    by_frame: dict[str, dict[Quantity, list[float | None]]] = {}
    for method in methods:
        frames = media.frames(choice.item_id, method)
        if frames is not None:
            tiles.add(method, _fitting(frames, truth, item_id=choice.item_id, channel=method))
            errors[method] = frame_errors(truth, frames, hole=hole)
            if recipe is not None and len(truth) > 1:
                everywhere = np.ones(truth.shape[:3], np.bool_) if hole is None else hole
                by_frame[method] = frame_values(recipe, truth, frames, everywhere)
    sheet, layout = tiles.sheet(fps=fps)
    exhibit = Exhibit(
        choice=choice,
        layout=layout,
        poster=poster((given if hole is None else truth)[len(truth) // 2]),
        errors=errors,
        centres=[] if hole is None else _centres(hole),
        hole_fraction=None if hole is None else float(regions.hole_fraction(hole).mean()),
        by_frame=by_frame,
    )
    return exhibit, sheet


def _required(media: Media, item_id: str, channel: str) -> Frames:
    frames = media.frames(item_id, channel)
    if frames is None:
        raise InputError(f"item {item_id!r} has no {channel} to show")
    return frames


def _fitting(frames: Frames, truth: Frames, *, item_id: str, channel: str) -> Frames:
    if frames.shape != truth.shape:
        raise InputError(f"{channel} on item {item_id!r} has shape {frames.shape}, its truth {truth.shape}")
    return frames


def frame_errors(truth: Frames, frames: Frames, *, hole: Hole | None) -> list[float | None]:
    """Root mean square difference (0..255) of each frame over its hole pixels, all pixels without a hole; None where empty."""
    errors: list[float | None] = []
    for index, (one, other) in enumerate(zip(truth, frames, strict=True)):
        pixels = slice(None) if hole is None else hole[index]
        difference = one[pixels].astype(np.float32) - other[pixels]
        errors.append(round(math.sqrt(float(np.mean(difference**2))), 2) if difference.size else None)
    return errors


def _centres(hole: Hole) -> list[tuple[float, float]]:
    """Centroids as (x, y) shares, averaged over a third of a second or so; the frame's middle where no frame has a hole."""
    size = np.array(hole.shape[1:], np.float64)
    points = regions.centroids(hole) / size
    filled = np.flatnonzero(~np.isnan(points[:, 0]))
    if not len(filled):
        return [(0.5, 0.5)] * len(hole)
    steps = np.arange(len(hole))
    known = np.stack([np.interp(steps, filled, points[filled, axis]) for axis in (1, 0)], axis=1)
    padded = np.pad(known, ((4, 4), (0, 0)), mode="edge")
    gliding = np.stack([np.convolve(padded[:, axis], np.full(9, 1 / 9), mode="valid") for axis in (0, 1)], axis=1)
    return [(round(float(x), 3), round(float(y), 3)) for x, y in gliding]


HARDEST, DISAGREED, ASKED = "Hardest", "Most disagreed", "Asked for"


def spread(values: list[float]) -> float | None:
    """The sample standard deviation (n - 1) of the methods' values on one item; None for fewer than two."""
    return statistics.stdev(values) if len(values) > 1 else None


def add_standouts(results: Results, choices: list[Choice], quantity: Quantity, *, count: int) -> list[Choice]:
    """``choices`` and up to ``count`` items more, taken by turns from the hardest and from the most disagreed ones.

    An item that is among ``choices`` already gets a further label and counts for none of them, so items with videos are never
    more than ``count`` more.
    """
    found = {choice.item_id: choice for choice in choices}
    lists = {HARDEST: _hardest(results, quantity), DISAGREED: _disagreed(results, quantity)}
    places = dict.fromkeys(lists, 0)
    left = count
    while left > 0 and any(places[label] < len(items) for label, items in lists.items()):
        for label, items in lists.items():
            if left > 0 and places[label] < len(items):
                item_id, place = items[places[label]], places[label] + 1
                places[label] = place
                left -= item_id not in found
                what = "the mean over methods is worst" if label == HARDEST else "the values of the methods spread most"
                rank = "here" if place == 1 else f"here but for {place - 1}"
                reason = f"{what} {rank} among all {len(results.sources)} items"
                found.setdefault(item_id, Choice(item_id)).labels[f"{label} {place}"] = reason
    return list(found.values())


def add_asked(choices: list[Choice], item_ids: tuple[str, ...]) -> list[Choice]:
    """``choices`` and the items that the caller names."""
    found = {choice.item_id: choice for choice in choices}
    for item_id in dict.fromkeys(item_ids):
        found.setdefault(item_id, Choice(item_id)).labels[ASKED] = "it was asked for"
    return list(found.values())


def _hardest(results: Results, quantity: Quantity) -> list[str]:
    """Items by the mean over methods, worst first."""
    means = {
        item_id: statistics.fmean(found) for item_id in results.sources if (found := finite_values(results, item_id, quantity))
    }
    if not quantity.ranked:
        return []
    return sorted(means, key=lambda item_id: means[item_id], reverse=not quantity.higher_is_better)


def _disagreed(results: Results, quantity: Quantity) -> list[str]:
    """Items by the spread of the methods, largest first."""
    spreads = {item_id: spread(finite_values(results, item_id, quantity)) for item_id in results.sources}
    known = {item_id: value for item_id, value in spreads.items() if value}
    return sorted(known, key=lambda item_id: known[item_id], reverse=True)
