"""Still images: reading, writing and scaling them, and which files of a folder are the frames of a sequence, in which order.

Frames are ordered by the number in their names: the only one that differs from name to name. What stands around it, other
numbers included (``clip_2_0001_480p.png``), is the same for all. Counting may begin anywhere (DAVIS at 00000, ffmpeg at 1), with
or without leading zeros. A gap, two files of one number (``1.png`` with ``01.png`` or ``1.jpg``) and a name without a number are
refused: each is a frame in the wrong place as easily as nothing at all. Hidden files (``.DS_Store``, ``._0001.png``), folders and
files that are no images by their endings (``Thumbs.db``, ``info.json``) are no frames; an image alone needs no number.

Folders whose names are keys, such as one picture for each item, are not numbered and have no order.
"""

from __future__ import annotations

import fnmatch
import io
import math
import os
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import av
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from inpaintbench.errors import MediaError, reason_of
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames
from inpaintbench.video.suffixes import is_image

cv2 = lazily("cv2")

# Those of files that Pillow reads by itself: for others it runs programs (Ghostscript for EPS), whatever the name ends in.
_FORMATS = ("PNG", "JPEG", "BMP", "DIB", "WEBP", "TIFF", "GIF", "PPM", "JPEG2000", "TGA")


def suffix_for(frames: int) -> str:
    """File name ending of a clip of so many frames: ``.png`` for a single frame, else ``.mp4``."""
    return ".png" if frames == 1 else ".mp4"


def read_image(path: Path | str) -> npt.NDArray[np.uint8]:
    """Read an image as ``uint8[H, W, 3]`` RGB, rotated upright by its EXIF tag.

    Raises:
        MediaError: not an image.
    """
    try:
        with Image.open(path, formats=_FORMATS) as image:
            shown = ImageOps.exif_transpose(image)
            if shown.mode == "F":
                raise MediaError(f"{Path(path).name} holds real numbers, which have no agreed range; save it with 8 bits")
            if shown.mode.startswith("I"):
                levels = np.asarray(shown)
                if shown.mode != "I" or levels.max(initial=0) >= 256:
                    # The upper 8 bits of 16-bit grey: Pillow's own conversion would clip values above 255 to white.
                    shown = Image.fromarray((levels >> 8).astype(np.uint8))
            return np.asarray(shown.convert("RGB"))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise MediaError(f"{Path(path).name} cannot be opened as an image: {reason(error)}") from error


def write_image(path: Path | str, image: npt.NDArray[np.uint8] | npt.NDArray[np.bool_]) -> None:
    """Write ``uint8[H, W, 3]`` RGB, ``uint8[H, W]`` grey or ``bool[H, W]`` (one bit a pixel) as PNG."""
    Image.fromarray(np.ascontiguousarray(image)).save(path, format="PNG")


def png_bytes(image: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> bytes:
    """Encode ``uint8[H, W, 3]`` RGB, ``uint8[H, W]`` or ``uint16[H, W]`` grey as the bytes of a PNG file."""
    return _encoded(image, format="PNG")


def jpeg_bytes(image: npt.NDArray[np.uint8]) -> bytes:
    """Encode ``uint8[H, W, 3]`` RGB as the bytes of a JPEG file, for looking at only."""
    return _encoded(image, format="JPEG", quality=88)


def _encoded(image: npt.NDArray[Any], **how: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(buffer, **how)
    return buffer.getvalue()


# Index images

# Largest difference between the channels of a grey pixel that went through JPEG.
_GREY_SPREAD = 32


def read_index_image(path: Path | str) -> npt.NDArray[np.uint8]:
    """Read an index image (object numbers or grey levels) as ``uint8[H, W]``, upright.

    A colour palette yields its indices (DAVIS and YouTube-VOS number objects so), a grey palette its grey levels; one bit yields
    0 and 255; equal channels yield their grey level, whatever the alpha, and an image of one colour its alpha.

    Raises:
        MediaError: not an image, channels that differ, or values above 255.
    """
    name = Path(path).name
    try:
        with Image.open(path, formats=_FORMATS) as image:
            return _index_values(ImageOps.exif_transpose(image), name)
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError, SyntaxError) as error:
        raise MediaError(f"{name} cannot be opened as an image: {reason(error)}") from error


def _index_values(image: Image.Image, name: str) -> npt.NDArray[np.uint8]:
    if image.mode == "P":
        palette = np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3)
        return np.array(image.convert("L") if not np.ptp(palette, axis=1).any() else image)
    if image.mode in ("1", "L"):
        return np.array(image.convert("L"))
    if image.mode.startswith(("I", "F")):
        values = np.array(image)
        if values.min() < 0 or values.max() > 255 or (values % 1).any():
            raise MediaError(f"{name} holds values up to {values.max():g}, but a mask has whole numbers 0..255: save it as 8 bit")
        return values.astype(np.uint8)
    pixels = np.array(image.convert("RGBA"))
    colours, opacity = pixels[..., :3], pixels[..., 3]
    if not (colours != colours[0, 0]).any() and (opacity != opacity[0, 0]).any():
        return opacity.copy()
    spread = int((colours.max(axis=2) - colours.min(axis=2)).max())
    if spread > _GREY_SPREAD:
        raise MediaError(f"{name} is a picture in colours, but a mask is black and white, grey, or numbers objects by a palette")
    return np.asarray(cv2.cvtColor(colours, cv2.COLOR_RGB2GRAY), np.uint8)


