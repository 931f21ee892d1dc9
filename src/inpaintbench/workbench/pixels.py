"""Pictures, films and curves of an item: composed from what is stored when they are asked for, and kept for a while.

The films of an item lie as tiles in one file, as those of raters do, so that no two of them can ever show different frames.
"""

from __future__ import annotations

import hashlib
import json
import os
import textwrap
import threading
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.pictures import Grid, Picture, layout, outline, write_sheets
from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.report.gallery import frame_errors, hole_centres
from inpaintbench.eval.report.media import PredictionMedia
from inpaintbench.executors.unfinished import in_progress
from inpaintbench.manifest import column
from inpaintbench.masks.overlays import fonts
from inpaintbench.pages.words import number
from inpaintbench.steps import predict_step
from inpaintbench.tables import to_records
from inpaintbench.types import Clip, Corruption, Frames, Hole, Plain, Prediction, Selection, canonical_json
from inpaintbench.view import composite_in_place
from inpaintbench.workbench.finding import opened
from inpaintbench.workspace import Workspace

TRUTH, INPUT, HOLE = "truth", "input", "hole"
# Quality of films, on the scale of libx264: differences of two levels can hardly be seen.
_CRF = 12
_THUMB_WIDTH = 200
_LARGEST_SIDE = 960
# Masks of a clip that are shown beside it.
_MOST_MASKS = 5
_MOST_ZOOM = 16
# How much brighter an error is shown.
_ERROR = 4
# Films that are kept, bytes; the oldest go first.
_KEPT_BYTES = 2 << 30
# One film is made a core: decoding and encoding take little of the interpreter.
_MAKING = threading.Semaphore(max(1, (os.cpu_count() or 2) - 1))
# Shared out among files by their names: of two requests for one film, the second waits for the first.
_MAKERS = tuple(threading.Lock() for _ in range(64))


@dataclass(frozen=True)
class Part:
    """One film of an item."""

    name: str
    """What it is called."""
    label: str = ""
    """Of the method; without a run which part of the item it is, ``truth``, ``input`` or ``hole``."""
    run: Path | None = None
    item: str = ""
    """Where it is of another item than the one that is asked for: the other of a pair."""


class ItemMedia:
    """The films of the items of a dataset.

    Args:
        root: folder of the dataset.
        cache: where what is made is kept.
        protocol: says what lies around the hole; the usual one of the dataset where it is empty.
    """

    def __init__(self, root: Path, cache: Path, *, protocol: str = "") -> None:
        self.root, self._cache = root, cache
        self.dataset = opened(root)
        self._protocol = PROTOCOLS.get(protocol or usual(self.dataset))

    def row(self, item_id: str) -> Plain:
        """The item's row of the manifest.

        Raises:
            InputError: no such item.
        """
        ids = column(self.dataset, "item_id")
        if item_id not in ids:
            raise InputError(f"the dataset has no item {item_id!r}")
        found: Plain = self.dataset.items[ids.index(item_id)]
        return found

    def parts(self, item_id: str) -> list[Part]:
        """Films of an item besides those of methods."""
        row = self.row(item_id)
        there = [TRUTH] if frozen.has_truth(row) and not frozen.is_unpaired(row) else []
        there += [] if frozen.is_edit(row) else [INPUT]
        return [Part(name, name) for name in there]

    def alone(self, item_id: str) -> list[Part]:
        """Films of an item that nobody filled: its input as one that the truth can be wiped over, and its hole."""
        return [*self.parts(item_id), *([Part(HOLE, HOLE)] if frozen.has_hole(self.row(item_id)) else [])]

    def frames(self, item_id: str, part: Part) -> Frames | None:
        """``uint8[T, H, W, 3]``; None where a method has no prediction that can be shown."""
        if part.run is None:
            row = self.row(item_id)
            if part.label == HOLE:
                return _white(frozen.hole_of(self.root, row))
            return (
                frozen.truth_of(self.root, row)
                if part.label == TRUTH
                else frozen.input_view(self.root, row, oracle_mask=True).input
            )
        workspace = Workspace(part.run, create=False)
        rows = _predicted(workspace, part.label, item_id)
        row = self.row(item_id)
        if not rows:
            return None
        if not frozen.is_held_back(row):
            media = PredictionMedia(self.root, self.dataset, workspace.blobs, rows, protocol=self._protocol)
            return media.frames(item_id, part.label)
        # Nobody here has the truth: what was predicted, in the input.
        predicted, hole = video.read_frames(workspace.blobs.proved(rows[0].blob)), self.hole(item_id)
        if rows[0].full_frames or hole is None:
            return predicted
        return composite_in_place(frozen.input_view(self.root, row, oracle_mask=True).input, hole, predicted)

    def hole(self, item_id: str) -> Hole | None:
        """``bool[T, H, W]``; None where every pixel is degraded."""
        row = self.row(item_id)
        return frozen.hole_of(self.root, row) if frozen.has_hole(row) else None

    def blobs(self, item_id: str, parts: Sequence[Part]) -> list[str]:
        """What the films are made of: they are made anew where it changes."""
        row = self.row(item_id)
        protocol = [self._protocol.name, self._protocol.fingerprint]
        own = [str(row.get(name)) for name in ("truth_rgb_sha256", "hole_sha256", "input_sha256", "fill")]
        return protocol + own + [_blob(part, part.item or item_id) for part in parts]


