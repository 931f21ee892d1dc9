"""Letterbox and pillarbox bars of a source: those that stay, and those that come, go or change.

In a single frame the outermost two lines of a side tell what its bar would look like. Lines belong to it while nearly all their
pixels look so; the bar ends *plainly* where most pixels stop to look so within two lines, all along the side, which few dark
skies and night scenes do. Bright text inside a bar leaves most of its line dark and is passed over.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.sources.base import open_path
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.lazily import lazily
from inpaintbench.types import Attribute, Plain, Source, canonical_json, stated
from inpaintbench.workspace import Blobs

cv2 = lazily("cv2")

VERSION = "2"
# Attribute of a source whose bars change: its blob is a list of `BarSpan` as mappings, its value how many.
SPANS = "bars.spans"
LOOKS_PER_SECOND = 4.0
# Lines; narrower borders are left alone.
LEAST_WIDTH = 2
# Lines by which two readings of one bar may differ.
SAME_WIDTH = 2
# Plain readings that a bar needs which is not there all the time: one second's.
LEAST_LOOKS = 4
# Share of the looks that must tell what is opposite a bar, a bar or none.
OPPOSITE_TOLD = 0.3
# Of the side: opposite bars that differ by no more support each other.
SYMMETRY = 0.02
_SIDES = ("top", "bottom", "left", "right")


@dataclass(frozen=True)
class Bars:
    """Lines to cut off at each side, in upright pixels."""

    top: int = 0
    bottom: int = 0
    left: int = 0
    right: int = 0

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Bars:
        """From attributes ``bars.top`` ...; no bars where there are none."""
        return cls(*(int(facts.get(f"bars.{side}") or 0) for side in _SIDES))

    def cut(self, frame: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """``uint8[h, w, 3]`` without the bars."""
        height, width = frame.shape[:2]
        return frame[self.top : height - self.bottom, self.left : width - self.right]

    def union(self, other: Bars) -> Bars:
        """The wider bar at each side: what is left has neither."""
        return Bars(*(max(getattr(self, side), getattr(other, side)) for side in _SIDES))

    def share(self, *, height: int, width: int) -> float:
        """Share of a view of that size that the bars take, 0..1."""
        return 1 - (height - self.top - self.bottom) * (width - self.left - self.right) / (height * width)


@dataclass(frozen=True)
class BarSpan:
    """The bars of the frames ``[start_frame, end_frame)`` of a source, counted as they decode."""

    start_frame: int
    end_frame: int
    bars: Bars


@dataclass(frozen=True)
class _Look:
    frame: int
    size: tuple[int, int]
    readings: Readings | None


def find_bars(sampled: Iterable[tuple[int, npt.NDArray[np.uint8]]], *, frames: int) -> list[BarSpan]:
    """The bars of a source from frames of it, looked at one by one: spans that cover all its ``frames``, one where none change.

    A bar is believed where it ends plainly: at all looks that show anything, or, if it comes and goes, for a second and with
    as wide a bar opposite. Looks that cannot tell (night, black, fades, titles) are taken to have the bars around them. A
    change lies between two looks; the frames between have the bars of both. A source whose frames change size has none.

    Args:
        sampled: frame number and ``uint8[h, w, 3]`` RGB, ascending, the first one frame 0; about ``LOOKS_PER_SECOND``.
        frames: how many the source has.
    """
    looks = [_Look(number, frame.shape[:2], read_edges(frame)) for number, frame in sampled]
    if len({look.size for look in looks}) != 1:
        return [BarSpan(0, frames, Bars())]
    sides = [_believed(looks, side) for side in range(4)]
    states = [Bars(*widths) for widths in zip(*sides, strict=True)]
    pieces = [(0, states[0])]
    for (before, now), (state, other) in zip(pairwise(looks), pairwise(states), strict=True):
        if state != other:
            pieces += [(before.frame + 1, state.union(other)), (now.frame, other)]
    ends = [start for start, _ in pieces[1:]] + [frames]
    covered = [BarSpan(start, end, bars) for (start, bars), end in zip(pieces, ends, strict=True) if start < end]
    groups = [list(group) for _, group in groupby(covered, key=lambda span: span.bars)]
    return [BarSpan(same[0].start_frame, same[-1].end_frame, same[0].bars) for same in groups]


def union_of(spans: Iterable[BarSpan], *, start_frame: int, end_frame: int) -> Bars:
    """The bars to cut off a clip over ``[start_frame, end_frame)``: at each side the widest that any of its frames has."""
    bars = Bars()
    for span in spans:
        if span.start_frame < end_frame and start_frame < span.end_frame:
            bars = bars.union(span.bars)
    return bars


def bars_of_clip(
    facts: Mapping[str, Any], blobs: Blobs, *, start_frame: int, end_frame: int, source_fps: float, fps: float
) -> Bars:
    """The bars to cut off the clip ``[start_frame, end_frame)`` of a source.

    Args:
        facts: of the source: ``bars.top`` ..., and the blob of ``bars.spans`` where its bars change.
        blobs: hold it.
        start_frame: counted at ``fps``, as is ``end_frame``.
        source_fps: rate of the source.
        fps: rate of the clip; another than the source's where it was retimed.
    """
    if not facts.get(SPANS):
        return Bars.of(facts)
    spans = spans_of(json.loads(blobs.proved(str(facts[SPANS])).read_bytes()))
    if fps == source_fps:
        return union_of(spans, start_frame=start_frame, end_frame=end_frame)
    # Where the source's rate varies the same time is another frame, so half a second around counts, too.
    slack, scale = 0.5 * source_fps, source_fps / fps
    return union_of(spans, start_frame=int(start_frame * scale - slack), end_frame=int(end_frame * scale + slack) + 1)


def _believed(looks: Sequence[_Look], side: int) -> list[int]:
    """The width of one side's bar at every look."""
    known = [(index, look.readings[side]) for index, look in enumerate(looks) if look.readings]
    plain = [(index, reading.width) for index, reading in known if reading.plain]
    always = _constant(known)
    opposite = {index: look.readings[side ^ 1] for index, look in enumerate(looks) if look.readings}
    if always is not None:
        # Where it is black opposite as well and has no end, things stand on black.
        told = sum(reading.plain for reading in opposite.values()) >= OPPOSITE_TOLD * len(opposite)
        return [always if told else 0] * len(looks)
    runs: list[list[tuple[int, int]]] = []  # plain readings in a row that agree
    for entry in plain:
        if not runs or abs(entry[1] - runs[-1][0][1]) > SAME_WIDTH:
            runs.append([])
        runs[-1].append(entry)
    widths: list[int | None] = [None] * len(looks)
    most = max(SAME_WIDTH, SYMMETRY * looks[0].size[side // 2])
    for run in runs:
        width = _usual([width for _, width in run])
        agreeing = sum(opposite[index].plain and abs(opposite[index].width - own) <= most for index, own in run)
        if width < LEAST_WIDTH or (len(run) >= LEAST_LOOKS and agreeing >= 0.5 * len(run)):
            for index, _ in run:
                widths[index] = width if width >= LEAST_WIDTH else 0
    # Where none is believed: the wider of the neighbours' that the look allows, else the narrower, else none.
    filled = []
    for index, (look, believed) in enumerate(zip(looks, widths, strict=True)):
        if believed is None:
            before = next((one for one in reversed(widths[:index]) if one is not None), 0)
            after = next((one for one in widths[index + 1 :] if one is not None), before)
            reading = look.readings[side] if look.readings else None
            widest = reading.width + SAME_WIDTH if reading and not reading.plain else math.inf
            believed = max((one for one in (before, after) if one <= widest), default=0)
        filled.append(believed)
    return filled


def _constant(known: Sequence[tuple[int, Reading]]) -> int | None:
    """The width that all looks allow and some show plainly; None where there is no such."""
    if not known:
        return 0
    plain = [reading.width for _, reading in known if reading.plain]
    width = _usual(plain) if plain else 0
    allowed = all(reading.width >= width - SAME_WIDTH for _, reading in known)
    agreed = sum(abs(seen - width) <= SAME_WIDTH for seen in plain)
    if not allowed or agreed < 0.9 * len(plain) or agreed < 0.2 * len(known):
        return None if plain else 0
    return width if width >= LEAST_WIDTH else 0


def _usual(widths: Sequence[int]) -> int:
    """The most frequent width, of equally frequent ones the largest."""
    return max(Counter(widths).items(), key=lambda entry: (entry[1], entry[0]))[0]


def find(
    executor: Executor, sources: Sequence[Source], where: Mapping[str, Plain], probes: Mapping[str, Plain],
    *, reader: str = "pyav",
) -> Outcome:  # fmt: skip
    """Look for bars in every source and write them to ``attributes``, in lines.

    Args:
        executor: who does the work.
        sources: to look at.
        where: source id -> where its file lies.
        probes: source id -> facts of ``video.Probe`` by name; sources without are left out.
        reader: who reads the frames that are looked at, one of ``video.READERS``.

    Raises:
        InputError: the reader is unknown or not installed.
    """
    video.require_reader(reader)
    step = Step(
        name="bars",
        version=VERSION,
        table="attributes",
        record=Attribute,
        function="inpaintbench.curation.bars:find_one",
        parameters={"reader": reader},
        # A look takes tens of milliseconds in 1080p, and a long film has many.
        time_limit_seconds=900.0 + 2 * max((float(facts["duration_seconds"]) for facts in probes.values()), default=0.0),
    )
    tasks = [
        Task(row.source_id, row.sha256, {"source_id": row.source_id, "where": where[row.source_id], "probe": facts}, row.uri)
        for row in sources
        if (facts := probes.get(row.source_id))
    ]
    return executor.run(step, tasks)


def find_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """Rows ``bars.top`` ... ``bars.right`` with the widest bar at each side, and ``bars.spans`` where the bars change."""
    source_id, facts = payload["source_id"], video.Probe.of(payload["probe"])
    path, frames = open_path(payload["where"], blobs), facts.frames
    if parameters["reader"] == "pyav":
        looks = looked_at(path)
    else:
        every = max(1, round(facts.fps / LOOKS_PER_SECOND))
        looks = iter(video.scan(path, probed=facts, every=every, reader=parameters["reader"], hdr="tone_map"))
    spans = find_bars(looks, frames=frames)
    widest = union_of(spans, start_frame=0, end_frame=frames)
    rows = [Attribute(source_id, f"bars.{side}", float(lines), None, "bars", VERSION) for side, lines in asdict(widest).items()]
    if len(spans) > 1:
        value = [{"start_frame": span.start_frame, "end_frame": span.end_frame, **asdict(span.bars)} for span in spans]
        blob, _ = blobs.put(".json", lambda path: path.write_text(canonical_json(stated(value))))
        rows.append(Attribute(source_id, SPANS, float(len(spans)), None, "bars", VERSION, blob))
    return rows


def spans_of(value: Sequence[Mapping[str, Any]]) -> list[BarSpan]:
    """Spans from the JSON of the blob ``bars.spans``."""
    return [BarSpan(row["start_frame"], row["end_frame"], Bars(*(int(row[side]) for side in _SIDES))) for row in value]


def looked_at(path: str) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    """Frames of a file about ``LOOKS_PER_SECOND``, by timestamps, upright, with their numbers; the first is frame 0."""
    if video.is_image(path):
        yield 0, video.read_image(path)
        return
    following, orientations = 0.0, video.Orientations()
    for number, frame in enumerate(video.Decoder(path)):
        seconds = float(frame.pts * frame.time_base) if frame.pts is not None else number / 30
        if number == 0 or seconds >= following:
            following = max(following + 1 / LOOKS_PER_SECOND, seconds + 0.5 / LOOKS_PER_SECOND)
            # Bars are bars in any range; whether films of high range are taken is decided when they are cut.
            yield number, video.upright(frame, hdr="tone_map", orientations=orientations)


Image = npt.NDArray[np.uint8]

# Of a side; whatever is wider is a dark picture.
LARGEST_SHARE = 0.35
# Of luma, 0..255: brighter borders are coloured bars, which need more proof.
BLACK_LEVEL = 40
# What coding can change in a bar beside a bright picture.
TOLERANCE_LEVELS = 12
# Beside a dark picture: standard deviations of the outermost lines, and levels on top of them.
NOISE_FACTOR, LEAST_TOLERANCE_LEVELS = 3.0, 3.0
COLOURED_TOLERANCE_LEVELS = 6
# Of the side: coloured bars come in equal pairs that are at least so wide.
COLOURED_LEAST_SHARE = 0.02
# How far from the end of a bar coding reaches: one transform block.
RINGING_LINES = 8
# Of the pixels of a line of a bar.
DARK_SHARE = 0.9
# Of the pixels of a line of a bar that text runs through stay dark.
TEXT_SHARE = 0.5
# Share of the pixels along a side that stop being dark where the bar ends.
PLAIN_STEP = 0.5
_CENTRE = (0.36, 0.64)


@dataclass(frozen=True)
class Reading:
    """One side of one frame."""

    width: int
    """Lines; where the end is not plain, the widest that a bar can be."""
    plain: bool
    """True when there is an end that looks like a bar's; a width of 0 is always plain."""


# Top, bottom, left, right.
Readings = tuple[Reading, Reading, Reading, Reading]


def read_edges(frame: Image) -> Readings | None:
    """The four sides of ``uint8[h, w, 3]`` RGB; None for a frame that says nothing, being dark all over."""
    luma = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), np.uint8)
    if np.percentile(luma, 99) <= BLACK_LEVEL and np.ptp(np.percentile(luma, (1, 99))) <= TOLERANCE_LEVELS:
        return None
    height, width = luma.shape
    turned_frame, turned_luma = frame.swapaxes(0, 1), luma.T
    columns = slice(int(_CENTRE[0] * width), int(_CENTRE[1] * width) + 1)

    def between(first: Reading, last: Reading, side: int) -> slice:
        """The lines between two bars; where an end is not plain, all of them, which makes others harder to believe."""
        return slice(first.width if first.plain else 0, side - (last.width if last.plain else 0))

    rows = between(*_both_ends(frame[:, columns], luma[:, columns]), height)
    left, right = _both_ends(turned_frame[:, rows], turned_luma[:, rows])
    columns = between(left, right, width)
    top, bottom = _both_ends(frame[:, columns], luma[:, columns])
    return top, bottom, left, right


