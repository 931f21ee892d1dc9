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