def _blob(part: Part, item_id: str) -> str:
    if part.run is None:
        return ""
    return ",".join(row.blob for row in _predicted(Workspace(part.run, create=False), part.label, item_id))


def _predicted(workspace: Workspace, label: str, item_id: str) -> list[Prediction]:
    """The prediction of an item, also of a step that is not at its end."""
    step = predict_step(label)
    if step in workspace.steps("predictions"):
        rows = workspace.columns("predictions", Prediction, where=("item_id", [item_id]), step=step).to_pylist()
    else:
        going = ((plan, stored) for plan, stored in in_progress(workspace) if plan.step == step)
        found = (row for plan, stored in going for table in stored.rows(plan.entries(stored)) for row in table.to_pylist())
        rows = [row for row in found if row["item_id"] == item_id]
    return [Prediction(**row) for row in rows]


def sheet(media: ItemMedia, cache: Path, item_id: str, parts: Sequence[Part], *, manner: str = "", base: str = ""
) -> dict[str, Any]:  # fmt: skip
    """The films of an item as the player takes them: the file's name, its tiles, the outline of the hole, and curves over time.

    Args:
        media: of the item's dataset.
        cache: folder for the file.
        item_id: of the item.
        parts: in the order in which they are shown; those that have nothing to show are left out and named in ``missing``.
        manner: empty for films as they are; ``error`` for four times their distance from the truth, ``difference`` for that
            from a method. What each film is a distance from stands in its label.
        base: name of that method; the first by default.

    Raises:
        InputError: no part can be shown. InpaintBenchError: the item's own files are damaged.
    """
    parts_told = [[part.name, part.label, str(part.run), part.item] for part in parts]
    key = _digest(item_id, str(media.root), manner, base, _CRF, parts_told, media.blobs(item_id, parts))
    path, told = cache / f"{key}{video.suffix_for(int(media.row(item_id)['frames']))}", cache / f"{key}.json"
    made_once(told, lambda: _make(media, path, told, item_id, parts, manner, base), whole=path.exists)
    with suppress(FileNotFoundError):  # let go of meanwhile: an empty one in its place would stay
        os.utime(path)
    found: dict[str, Any] = json.loads(told.read_text())
    return found | {"file": path.name}


@dataclass(frozen=True)
class Films:
    """Films of an item that can be shown, as they are drawn."""

    parts: list[Part]
    frames: list[Frames]
    drawn: list[Frames]
    labels: list[str]
    """What each is called, and what it is a distance from."""
    missing: dict[str, str]
    caption: str