def reason(error: BaseException) -> str:
    """Message of an error, without the path."""
    if isinstance(error, UnidentifiedImageError):
        return "it is no image that Pillow knows"
    if isinstance(error, av.FFmpegError):  # no ``OSError``, and its text tells the whole path
        return error.strerror or type(error).__name__
    return reason_of(error) or type(error).__name__


# Of each frame; GIF needs a duration, and its value changes no pixel.
_MILLISECONDS = 100


def gif_frames(frames: Frames) -> Frames:
    """Frames after a round trip through a GIF of Pillow: ``uint8[T, H, W, 3]`` -> ``uint8[T', H, W, 3]``, T' <= T.

    Each frame gets its own palette by Pillow's default quantisation. Runs of equal frames are merged into one of longer duration;
    durations are ignored when reading.
    """
    pictures = [Image.fromarray(frame) for frame in frames]
    file = io.BytesIO()
    pictures[0].save(file, format="GIF", save_all=True, append_images=pictures[1:], duration=_MILLISECONDS, loop=0)
    file.seek(0)
    with Image.open(file) as opened:
        return np.stack([np.asarray(frame.convert("RGB"), np.uint8) for frame in ImageSequence.Iterator(opened)])


_DIGITS = re.compile("([0-9]+)")
# File names shown on each side of the fault in an error, which stays one sentence however many files the folder holds.
_SHOWN_EACH_SIDE = 3


def list_images(folder: Path | str, *, pattern: str = "*") -> list[Path]:
    """List the images of a folder whose names match ``pattern``, sorted by name.

    A broken link is listed: leaving it out would shift all frames behind it.

    Raises:
        MediaError: the folder cannot be listed.
    """
    try:
        with os.scandir(folder) as entries:
            files = [entry for entry in entries if is_image(entry.name) and not entry.name.startswith(".")]
            names = [entry.name for entry in files if entry.is_file() or (entry.is_symlink() and not os.path.exists(entry.path))]
    except OSError as error:
        raise MediaError(f"{Path(folder).name} cannot be listed: {error.strerror}") from error
    return [Path(folder, name) for name in sorted(names, key=os.fsencode) if fnmatch.fnmatchcase(name, pattern)]


def numbered_images(folder: Path | str, *, pattern: str = "*", name: str = "", even_steps: bool = False) -> tuple[Path, ...]:
    """List the images of a folder in the order of their numbers; see the module.

    Args:
        folder: of the images.
        pattern: glob pattern of the file names.
        name: of the folder in errors; by default its own.
        even_steps: accept a constant step other than 1, for layouts that publish every second, fifth ... frame.

    Raises:
        MediaError: the folder cannot be listed, or its names give no clear order.
    """
    return by_number(list_images(folder, pattern=pattern), name=name or Path(folder).name, even_steps=even_steps)


def by_number(paths: Sequence[Path], *, name: str, even_steps: bool = False) -> tuple[Path, ...]:
    """Sort images by their numbers; arguments and errors are those of ``numbered_images``."""
    if len(paths) < 2:
        return tuple(paths)
    numbers = _numbers(paths, name)
    order = sorted(range(len(paths)), key=numbers.__getitem__)
    ordered, counted = [paths[place] for place in order], [numbers[place] for place in order]
    steps = [after - before for before, after in pairwise(counted)]
    usual = min(Counter(steps).most_common(), key=lambda pair: (-pair[1], pair[0]))[0] if even_steps else 1
    for place, step in enumerate(steps):
        if step == 0:
            _refuse(name, f"{ordered[place].name} and {ordered[place + 1].name} have the same number, keep one", ordered, place)
        if step != usual and 0 not in steps:
            rule = f"numbers go in steps of {usual}" if even_steps else "every number counts"
            gap = f"{ordered[place + 1].name} follows {ordered[place].name}, but {rule}: add what is missing or number them anew"
            _refuse(name, gap, ordered, place)
    return tuple(ordered)


