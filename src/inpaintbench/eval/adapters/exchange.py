"""Write the folder that a program reads, and read what it wrote; and where that makes its task another than the published one."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.errors import MediaError, NotMeasurable
from inpaintbench.eval.adapters.fitting import Divisor, Padding
from inpaintbench.eval.adapters.layouts import Layout, Task
from inpaintbench.lazily import lazily
from inpaintbench.pages.words import count
from inpaintbench.types import Frames, Hole, Prompts

cv2 = lazily("cv2")

# Places that numbers stand for.
NUMBERS = ("{seed}", "{frames}", "{fps}", "{seconds}", "{width}", "{height}")
Picture = npt.NDArray[np.uint8]
_Scalar = TypeVar("_Scalar", np.uint8, np.float32)


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
        """A hole ``bool[H, W]`` for the program: every pixel that a missing one has a share in, so that no filling value passes
        for a picture."""
        padded: npt.NDArray[np.bool_] = self.padding.pad(_resized(missing.astype(np.float32), self.scaled)[None] > 0)[0]
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
    for template, images in ((layout.frame, pictures), (layout.hole, holes)):
        if template is not None and images is not None:
            for index, image in enumerate(images):
                # PNG whatever the name says: readers go by content.
                path = _place(folder, template.format(layout.first + index))
                if image.ndim == 2:
                    bright = image if layout.hole_level == "white" else ~image
                    levels = bright if layout.hole_mode == "1" else bright * np.uint8(layout.hole_value)
                    image = np.repeat(levels[..., None], 3, axis=2) if layout.hole_mode == "RGB" else levels
                video.write_image(path, image)
    if layout.video_in is not None:
        video.write_lossless(_place(folder, layout.video_in), np.stack(pictures), fps=layout.clip_fps)
    if layout.hole_video_in is not None and holes is not None:
        levels = np.where(holes if layout.hole_level == "white" else ~holes, np.uint8(255), np.uint8(0))
        clip = np.repeat(levels[..., None], 3, axis=3)
        video.write_lossless(_place(folder, layout.hole_video_in), clip, fps=layout.clip_fps)


def _place(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def write_edit(folder: Path, prompts: Prompts, object_mask: Iterable[npt.NDArray[np.bool_]]) -> None:
    """Write ``prompts.json`` and, where there is one, the mask of the object as ``object_mask_0000.png``, white = object."""
    told = {"source": prompts.source, "target": prompts.target or None}
    told |= {"instruction": prompts.instruction} if prompts.instruction else {}
    told |= {"hole": prompts.hole} if prompts.hole else {}
    (folder / "prompts.json").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
    for index, inside in enumerate(object_mask):
        video.write_image(folder / f"object_mask_{index:04d}.png", inside)


def write_texts(folder: Path, layout: Layout, places: Mapping[str, str], each: Sequence[Mapping[str, str]]) -> None:
    """Write the text files of a layout: ``files`` once, ``each_frame`` with one line a frame.

    In files that end in .yaml, .yml or .json texts are quoted as JSON, whose strings YAML reads; in .csv their quotation marks
    are doubled. Numbers, and all in other files, stand bare.
    """
    for name, template in layout.files.items():
        quoted, doubled = name.endswith((".yaml", ".yml", ".json")), name.endswith(".csv")
        values = {
            key: json.dumps(value) if quoted and key not in NUMBERS else value.replace('"', '""') if doubled else value
            for key, value in places.items()
        }
        _place(folder, name).write_text(filled(template, values), encoding="utf-8")
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
        clip = _read(video.read_frames, path)
        if len(clip) != written:
            raise NotMeasurable(f"the program's {path.relative_to(folder)} has {len(clip)} frames, wanted {written}")
        return np.stack([_back(frame, path, folder, layout, fit) for frame in clip])[places.start : places.stop]
    assert layout.prediction is not None
    # A frame too many is as much of another count as one too few: nobody knows which of them are which.
    beyond = layout.prediction.format(layout.first + written)
    if any(folder.glob(beyond)):
        raise NotMeasurable(f"the program wrote {beyond} too, wanted {written} frames")
    pictures = []
    for place in places:
        path = _the_one(folder, layout.prediction.format(layout.first + place), layout, len(places))
        pictures.append(_back(_read(video.read_image, path), path, folder, layout, fit))
    return np.stack(pictures)


def _the_one(folder: Path, name: str, layout: Layout, frames: int) -> Path:
    """The file that a name or pattern means."""
    paths = sorted(folder.glob(name)) if "*" in name else [path for path in [folder / name] if path.exists()]
    if not paths:
        raise NotMeasurable(f"the program wrote no {name}, wanted {frames} frames")
    if len(paths) > 1 and not layout.newest:
        raise NotMeasurable(f"the program wrote {len(paths)} files {name}, such as {paths[0].relative_to(folder)}: wanted one")
    return max(paths, key=lambda path: path.stat().st_mtime_ns)


def _read(read: Callable[[Path], Frames], path: Path) -> Frames:
    try:
        return read(path)
    except MediaError as error:
        raise NotMeasurable(f"the program's {error}") from error


def _back(frame: Picture, path: Path, folder: Path, layout: Layout, fit: Fit) -> Picture:
    """A frame that a program wrote, or the part of it that is its result, at the size of the item."""
    if layout.crop_out is not None:
        left, top, across, down = layout.crop_out
        height, width = frame.shape[:2]
        x, y = round(left * width), round(top * height)
        frame = frame[y : y + round(down * height), x : x + round(across * width)]
    width, height = fit.size
    if frame.shape != (height, width, 3):
        wrote = f"the program's {path.relative_to(folder)} is {frame.shape[1]}x{frame.shape[0]}"
        raise NotMeasurable(f"{wrote}, wanted {width}x{height}")
    return fit.back(frame)


def _resized(frame: npt.NDArray[_Scalar], size: tuple[int, int]) -> npt.NDArray[_Scalar]:
    """Means of areas where both sides shrink, else between neighbours; neither has negative shares."""
    height, width = frame.shape[:2]
    if size == (width, height):
        return frame
    shrinks = size[0] <= width and size[1] <= height
    return np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR), frame.dtype)


class Shape(NamedTuple):
    """What decides how an item is handed over."""

    width: int
    height: int
    frames: int
    blanked: bool
    """The hole holds the dataset's filling, where no picture is."""
    captioned: bool = False
    """Somebody says what it shows."""


