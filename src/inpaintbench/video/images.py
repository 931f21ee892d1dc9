"""Still images: recognising, reading and writing them."""

from __future__ import annotations

import io
from pathlib import Path

import av
import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from inpaintbench.errors import MediaError, reason_of
from inpaintbench.types import Frames

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
            return np.asarray(_eight_bits(ImageOps.exif_transpose(image), name=Path(path).name).convert("RGB"))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise MediaError(f"{Path(path).name} cannot be opened as an image: {reason(error)}") from error


def _eight_bits(image: Image.Image, *, name: str) -> Image.Image:
    """Image with 16-bit grey reduced to its upper 8 bits; Pillow's own conversion would clip values above 255 to white."""
    if image.mode == "F":
        raise MediaError(f"{name} holds real numbers, which have no agreed range; save it with 8 bits")
    levels = np.asarray(image) if image.mode.startswith(("I;16", "I")) else None
    if levels is None or (image.mode == "I" and levels.max(initial=0) < 256):
        return image
    return Image.fromarray((levels >> 8).astype(np.uint8))


def write_image(path: Path | str, image: npt.NDArray[np.uint8] | npt.NDArray[np.bool_]) -> None:
    """Write ``uint8[H, W, 3]`` RGB, ``uint8[H, W]`` grey or ``bool[H, W]`` (one bit a pixel) as PNG."""
    Image.fromarray(np.ascontiguousarray(image)).save(path, format="PNG")


def png_bytes(image: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> bytes:
    """Encode ``uint8[H, W, 3]`` RGB, ``uint8[H, W]`` or ``uint16[H, W]`` grey as the bytes of a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(buffer, format="PNG")
    return buffer.getvalue()


def jpeg_bytes(image: npt.NDArray[np.uint8]) -> bytes:
    """Encode ``uint8[H, W, 3]`` RGB as the bytes of a JPEG file, for looking at only."""
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(buffer, format="JPEG", quality=88)
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
    return _grey_of_channels(np.array(image.convert("RGBA")), name)


def _grey_of_channels(pixels: npt.NDArray[np.uint8], name: str) -> npt.NDArray[np.uint8]:
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