def step_of(paths: Sequence[Path]) -> int | None:
    """Step between the numbers of ordered images; None for fewer than two."""
    if len(paths) < 2:
        return None
    first, second = _numbers(paths[:2], "")
    return second - first


def count_alike(first: Sequence[Path], second: Sequence[Path]) -> bool:
    """Whether ordered images belong together place by place: their numbers are the same, or begin at 0 and 1 and go in one step.

    Images of fewer than two have no say.
    """
    if min(len(first), len(second)) < 2:
        return True
    begin, other = (_numbers(paths[:2], "") for paths in (first, second))
    return begin[1] - begin[0] == other[1] - other[0] and (begin[0] == other[0] or {begin[0], other[0]} == {0, 1})


def begin_a_film(paths: Sequence[Path], *, frames: int) -> bool:
    """Whether ordered images are of the first frames of a film of ``frames``, or of all of them.

    Frames of a film that is one file count from 0 or 1, so images that count otherwise are of others unless there is one of each
    frame. Images of fewer than two have no say.
    """
    return len(paths) < 2 or len(paths) == frames or (step_of(paths) == 1 and _numbers(paths[:2], "")[0] <= 1)


def misplaced_as_text(paths: Sequence[Path]) -> tuple[Path, Path] | None:
    """First image that a program sorting names as text would misplace, and the image due at its place; None = no such image."""
    as_text = sorted(paths, key=lambda path: os.fsencode(path.name))
    return next((pair for pair in zip(as_text, paths, strict=True) if pair[0] != pair[1]), None)


def _numbers(paths: Sequence[Path], name: str) -> list[int]:
    """Number of each image: the only number in the names that differs."""
    # macOS stores accented letters decomposed, Linux composed; both spell the same name.
    split = [_DIGITS.split(unicodedata.normalize("NFC", path.stem)) for path in paths]
    around = [tuple(parts[::2]) for parts in split]
    usual = Counter(around).most_common(1)[0][0]
    for path, parts, texts in zip(paths, split, around, strict=True):
        if len(parts) == 1:
            _refuse(name, f"{path.name} has no number: take it out or name it like the others", paths, paths.index(path))
        if texts != usual:
            usual_name = paths[around.index(usual)].name
            _refuse(name, f"{path.name} is not named like {usual_name}: keep one series", paths, paths.index(path))
    columns = list(zip(*(parts[1::2] for parts in split), strict=True))
    varying = [column for column in columns if len(set(column)) > 1]
    if len(varying) > 1:
        differ = next(place for place, parts in enumerate(split) if parts != split[0])
        _refuse(name, f"more than one number differs between {paths[0].name} and {paths[-1].name}: vary one", paths, differ)
    return list(map(int, varying[0] if varying else columns[-1]))


def _refuse(name: str, reason: str, paths: Sequence[Path], place: int) -> NoReturn:
    first = max(place - _SHOWN_EACH_SIDE, 0)
    names = [path.name for path in paths[first : place + 1 + _SHOWN_EACH_SIDE]]
    before, after = "... " * (first > 0), " ..." * (first + len(names) < len(paths))
    raise MediaError(f"{name}: the order of its images is not clear: {reason} ({before}{', '.join(names)}{after})")


def read_image_folder(folder: Path | str, *, pattern: str = "*") -> Frames:
    """Read the images of a folder in the order of their numbers, as ``uint8[T, H, W, 3]``.

    Raises:
        MediaError: no images, no clear order, or images of different sizes.
    """
    images = [read_image(path) for path in numbered_images(folder, pattern=pattern)]
    sizes = {image.shape for image in images}
    if len(sizes) != 1:
        contents = "no images" if not sizes else f"images of {len(sizes)} different sizes"
        raise MediaError(f"{Path(folder).name} holds {contents}")
    return np.stack(images)