def _both_ends(frame: Image, luma: Image) -> tuple[Reading, Reading]:
    levels = [float(np.median(lines)) for lines in (luma[:2], luma[-2:])]
    first, last = (_end(lines, level) for lines, level in zip((luma, luma[::-1]), levels, strict=True))
    nothing = Reading(0, plain=True)
    if min(levels) > BLACK_LEVEL:
        # Of another colour than black only two plain ends are believed, as wide as each other and flat in one colour. Chroma of
        # the picture reaches three lines in.
        flat = [frame[: max(1, first.width - 3)], frame[len(frame) - max(1, last.width - 3) :]]
        colours = [lines.reshape(-1, 3).mean(axis=0) for lines in flat]
        alike = float(np.abs(colours[0] - colours[1]).max()) <= COLOURED_TOLERANCE_LEVELS
        even = max(float(lines.reshape(-1, 3).std(axis=0).max()) for lines in flat) <= COLOURED_TOLERANCE_LEVELS / 2
        equal = abs(first.width - last.width) <= 2 and first.width >= COLOURED_LEAST_SHARE * len(frame)
        return (first, last) if first.plain and last.plain and equal and alike and even else (nothing, nothing)
    return first if levels[0] <= BLACK_LEVEL else nothing, last if levels[1] <= BLACK_LEVEL else nothing