def films_of(media: ItemMedia, item_id: str, parts: Sequence[Part], manner: str, base: str) -> Films:
    """The parts of an item that can be shown; ``manner`` and ``base`` as for ``sheet``, as is what it raises."""
    shown: list[tuple[Part, Frames]] = []
    missing: dict[str, str] = {}
    for part in parts:
        try:
            frames = media.frames(part.item or item_id, part)
        except InpaintBenchError as error:
            missing[part.name] = str(error)
            continue
        if frames is None:
            missing[part.name] = "it has no prediction of this item"
        elif shown and frames.shape != shown[0][1].shape:
            missing[part.name] = "it has another size or length"
        else:
            shown.append((part, frames))
    if not shown:
        raise InputError(f"nothing of item {item_id} can be shown: {'; '.join(missing.values())}")
    ran = [part for part, _ in shown if part.run]
    of = next((part for part in ran if part.name == base), ran[0] if ran else None)
    of_method = {part.item: frames for part, frames in shown if of and (part.run, part.label) == (of.run, of.label)}
    froms = {"error": _truths(shown), "difference": of_method}.get(manner, {})
    called = f" ×{_ERROR} from {TRUTH if manner == 'error' or of is None else of.name}"
    apart = [part.run is not None and part.item in froms for part, _ in shown]
    drawn = [_apart(frames, froms[part.item]) if far else frames for (part, frames), far in zip(shown, apart, strict=True)]
    labels = [part.name + called * far for (part, _), far in zip(shown, apart, strict=True)]
    caption = f"Films of methods show their difference{called}, in absolute values." if any(apart) else ""
    return Films([part for part, _ in shown], [frames for _, frames in shown], drawn, labels, missing, caption)


def _truths(shown: Iterable[tuple[Part, Frames]]) -> dict[str, Frames]:
    return {part.item: frames for part, frames in shown if part.label == TRUTH and part.run is None}


def _make(media: ItemMedia, path: Path, told: Path, item_id: str, parts: Sequence[Part], manner: str, base: str) -> None:
    row, hole = media.row(item_id), media.hole(item_id)
    films = films_of(media, item_id, parts, manner, base)
    shown = list(zip(films.parts, films.frames, strict=True))
    truths = _truths(shown)
    holes = {name: hole if not name else media.hole(name) for name in truths}
    curves = [
        {"name": part.name, "values": frame_errors(truths[part.item], frames, hole=holes[part.item])}
        for part, frames in shown
        if part.run and part.item in truths
    ]
    height, width = shown[0][1].shape[1:3]
    grid = layout(len(shown) + (hole is not None), width=width, height=height, largest_side=_LARGEST_SIDE)
    lines = [] if hole is None else [hole]
    fps = float(row["fps"]) or 1.0

    def sheets() -> Iterator[Picture]:
        for at in range(int(row["frames"])):
            pictures = [frames[at] for frames in films.drawn]
            pictures += [outline(one[at], size=grid.picture) for one in lines]
            yield grid.sheet(pictures)

    with _whole(path) as made:
        write_sheets(made, sheets(), fps=fps, **({} if path.suffix == ".png" else {"crf": _CRF}))
    places = [_tile(grid, at) for at in range(grid.count)]
    candidates = iter(range(len(shown)))
    filled = {part.name for part, _ in shown if part.run} or {
        part.name for part, _ in shown if part.label == INPUT
    }  # in the middle
    players: list[dict[str, Any]] = [
        {"label": films.labels[at], "name": part.name}
        | {"role": "candidate" if part.name in filled else "original" if part.name == TRUTH else "reference"}
        | {"place": next(candidates) if part.name in filled else None} | dict[str, Any](places[at])
        for at, (part, _) in enumerate(shown)
    ]  # fmt: skip
    kind = "image" if path.suffix == ".png" else "video"
    size = dict(zip(("width", "height"), grid.size, strict=True))
    facts = {
        "media": {"kind": kind, "fps": fps, "frames": int(row["frames"]), **size},
        "players": players, "group": 2 if any(part.item for part in films.parts) else 1,
        "outline": places[-1] if lines else None, "centres": [] if hole is None else hole_centres(hole),
        "missing": films.missing, "curves": curves, "caption": films.caption,
    }  # fmt: skip
    with _whole(told) as made:
        made.write_text(canonical_json(facts))


