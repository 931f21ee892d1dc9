"""Contact sheets of a film with the number of every frame shown, for marking its transitions by eye.

python bench/_film_strip.py FILM FOLDER [--every 6] [--columns 16] [--width 112]     the whole film, every sixth frame
python bench/_film_strip.py FILM FOLDER --rows 120,504,990 [--columns 16]            every frame behind those, a row each

FILM is a video, or a folder of pictures in the order of the numbers in their names.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

from inpaintbench import video
from inpaintbench.curation.splitters.shots import Image

ROWS = 12


def frames_of(path: Path) -> Iterator[Image]:
    """Frames ``uint8[h, w, 3]`` of a video, or of a folder of numbered pictures."""
    if path.is_dir():
        yield from map(video.read_image, sorted(path.iterdir(), key=lambda one: int("".join(filter(str.isdigit, one.stem)))))
    else:
        yield from (frame for frame, _ in video.upright_frames(path, hdr="tone_map"))


def thumbnail(frame: Image, number: int, *, width: int) -> Image:
    """A small ``uint8[h, width, 3]`` with the frame's number on it."""
    small = cv2.resize(frame, (width, round(width * frame.shape[0] / frame.shape[1])), interpolation=cv2.INTER_AREA)
    for colour, thickness in (((0, 0, 0), 3), ((255, 255, 0), 1)):
        cv2.putText(small, str(number), (2, 11), cv2.FONT_HERSHEY_SIMPLEX, 0.38, colour, thickness, cv2.LINE_AA)
    return np.asarray(small, np.uint8)


def parts(items: Sequence[Image], size: int) -> Iterator[Sequence[Image]]:
    """Consecutive parts of ``size`` items; the last may have fewer."""
    return (items[start : start + size] for start in range(0, len(items), size))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("film", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=6)
    parser.add_argument("--rows", type=lambda text: [int(one) for one in text.split(",")])
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--width", type=int, default=112)
    given = parser.parse_args()
    shown: dict[int, Image] = {}
    wanted = {first + place for first in given.rows or () for place in range(given.columns)}
    for number, frame in enumerate(frames_of(given.film)):
        if number in wanted if wanted else not number % given.every:
            shown[number] = thumbnail(frame, number, width=given.width)
    numbers = [first + place for first in given.rows for place in range(given.columns)] if given.rows else list(shown)
    nothing = np.zeros_like(next(iter(shown.values())))
    pictures = [shown.get(number, nothing) for number in numbers]
    pictures += [nothing] * (-len(pictures) % given.columns)
    given.folder.mkdir(parents=True, exist_ok=True)
    for place, page in enumerate(parts(pictures, given.columns * ROWS)):
        rows = [np.concatenate(row, 1) for row in parts(page, given.columns)]
        sheet = given.folder / f"{given.film.stem}_{'rows' if given.rows else 'whole'}_{place}.png"
        cv2.imwrite(str(sheet), cv2.cvtColor(np.concatenate(rows), cv2.COLOR_RGB2BGR))
        print(sheet)


if __name__ == "__main__":
    main()
