"""Letterbox and pillarbox bars of a source: those that stay, and those that come, go or change."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.curation.bar_edges import Reading, Readings, read_edges
from inpaintbench.curation.location import open_path
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Attribute, Plain, Source, canonical_json, stated
from inpaintbench.workspace import Blobs

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
    """How many lines to cut off at each side, in upright pixels."""

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
    return list(_spans(looks, states, frames))


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
    spans = spans_of(json.loads(blobs.path(str(facts[SPANS])).read_bytes()))
    if fps == source_fps:
        return union_of(spans, start_frame=start_frame, end_frame=end_frame)
    # Where the source's rate varies the same time is another frame, so half a second around counts, too.
    slack, scale = 0.5 * source_fps, source_fps / fps
    return union_of(spans, start_frame=int(start_frame * scale - slack), end_frame=int(end_frame * scale + slack) + 1)


def _spans(looks: Sequence[_Look], states: Sequence[Bars], frames: int) -> Iterator[BarSpan]:
    pieces = [(0, states[0])]
    for (before, now), (one, other) in zip(pairwise(looks), pairwise(states), strict=True):
        if one != other:
            pieces += [(before.frame + 1, one.union(other)), (now.frame, other)]
    ends = [start for start, _ in pieces[1:]] + [frames]
    covered = [BarSpan(start, end, bars) for (start, bars), end in zip(pieces, ends, strict=True) if start < end]
    for _, group in groupby(covered, key=lambda span: span.bars):
        same = list(group)
        yield BarSpan(same[0].start_frame, same[-1].end_frame, same[0].bars)


def _believed(looks: Sequence[_Look], side: int) -> list[int]:
    """The width of one side's bar at every look."""
    known = [(index, look.readings[side]) for index, look in enumerate(looks) if look.readings]
    plain = [(index, reading.width) for index, reading in known if reading.plain]
    always = _constant(known)
    if always is not None:
        return [always if _opposite_is_told(looks, side) else 0] * len(looks)
    widths: list[int | None] = [None] * len(looks)
    for run in _runs(plain):
        width = _usual([width for _, width in run])
        if width < LEAST_WIDTH or (len(run) >= LEAST_LOOKS and _symmetrical(looks, run, side)):
            for index, _ in run:
                widths[index] = width if width >= LEAST_WIDTH else 0
    return _filled(widths, [look.readings[side] if look.readings else None for look in looks])


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


def _opposite_is_told(looks: Sequence[_Look], side: int) -> bool:
    """Whether it is mostly plain what lies opposite: where it is black as well and has no end, things stand on black."""
    opposite = [look.readings[side ^ 1].plain for look in looks if look.readings]
    return sum(opposite) >= OPPOSITE_TOLD * len(opposite)


def _usual(widths: Sequence[int]) -> int:
    """The most frequent width, of equally frequent ones the largest."""
    return max(Counter(widths).items(), key=lambda entry: (entry[1], entry[0]))[0]


def _runs(plain: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Plain readings in a row that agree."""
    run: list[tuple[int, int]] = []
    for entry in plain:
        if run and abs(entry[1] - run[0][1]) > SAME_WIDTH:
            yield run
            run = []
        run.append(entry)
    if run:
        yield run


def _symmetrical(looks: Sequence[_Look], run: Sequence[tuple[int, int]], side: int) -> bool:
    opposite = side ^ 1
    most = max(SAME_WIDTH, SYMMETRY * looks[0].size[side // 2])
    others = [readings[opposite] for index, _ in run if (readings := looks[index].readings)]
    agreeing = sum(other.plain and abs(other.width - width) <= most for other, (_, width) in zip(others, run, strict=True))
    return agreeing >= 0.5 * len(run)


def _filled(widths: Sequence[int | None], readings: Sequence[Reading | None]) -> list[int]:
    """Widths where none is believed: the wider of the neighbours' that the look allows, else the narrower, else none."""
    filled = []
    for index, width in enumerate(widths):
        if width is None:
            before = next((known for known in reversed(widths[:index]) if known is not None), 0)
            after = next((known for known in widths[index + 1 :] if known is not None), before)
            reading = readings[index]
            widest = reading.width + SAME_WIDTH if reading and not reading.plain else None
            allowed = [known for known in (before, after) if widest is None or known <= widest]
            width = max(allowed, default=0)
        filled.append(width)
    return filled


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
        time_limit_seconds=900.0 + 2 * max((float(found["duration_seconds"]) for found in probes.values()), default=0.0),
    )
    tasks = [
        Task(row.source_id, row.sha256, {"source_id": row.source_id, "where": where[row.source_id], "probe": found}, row.uri)
        for row in sources
        if (found := probes.get(row.source_id))
    ]
    return executor.run(step, tasks)


def find_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Attribute]:
    """Rows ``bars.top`` ... ``bars.right`` with the widest bar at each side, and ``bars.spans`` where the bars change."""
    source_id, found = payload["source_id"], video.Probe.of(payload["probe"])
    path, frames = open_path(payload["where"], blobs), found.frames
    if parameters["reader"] == "pyav":
        looks = looked_at(path)
    else:
        every = max(1, round(found.fps / LOOKS_PER_SECOND))
        looks = iter(video.scan(path, probed=found, every=every, reader=parameters["reader"], hdr="tone_map"))
    spans = find_bars(looks, frames=frames)
    widest = union_of(spans, start_frame=0, end_frame=frames)
    rows = [Attribute(source_id, f"bars.{side}", float(lines), None, "bars", VERSION) for side, lines in asdict(widest).items()]
    if len(spans) > 1:
        value = [{"start_frame": span.start_frame, "end_frame": span.end_frame, **asdict(span.bars)} for span in spans]
        blob, _ = blobs.put(".json", lambda path: path.write_text(canonical_json(stated(value))))
        rows.append(Attribute(source_id, SPANS, float(len(spans)), None, "bars", VERSION, blob))
    return rows


def spans_of(value: Sequence[Mapping[str, Any]]) -> list[BarSpan]:
    """What the blob of ``bars.spans`` holds, read as JSON."""
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