def _tile(grid: Grid, at: int) -> dict[str, Any]:
    """Place and size of a tile."""
    return dict(zip("xy", grid.place(at), strict=True)) | dict(zip(("width", "height"), grid.tile, strict=True))


def made_once(path: Path, make: Callable[[], object], *, whole: Callable[[], bool] = lambda: True) -> None:
    """Have ``make`` write ``path`` where it, or what has to stand beside it, is not there; once, however many ask for it."""
    with _MAKERS[zlib.crc32(path.name.encode()) % len(_MAKERS)], _MAKING:
        if not (path.exists() and whole()):
            make()


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file to write, which takes the place of ``path`` when the block ends well: others may make or read it meanwhile."""
    made = path.with_name(f".{uuid.uuid4().hex}{path.suffix}")
    try:
        yield made
        made.replace(path)
    finally:
        made.unlink(missing_ok=True)


def _apart(frames: Frames, base: Frames) -> Frames:
    """Four times the distance of each sample, at most 255."""
    return np.stack(
        [
            np.minimum(cv2.absdiff(one, other).astype(np.uint16) * _ERROR, 255).astype(np.uint8)
            for one, other in zip(frames, base, strict=True)
        ]
    )


def cut(path: Path, told: Plain) -> Films:
    """The films that lie as tiles in a file, as raters or the page get it; ``told`` as the player takes them."""
    whole, [first, *_] = video.read_frames(path), told["players"]
    tiles = [one for one in told["players"] if (one["width"], one["height"]) == (first["width"], first["height"])]
    frames = [whole[:, one["y"] : one["y"] + one["height"], one["x"] : one["x"] + one["width"]] for one in tiles]
    labels = [str(one["label"]) for one in tiles]
    return Films([Part(label) for label in labels], frames, frames, labels, {}, told.get("caption", ""))


def labelled_film(films: Films, path: Path, *, fps: float) -> None:
    """Write films side by side with their names above them, as H.264 in MP4."""
    with _whole(path) as made:
        video.write_browser(made, _labelled(films.labels, films.drawn), fps=fps or 1.0, crf=_CRF)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a page shows of its films: the zoomed part, and what lies right of a wipe's line."""

    window: tuple[float, float, float] = (1.0, 0.0, 0.0)
    """Factor, and the place of the part in what is left, x and y from 0 to 1."""
    wipe: float = 0.5
    """Place of the line, a share of the part."""
    over: Mapping[str, str] = field(default_factory=dict)
    """Name of a film -> name of the film that lies over it."""


