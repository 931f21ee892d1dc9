"""Names of files that hold videos and images."""

from __future__ import annotations

from pathlib import Path

_SUFFIXES = "3gp avi flv gif m2ts m4v mkv mov mp4 mpeg mpg mts mxf ogv ts webm wmv y4m"
# Lower-case file name endings of videos.
VIDEO_SUFFIXES = tuple(f".{name}" for name in _SUFFIXES.split(" "))
# Lower-case file name endings of still images.
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")


def is_image(path: Path | str) -> bool:
    """True if the file name ends like a still image's."""
    return Path(path).suffix.lower() in IMAGE_SUFFIXES


def is_hidden(path: Path | str) -> bool:
    """True if a part of a relative path is hidden, or is what macOS adds to archives: no picture or clip of anybody's."""
    return any(part.startswith(".") or part == "__MACOSX" for part in Path(path).parts)
