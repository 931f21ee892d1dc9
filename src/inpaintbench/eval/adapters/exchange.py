"""Write the folder that a program reads, and read what it wrote."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Padding
from inpaintbench.eval.adapters.layouts import Layout
from inpaintbench.types import Frames, Hole, Prompts

# Places that numbers stand for.
NUMBERS = ("{seed}", "{frames}", "{fps}", "{seconds}", "{width}", "{height}")
Picture = npt.NDArray[np.uint8]


class Fit(NamedTuple):
    """Size at which a program works: frames are scaled to it, then padded; its result is cropped and scaled back."""

    scaled: tuple[int, int]
    """Width and height before the padding."""
    padding: Padding
    given: tuple[int, int]
    """Width and height of the item's frames."""

    @classmethod
    def of(cls, layout: Layout, *, width: int, height: int) -> Fit:
        """The size that a layout takes alone; the item's, padded to the least sides; or the largest of its aspect that the area
        allows, padded to the divisor."""
        scaled = layout.size or (layout.square_size if width == height else None) or (width, height)
        padding = Padding(0, 0, 0, 0)
        least = layout.least_side
        shorter, longer = (least, least) if isinstance(least, int) else least
        wide, high = (longer, shorter) if width >= height else (shorter, longer)
        if layout.size is None and (scaled[0] < wide or scaled[1] < high):
            padding = Padding.of(height, width, layout.divisor, least=(wide, high))
        if layout.max_area is not None and layout.size is None and width * height > layout.max_area:
            share = math.sqrt(layout.max_area / (width * height))
            while True:
                scaled = max(int(width * share), 1), max(int(height * share), 1)
                padding = Padding.of(scaled[1], scaled[0], layout.divisor)
                area = (scaled[0] + padding.left + padding.right) * (scaled[1] + padding.top + padding.bottom)
                if area <= layout.max_area or min(scaled) == 1:
                    break
                share *= 0.995  # the padding went beyond the area: half a per cent is less than a pixel at 200
        return cls(scaled, padding, (width, height))

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of what the program is given."""
        top, bottom, left, right = self.padding
        return self.scaled[0] + left + right, self.scaled[1] + top + bottom

    def frame(self, frame: Picture) -> Picture:
        """A frame ``uint8[H, W, 3]`` for the program."""
        padded: Picture = self.padding.pad(_resized(frame, self.scaled)[None])[0]
        return padded

    def hole(self, missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """A hole ``bool[H, W]`` for the program."""
        padded: npt.NDArray[np.bool_] = self.padding.pad(_resized_hole(missing, self.scaled)[None])[0]
        return padded

    def back(self, frame: Picture) -> Picture:
        """A frame of the program at the size of the item."""
        return _resized(self.padding.crop(frame[None])[0], self.given)


def write_input(folder: Path, layout: Layout, frames: Frames, hole: Hole | None, fit: Fit) -> None:
    """Write frames and holes into ``folder``, at the size that the program takes.

    Args:
        folder: an empty folder.
        layout: how.
        frames: ``uint8[T, H, W, 3]``.
        hole: ``bool[T, H, W]``; None where the benchmark hides it: no files of holes then.
        fit: the size.
    """
    pictures = [fit.frame(frame) for frame in frames]
    holes = None if hole is None else np.stack([fit.hole(missing) for missing in hole])
    if layout.hole_fill is not None and holes is not None:
        colour = np.array(layout.hole_fill, np.uint8)
        pictures = [np.where(missing[..., None], colour, frame) for frame, missing in zip(pictures, holes, strict=True)]
    if layout.frame is not None:
        for index, frame in enumerate(pictures):
            _write(folder / layout.frame.format(layout.first + index), frame)
    if layout.hole is not None and holes is not None:
        for index, missing in enumerate(holes):
            _write(folder / layout.hole.format(layout.first + index), _hole_image(missing, layout))
    if layout.video_in is not None:
        _write_clip(folder / layout.video_in, np.stack(pictures), fps=layout.clip_fps)
    if layout.hole_video_in is not None and holes is not None:
        levels = np.where(holes if layout.hole_level == "white" else ~holes, np.uint8(255), np.uint8(0))
        _write_clip(folder / layout.hole_video_in, np.repeat(levels[..., None], 3, axis=3), fps=layout.clip_fps)


def write_edit(folder: Path, prompts: Prompts, object_mask: Iterable[npt.NDArray[np.bool_]]) -> None:
    """Write ``prompts.json`` and, where there is one, the mask of the object as ``object_mask_0000.png``, white = object."""
    told = {"source": prompts.source, "target": prompts.target}
    (folder / "prompts.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    for index, inside in enumerate(object_mask):
        video.write_image(folder / f"object_mask_{index:04d}.png", inside)


def write_texts(folder: Path, layout: Layout, places: Mapping[str, str], each: Sequence[Mapping[str, str]]) -> None:
    """Write the text files of a layout: ``files`` once, ``each_frame`` with one line a frame.

    In files that end in .yaml, .yml or .json texts are quoted as JSON, whose strings YAML reads; numbers, and all in other files,
    stand bare.
    """
    for name, template in layout.files.items():
        quoted = name.endswith((".yaml", ".yml", ".json"))
        values = {key: json.dumps(value) if quoted and key not in NUMBERS else value for key, value in places.items()}
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(template, values), encoding="utf-8")
    for name, template in layout.each_frame.items():
        lines = [filled(template, {**places, **own}) for own in each]
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def filled(text: str, places: Mapping[str, str]) -> str:
    """``text`` with what stands for each place; what stands there is not looked into again."""
    return re.sub(r"\{\w+\}", lambda place: places.get(place[0], place[0]), text)


def read_output(folder: Path, layout: Layout, *, written: int, places: range, fit: Fit) -> Frames:
    """The frames of ``places`` that a program wrote below ``folder``, ``uint8[T, H, W, 3]`` at the size of the item.

    Args:
        folder: where it wrote.
        layout: how.
        written: frames that it should have written.
        places: those that are wanted of them.
        fit: the size at which it works.

    Raises:
        NotMeasurable: they are missing, unreadable, of another size or number, or several files could be meant.
    """
    if layout.video_out is not None:
        path = _the_one(folder, layout.video_out, layout, written)
        return _read_clip(path, folder, layout, written=written, fit=fit)[places.start : places.stop]
    assert layout.prediction is not None
    # A frame too many is as much of another count as one too few: nobody knows which of them are which.
    beyond = layout.prediction.format(layout.first + written)
    if any(folder.glob(beyond)):
        raise NotMeasurable(f"the program wrote {beyond} too, wanted {written} frames")
    names = [layout.prediction.format(layout.first + place) for place in places]
    return np.stack([_read_picture(_the_one(folder, name, layout, len(names)), folder, layout, fit) for name in names])


def _the_one(folder: Path, name: str, layout: Layout, frames: int) -> Path:
    """The file that a name or pattern means."""
    paths = sorted(folder.glob(name)) if "*" in name else [path for path in [folder / name] if path.exists()]
    if not paths:
        raise NotMeasurable(f"the program wrote no {name}, wanted {frames} frames")
    if len(paths) > 1 and not layout.newest:
        raise NotMeasurable(f"the program wrote {len(paths)} files {name}, such as {paths[0].relative_to(folder)}: wanted one")
    return max(paths, key=lambda path: path.stat().st_mtime_ns)


def _read_picture(path: Path, folder: Path, layout: Layout, fit: Fit) -> Picture:
    try:
        frame = _cropped(video.read_image(path), layout)
    except MediaError as error:
        raise NotMeasurable(f"the program's {error}") from error
    _check_size(frame.shape, path, folder, fit)
    return fit.back(frame)


def _read_clip(path: Path, folder: Path, layout: Layout, *, written: int, fit: Fit) -> Frames:
    try:
        clip = video.read_frames(path)
    except MediaError as error:
        raise NotMeasurable(f"the program's {error}") from error
    if len(clip) != written:
        raise NotMeasurable(f"the program's {path.relative_to(folder)} has {len(clip)} frames, wanted {written}")
    pictures = [_cropped(frame, layout) for frame in clip]
    _check_size(pictures[0].shape, path, folder, fit)
    return np.stack([fit.back(frame) for frame in pictures])


def _check_size(shape: tuple[int, ...], path: Path, folder: Path, fit: Fit) -> None:
    width, height = fit.size
    if shape != (height, width, 3):
        raise NotMeasurable(f"the program's {path.relative_to(folder)} is {shape[1]}x{shape[0]}, wanted {width}x{height}")


def _cropped(frame: Picture, layout: Layout) -> Picture:
    if layout.crop_out is None:
        return frame
    left, top, across, down = layout.crop_out
    height, width = frame.shape[:2]
    x, y = round(left * width), round(top * height)
    return frame[y : y + round(down * height), x : x + round(across * width)]


def _write(path: Path, image: npt.NDArray[np.uint8] | npt.NDArray[np.bool_]) -> None:
    """Write PNG whatever the name says: readers go by content."""
    path.parent.mkdir(parents=True, exist_ok=True)
    video.write_image(path, image)


def _write_clip(path: Path, frames: Frames, *, fps: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    video.write_lossless(path, frames, fps=fps)


def _hole_image(missing: npt.NDArray[np.bool_], layout: Layout) -> npt.NDArray[np.uint8] | npt.NDArray[np.bool_]:
    bright = missing if layout.hole_level == "white" else ~missing
    if layout.hole_mode == "1":
        return bright
    levels = bright * np.uint8(layout.hole_value)
    return levels if layout.hole_mode == "L" else np.repeat(levels[..., None], 3, axis=2)


def _resized(frame: Picture, size: tuple[int, int]) -> Picture:
    if size == frame.shape[1::-1]:
        return frame
    return np.asarray(cv2.resize(frame, size, interpolation=_filter(frame.shape, size)), np.uint8)


def _resized_hole(missing: npt.NDArray[np.bool_], size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Every pixel is hole that a missing one has a share in, so that no filling value passes for a picture."""
    if size == missing.shape[::-1]:
        return missing
    shares = cv2.resize(missing.astype(np.float32), size, interpolation=_filter(missing.shape, size))
    return np.asarray(shares > 0)


def _filter(shape: tuple[int, ...], size: tuple[int, int]) -> int:
    """Means of areas where both sides shrink, else between neighbours; neither has negative shares."""
    return cv2.INTER_AREA if size[0] <= shape[1] and size[1] <= shape[0] else cv2.INTER_LINEAR