def labelled_frame(films: Films, frame: int, *, seen: Seen, title: str) -> bytes:
    """One frame of the films as it is ``seen``, as PNG, with their names above and item and frame below.

    Each pixel is repeated as often as the zoom or the names above ask for.

    Raises:
        InputError: there is no such frame, part or film.
    """
    factor, x, y = seen.window
    if not 0 <= frame < len(films.frames[0]) or not (1 <= factor <= _MOST_ZOOM and 0 <= x <= 1 and 0 <= y <= 1):
        raise InputError(f"{title} has no frame {frame + 1}, or it cannot be zoomed like this")
    height, width = films.frames[0].shape[1:3]
    tall, wide = max(1, round(height / factor)), max(1, round(width / factor))
    top, left = round(y * (height - tall)), round(x * (width - wide))
    larger = max(round(factor), -(-_ROOM_FOR_NAMES // wide))
    pictures = {
        part.name: one[frame, top : top + tall, left : left + wide].repeat(larger, 0).repeat(larger, 1)
        for part, one in zip(films.parts, films.drawn, strict=True)
    }
    called = dict(zip(pictures, films.labels, strict=True))
    if strange := ({*seen.over, *seen.over.values()} - pictures.keys()) or not 0 <= seen.wipe <= 1:
        raise InputError(f"{title} shows no film {strange!r} to lay over another, or no wipe at {seen.wipe}")
    line, wiped, labels = round(seen.wipe * wide * larger), dict(pictures), dict(called)
    for name, other in seen.over.items():
        wiped[name] = np.concatenate([pictures[name][:, :line], pictures[other][:, line:]], axis=1)
        wiped[name][:, max(line - 1, 0) : line + 1] = 255
        labels[name] = f"{called[name]} | {called[other]}"
    [sheet] = _labelled(list(labels.values()), [picture[None] for picture in wiped.values()])
    told = f"{title}, frame {frame + 1} of {len(films.frames[0])}" + f", {number(factor)}× of a part" * (factor > 1)
    lines = textwrap.wrap(f"{told}. {films.caption}".strip(), max(20, sheet.shape[1] // _LETTER))
    return video.png_bytes(np.concatenate([sheet, *(_bar(line, sheet.shape[1]) for line in lines)]))


def _labelled(labels: Sequence[str], films: Sequence[Frames]) -> Iterator[Picture]:
    """Films side by side with their names above them."""
    height, width = films[0].shape[1:3]
    # People look at this file as it is, so nothing is repeated below a picture; 4:2:0 needs even sides alone.
    grid = replace(layout(len(films), width=width, height=height + _BAR, largest_side=_LARGEST_SIDE), block=2)
    bars = [_bar(label, width) for label in labels]
    for at in range(len(films[0])):
        yield grid.sheet([np.concatenate([bar, frames[at]]) for bar, frames in zip(bars, films, strict=True)])


_BAR, _LETTERS = 24, 13  # pixels; of the letters, an em
# Least width of a picture that is sent, pixels: names above narrower ones would be cut.
_ROOM_FOR_NAMES = 280
_LETTER = 8  # pixels that a letter of the bars takes, about


def _bar(text: str, width: int) -> Picture:
    """A name or caption, in the bundled font and, where that lacks letters, in an installed one; what none has is a `?`."""
    from PIL import Image, ImageDraw

    bar, left = Image.new("RGB", (width, _BAR), (20, 22, 26)), 6.0
    for piece, file in _pieces(text):
        font = fonts.load(file, _LETTERS)
        ImageDraw.Draw(bar).text((left, _BAR - 7), piece, fill=(240, 240, 240), font=font, anchor="ls")
        left += font.getlength(piece)
    return np.asarray(bar, np.uint8)


@lru_cache(maxsize=256)
def _pieces(text: str) -> list[tuple[str, fonts.FontFile]]:
    for lacking in (False, True):
        if lacking:
            text = "".join("?" if fonts.missing(fonts.find_font(fonts.BUNDLED), letter) else letter for letter in text)
        with suppress(InputError):
            return fonts.split_by_font(text, fonts.BUNDLED, bold=False, italic=False, substitute=True)
    return []


def thumb_of(media: ItemMedia, item_id: str, parts: Sequence[Part], cache: Path) -> Path:
    """The middle frame of the last part that can be shown, as a small JPEG in the cache.

    Raises:
        InputError: there is none.
    """
    for part in reversed(parts):
        path = cache / f"{_digest(item_id, str(media.root), part.name, media.blobs(item_id, [part]))}.jpg"
        made_once(path, lambda path=path, part=part: _write_thumb(path, media.frames(item_id, part)))  # type: ignore[misc]
        if path.exists():
            return path
    raise InputError(f"there is no picture of item {item_id}")


def thumb_of_clip(workspace: Path, clip_id: str, cache: Path) -> Path:
    """The middle frame of a clip of a workspace, as a small JPEG in the cache."""
    return thumb_of_film(clip_file(workspace, clip_id), cache)


def thumb_of_film(film: Path, cache: Path) -> Path:
    """The middle frame of a file, as a small JPEG in the cache."""
    path = cache / f"{_digest(str(film))}.jpg"
    made_once(path, lambda: _write_thumb(path, video.read_frames(film)))
    return path


def _write_thumb(path: Path, frames: Frames | None) -> None:
    if frames is None:
        return
    middle = frames[len(frames) // 2]
    size = (_THUMB_WIDTH, max(2, round(middle.shape[0] * _THUMB_WIDTH / middle.shape[1])))
    with _whole(path) as made:
        made.write_bytes(video.jpeg_bytes(np.asarray(cv2.resize(middle, size, interpolation=cv2.INTER_AREA), np.uint8)))


def _digest(*parts: object) -> str:
    return hashlib.sha256(canonical_json(list(parts)).encode()).hexdigest()[:40]


def tidy(cache: Path) -> None:
    """Let go of what was not looked at for longest, as much as is too much."""
    files = sorted((path for path in cache.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime, reverse=True)
    held = 0
    for path in files:
        held += path.stat().st_size
        if held > _KEPT_BYTES:
            path.unlink(missing_ok=True)


def _clip(workspace: Workspace, clip_id: str) -> Clip:
    clip = next((row for row in workspace.table("clips", Clip) if row.clip_id == clip_id), None)
    if clip is None:
        raise InputError(f"the workspace has no clip {clip_id!r}")
    return clip


def clip_file(workspace: Path, clip_id: str) -> Path:
    """The film of a clip of a workspace, its bytes compared with their hash.

    Raises:
        InputError: no such clip. VerifyError: it is damaged.
    """
    opened_one = Workspace(workspace, create=False)
    return opened_one.blobs.proved(_clip(opened_one, clip_id).blob)


def of_clip(workspace: Path, clip_id: str, cache: Path) -> dict[str, Any]:
    """A clip of a workspace as the player takes it, with its masks beside it: a ``file`` of the cache."""
    opened_one = Workspace(workspace, create=False)
    clip, blobs = _clip(opened_one, clip_id), opened_one.blobs
    verdicts = [
        (f"{'Kept' if row.keep else 'Dropped'} by {row.rule}", row.reason or str(row.value))
        for row in to_records(opened_one.columns("selection", Selection, where=("clip_id", {clip_id})), Selection)
    ]
    made = to_records(opened_one.columns("corruptions", Corruption, where=("clip_id", {clip_id})), Corruption)
    masked = [(f"{row.generator} ({row.corruption_id[:6]})", row.hole) for row in made if row.hole]
    masks = dict[str, str](masked[:_MOST_MASKS])
    path = cache / f"{_digest(clip.blob, list(masks.values()))}{video.suffix_for(clip.frames)}"
    grid = layout(1 + len(masks), width=clip.width, height=clip.height, largest_side=_LARGEST_SIDE)

    def write() -> None:
        films = [
            video.read_frames(blobs.proved(clip.blob)),
            *(_white(video.read_hole(blobs.proved(one))) for one in masks.values()),
        ]
        sheets = (grid.sheet([film[at] for film in films]) for at in range(clip.frames))
        with _whole(path) as whole:
            write_sheets(whole, sheets, fps=clip.fps or 1.0, **({} if path.suffix == ".png" else {"crf": _CRF}))

    made_once(path, write)
    size = dict(zip(("width", "height"), grid.size, strict=True))
    media = {"kind": "video" if clip.frames > 1 else "image", "fps": clip.fps or 1.0, "frames": clip.frames, **size}
    players = [
        {"label": label, "name": label, "role": "reference" if at else "clip", "place": None if at else 0, **_tile(grid, at)}
        for at, label in enumerate(("clip", *masks))
    ]
    return {
        "media": media, "players": players, "outline": None, "missing": {}, "curves": [], "verdicts": verdicts,
        "file": path.name,
        "caption": f"The first {len(masks)} of {len(masked)} masks are shown." if len(masked) > len(masks) else "",
    }  # fmt: skip


def _white(hole: Hole) -> Frames:
    """A hole as white on black."""
    return np.repeat(hole.view(np.uint8)[..., None] * np.uint8(255), 3, axis=-1)