def _end(luma: Image, level: float) -> Reading:
    """The bar at the start of the first axis whose outermost lines have that level."""
    limit = min(len(luma) - 3, int(LARGEST_SHARE * len(luma)) + 3)
    distance = np.abs(luma[:limit] - np.float32(level))
    noise = NOISE_FACTOR * float(luma[:2].std()) + LEAST_TOLERANCE_LEVELS
    loose = _reading(np.mean(distance <= TOLERANCE_LEVELS, axis=1))
    close = _reading(np.mean(distance <= min(noise, TOLERANCE_LEVELS), axis=1))
    # Beside a bright picture coding changes the last lines of a bar; beside a dark one only the close look sees its end.
    nearby = loose.plain and loose.width <= close.width + RINGING_LINES
    return close if close.plain and close.width and not nearby else loose


def _reading(alike: npt.NDArray[np.float64]) -> Reading:
    """From the share of pixels in each line, from the border inwards, that look like the bar."""
    if alike[0] < DARK_SHARE:
        return Reading(0, plain=True)
    widest: int | None = None
    for line in range(1, len(alike) - 2):
        if alike[line] >= DARK_SHARE or alike[line - 1] < DARK_SHARE:
            continue
        width = line + int(alike[line] > 1 - PLAIN_STEP and alike[line] - alike[line + 1] > PLAIN_STEP / 2)
        if alike[line - 1] - alike[width : width + 2].mean() >= PLAIN_STEP:
            return Reading(width, plain=True)
        widest = line if widest is None else widest
        if alike[line : line + 3].min() < TEXT_SHARE:
            break
    return Reading(len(alike) if widest is None else widest, plain=False)