def departures(layout: Layout, shapes: Iterable[Shape], *, task: Task, divisor: Divisor) -> list[str]:
    """Sentences on a run: another task, what is under the hole, sizes and numbers of frames that were changed, its own ways.

    Args:
        layout: of the program.
        shapes: of the run's items.
        task: of the dataset.
        divisor: multiples that the sides are padded to.
    """
    counted, told = Counter(shapes), []
    if task not in layout.task:
        told.append(f"Made for {' and '.join(layout.task)}, and run here on {task}.")
    if layout.hole_fill is not None:
        told.append(f"Finds the colour {layout.hole_fill} under the hole, as it wants it, and not what other methods find there.")
    if layout.looks_into and any(shape.blanked for shape in counted):
        told.append(f"{layout.looks_into}: here it finds the filling of the hole, since no method sees the truth.")
    if task != "editing" and any("{prompt}" in text for text in (*layout.started, *layout.files.values())):
        silent = sum(number for shape, number in counted.items() if not shape.captioned)
        partly = f", of {count(silent, 'item')} an empty one" if silent else ""
        said = "an empty one" if silent == counted.total() else f"the item's caption{partly}"
        told.append(f"Takes a prompt, and gets {said}.")
    told += [*_sizes(layout, counted, divisor), *_lengths(layout, counted)]
    if layout.dilates != "none":
        told.append(f"Grows the hole by itself ({layout.dilates}), so it is shown less than other methods.")
    if layout.composites == "no":
        told.append("Gives whole frames of its own; known pixels are not the input's.")
    elif layout.composites == "blurred":
        told.append("Blends its result into known pixels around the hole.")
    if not layout.seeded:
        told.append("Two runs differ: it takes no seed.")
    return told


def _sizes(layout: Layout, shapes: Counter[Shape], divisor: Divisor) -> Iterator[str]:
    resized: Counter[tuple[int, int]] = Counter()
    for shape, items in shapes.items():
        padding = Padding.of(shape.height, shape.width, divisor)
        width, height = shape.width + padding.left + padding.right, shape.height + padding.top + padding.bottom
        scaled = Fit.of(layout, width=width, height=height).scaled
        if scaled != (width, height):
            resized[scaled] += items
    if resized:
        sizes = ", ".join(f"{width}x{height}" for width, height in sorted(resized)[:3])
        more = f" and {len(resized) - 3} more sizes" if len(resized) > 3 else ""
        yield f"Works at {sizes}{more}: {_are(resized.total())} resized to that, and the results back."


def _lengths(layout: Layout, shapes: Counter[Shape]) -> Iterator[str]:
    rule = layout.frames_rule
    longer: Counter[tuple[int, int]] = Counter()
    cut = 0
    for shape, items in shapes.items():
        try:
            windows = rule.windows(shape.frames)
        except NotMeasurable:  # told as the failure that it is
            continue
        cut += items if len(windows) > 1 else 0
        lengths = {window.end - window.start for window in windows}
        longer.update({(length, rule.count(length)): items for length in lengths if rule.count(length) != length})
    if longer:
        (before, after), _ = longer.most_common(1)[0]
        yield f"Takes other numbers of frames: some are repeated ({before} become {after}) and cut off again."
    if cut:
        yield f"{_are(cut)} longer than it takes: it fills windows that share {rule.overlap} frames."


def _are(items: int) -> str:
    return f"{count(items, 'item')} {'is' if items == 1 else 'are'}"