# Catmull-Rom's kernel, as Pillow has it, widened where a side shrinks; the flags keep processors from rounding each its own way.
_FLAGS = "flags=bicubic+accurate_rnd+bitexact:param0=0:param1=0.5:in_range=full:out_range=full"
# Beyond it the 14-bit weights of swscale no longer sum to one; such frames are shrunk in steps.
_MOST_SHRINKING = 32
_Scalar = TypeVar("_Scalar", bound=np.generic)


def scaled(frame: npt.NDArray[np.uint8], *, width: int, height: int) -> npt.NDArray[np.uint8]:
    """Scale ``uint8[h, w, 3]`` to ``uint8[height, width, 3]``; bicubic, with anti-aliasing where a side shrinks."""
    if frame.shape[0] < height or frame.shape[1] < width:
        # Frames that grow are small, so Pillow's slower sums cost little; camera motion of enlarged frames is tried with them.
        return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BICUBIC))
    least = [math.ceil(side / _MOST_SHRINKING) for side in frame.shape[:2]]
    if least[0] > height or least[1] > width:
        frame = scaled(frame, width=max(width, least[1]), height=max(height, least[0]))
    scaler = _scaler((frame.shape[1], frame.shape[0]), (width, height))
    # Planes one by one: swscale takes RGB apart into luma and chroma, which is slower and costs a level.
    return np.asarray(cv2.merge([scaler.plane(plane) for plane in cv2.split(frame)]), np.uint8)


class _Scaler:
    """Scales planes of one size to another; the weights are worked out once."""

    def __init__(self, origin: tuple[int, int], target: tuple[int, int]) -> None:
        self._graph: Any = av.filter.Graph()
        source = self._graph.add_buffer(
            width=origin[0], height=origin[1], format=av.VideoFormat("gray"), time_base=Fraction(1, 1)
        )
        scale = self._graph.add("scale", f"w={target[0]}:h={target[1]}:{_FLAGS}")
        source.link_to(scale)
        scale.link_to(self._graph.add("buffersink"))
        self._graph.configure()
        self._lock = threading.Lock()

    def plane(self, plane: Any) -> npt.NDArray[np.uint8]:
        with self._lock:
            self._graph.push(av.VideoFrame.from_numpy_buffer(plane, format="gray"))
            return np.asarray(self._graph.pull().to_ndarray(), np.uint8)


# The weights of a few sizes are kept.
_scaler = lru_cache(maxsize=4)(_Scaler)


def nearest(frames: npt.NDArray[Any], *, height: int, width: int) -> npt.NDArray[Any]:
    """Frames ``[T, H, W, ...]`` brought to a size by the pixel whose area holds the centre of each new one, as Pillow does."""
    if frames.shape[1:3] == (height, width):
        return frames
    places = []
    for given, wanted in ((frames.shape[1], height), (frames.shape[2], width)):
        # Added up step by step as Pillow does: where a centre falls between two pixels, rounding decides.
        steps = np.full(wanted, given / wanted)
        steps[0] /= 2
        places.append(np.minimum(np.cumsum(steps).astype(np.intp), given - 1))
    return frames[:, places[0][:, None], places[1]]


def bicubic(frames: Frames, *, height: int, width: int) -> Frames:
    """``uint8[T, H, W, 3]`` brought to a size by Pillow's bicubic filter, whose reach grows with the scale."""
    return _by_pillow(frames, (width, height), Image.Resampling.BICUBIC)


def lanczos(frames: Frames, *, height: int, width: int) -> Frames:
    """The same by Pillow's filter of Lanczos, of three lobes."""
    return _by_pillow(frames, (width, height), Image.Resampling.LANCZOS)


def _by_pillow(frames: Frames, size: tuple[int, int], resample: Image.Resampling) -> Frames:
    if frames.shape[2:0:-1] == size:
        return frames
    resized = np.empty((len(frames), size[1], size[0], 3), np.uint8)
    for target, frame in zip(resized, frames, strict=True):
        target[...] = np.asarray(Image.fromarray(frame).resize(size, resample))
    return resized


def linear(frames: npt.NDArray[_Scalar], *, height: int, width: int) -> npt.NDArray[_Scalar]:
    """``[T, H, W, C]`` of any type brought to a size by OpenCV's bilinear filter, which looks at four pixels at any scale."""
    if frames.shape[1:3] == (height, width):
        return frames
    return np.stack([cv2.resize(frame, (width, height)) for frame in frames])  # bilinear unless another filter is named
