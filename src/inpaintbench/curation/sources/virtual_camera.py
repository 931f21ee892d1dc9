"""A camera with exactly known motion, moved over a photograph, and photographs that are large enough, of the scikit-image wheel.

Where the camera looks is a *transform*: the similarity that maps pixel coordinates ``(x, y)`` of a frame, pixel centres at
integers, to pixel coordinates of the photograph. The camera never comes closer than one photograph pixel per frame pixel
and never looks past the edge of the photograph, so every frame holds photographed detail only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from statistics import NormalDist
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.files import file_sha256
from inpaintbench.lazily import lazily
from inpaintbench.types import Frames, content_id

cv2 = lazily("cv2")
ndimage = lazily("scipy.ndimage")


@dataclass(frozen=True)
class Photograph:
    """A colour photograph in the scikit-image wheel, with what scikit-image's documentation says about its origin."""

    name: str
    file: str
    width: int
    height: int
    focus: tuple[float, float]
    """Centre of what it shows, (x, y) as shares of width and height."""
    licence: str | None
    author: str | None
    page_url: str | None = None

    def path(self) -> Path:
        """The file in the installed wheel."""
        return Path(str(files("skimage") / "data" / self.file))

    @cached_property
    def sha256(self) -> str:
        """Digest of the file, hexadecimal."""
        return file_sha256(self.path())

    def credits(self) -> dict[str, Any]:
        """Licence, author and page, as fields of ``Footage``."""
        return {"licence": self.licence, "author": self.author, "page_url": self.page_url}

    def footage(
        self, leaf: SourceLeaf, name: str, payload: Mapping[str, Any], *, content: Sequence[Any], place: str = "", **facts: Any
    ) -> Footage:
        """Footage that a leaf makes of it.

        Args:
            leaf: the source leaf.
            name: of the footage.
            payload: what the leaf makes it of.
            content: changes with it, beside the leaf's version and the photograph.
            place: that its address begins with; the name of the leaf unless it is given.
            facts: ``known`` and ``data``.
        """
        return Footage(
            name=name, uri=f"{place or leaf.name}:{name}", origin=leaf.name,
            content=content_id(leaf.version, self.sha256, *content), payload=payload, **self.credits(), **facts,
        )  # fmt: skip


PHOTOGRAPHS: dict[str, Photograph] = {
    photograph.name: photograph
    for photograph in (
        Photograph("coffee", "coffee.png", 600, 400, (0.48, 0.42), "CC0", "Rachel Michetti"),
        Photograph("rocket", "rocket.jpg", 640, 427, (0.5, 0.6), "public domain", "SpaceX",
                   "https://www.flickr.com/photos/spacexphotos/16511594820/in/photostream/"),
        Photograph("motorcycle", "motorcycle_left.png", 741, 500, (0.52, 0.5), None, None),
        Photograph("hubble", "hubble_deep_field.jpg", 1000, 872, (0.5, 0.5), "public domain", "NASA",
                   "http://hubblesite.org/newscenter/archive/releases/2012/37/image/a/"),
        Photograph("chelsea", "chelsea.png", 451, 300, (0.5, 0.45), "CC0", "Stefan van der Walt"),
        Photograph("astronaut", "astronaut.png", 512, 512, (0.45, 0.3), "public domain", None, "https://flic.kr/p/r9qvLn"),
        Photograph("retina", "retina.jpg", 1411, 1411, (0.42, 0.5), "CC0-1.0", None,
                   "https://commons.wikimedia.org/wiki/File:Fundus_photograph_of_normal_left_eye.jpg"),
        Photograph("tissue", "ihc.png", 512, 512, (0.5, 0.4), "no known copyright restrictions",
                   "Center for Microscopy And Molecular Imaging"),
    )
}  # fmt: skip


class EmbeddedPhotographs(SourceLeaf):
    """The colour photographs of the scikit-image wheel that state a free licence, as they are."""

    name = "embedded_photographs"
    version = "1"

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a photograph, in name order."""
        for name, photograph in sorted(PHOTOGRAPHS.items()):
            if photograph.licence:
                payload = {"path": quote(str(photograph.path()))}
                yield photograph.footage(self, name, payload, content=(), place="embedded")

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file in the installed wheel."""
        return unquote(payload["path"])


Image = npt.NDArray[np.uint8]
Transforms = npt.NDArray[np.float64]

# Largest roll of a camera held in the hand.
ROLL_DEGREES = 0.3
# Photograph pixels per frame pixel when the photograph is much larger than the frame: wider views look like maps.
LARGEST_SCALE = 2.2
_SHAKE_SMOOTHING_FRAMES = 2.5
_BLUR_STEPS = 16


@dataclass(frozen=True)
class Motion:
    """Components of a motion, as factors of a shot's speed: the share of the view that is gone by the last frame."""

    pan: float = 0
    """View widths to the right."""
    tilt: float = 0
    """View heights downwards."""
    zoom: float = 0
    """1 closes in until that share of the view's area is gone, -1 is the same backwards."""
    shake: float = 0
    """Largest displacement by an unsteady hand, in view heights; any shake also rolls the camera."""


MOTIONS = {
    "tripod": Motion(),
    "pan_right": Motion(pan=1),
    "pan_left": Motion(pan=-1),
    "tilt_down": Motion(tilt=1),
    "tilt_up": Motion(tilt=-1),
    "zoom_in": Motion(zoom=1),
    "zoom_out": Motion(zoom=-1),
    "hand_shake": Motion(shake=1),
    "hand_held_pan": Motion(pan=1, shake=0.06),
    "pan_and_tilt": Motion(pan=-0.7, tilt=0.7),
    "zoom_and_pan": Motion(pan=0.5, zoom=0.5),
}


def largest_scale(motion: Motion, *, speed: float, view: tuple[int, int], photograph: tuple[int, int]) -> float:
    """Photograph pixels per frame pixel at which the whole movement just fits; below 1 it would have to be enlarged.

    ``view`` and ``photograph`` are (width, height) in pixels.
    """
    room = _room(motion, speed=speed, view=view)
    return min(photograph[0] / room[0], photograph[1] / room[1])


def transforms(
    motion: Motion, *, speed: float, frames: int, view: tuple[int, int], photograph: tuple[int, int],
    focus: tuple[float, float], lift: float, rng: np.random.Generator,
) -> Transforms:  # fmt: skip
    """Return where the camera looks in each frame, ``float64[T, 3, 3]``.

    The path is centred on ``focus`` (photograph pixels), or ``lift`` view heights below it, as far as the photograph's edges
    allow. The scale is drawn from the wider half of those that fit; ``largest_scale`` must have shown that 1 does.
    """
    widest = min(largest_scale(motion, speed=speed, view=view, photograph=photograph), LARGEST_SCALE)
    scale = max(1.0, widest ** rng.uniform(0.5, 1))
    room = _room(motion, speed=speed, view=view)
    wanted = (focus[0], focus[1] + lift * scale * view[1])
    centre = [_inside(wanted[axis], room=scale * room[axis], side=photograph[axis]) for axis in (0, 1)]
    progress = np.linspace(0, 1, frames)
    shake = motion.shake * speed
    walk = _unsteady_hand(frames, rng) if shake else np.zeros((3, frames))
    scales = scale * _closest_view(motion, speed) ** -(progress if motion.zoom < 0 else 1 - progress)
    x = centre[0] + scale * (view[0] * motion.pan * speed * (progress - 0.5) + view[1] * shake * walk[0])
    y = centre[1] + scale * (view[1] * motion.tilt * speed * (progress - 0.5) + view[1] * shake * walk[1])
    # Transforms that put the middle of the view at (x, y), scaled and rolled about it.
    roll = math.radians(ROLL_DEGREES) * walk[2]
    middle_x, middle_y = (view[0] - 1) / 2, (view[1] - 1) / 2
    cosine, sine = scales * np.cos(roll), scales * np.sin(roll)
    result = np.zeros((len(x), 3, 3))
    result[:, 0, 0], result[:, 0, 1], result[:, 0, 2] = cosine, -sine, x - cosine * middle_x + sine * middle_y
    result[:, 1, 0], result[:, 1, 1], result[:, 1, 2] = sine, cosine, y - sine * middle_x - cosine * middle_y
    result[:, 2, 2] = 1
    return result


def capture(photograph: Image, path: Transforms, *, width: int, height: int) -> Iterator[Image]:
    """Frames at each transform, ``uint8[H, W, 3]``, low-pass filtered first where the camera sees several pixels as one."""
    blur, filtered = 0.0, photograph
    for transform in path:
        # Variances add up: this takes a pixel of the photograph, about half a pixel wide, to the same at the frame's scale.
        wanted = 0.5 * math.sqrt(max(scale_of(transform) ** 2 - 1, 0))
        step = round(wanted * _BLUR_STEPS) / _BLUR_STEPS
        if step != blur:
            blur, filtered = step, np.asarray(cv2.GaussianBlur(photograph, (0, 0), step)) if step else photograph
        seen = cv2.warpAffine(
            filtered,
            transform[:2],
            (width, height),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_REPLICATE,
        )
        yield np.asarray(seen, np.uint8)


def add_sensor_noise(frames: Frames, *, sigma: float, rng: np.random.Generator) -> None:
    """Add Gaussian noise of ``sigma`` grey levels, independent in every value of every frame, in place."""
    if sigma <= 0:
        return
    # A byte is uniform; the normal quantiles turn it into whole grey levels, many times faster than drawing normals.
    quantiles = np.array([NormalDist().inv_cdf((byte + 0.5) / 256) for byte in range(256)])
    levels = np.clip(np.rint(128 + quantiles * sigma), 0, 255).astype(np.uint8)
    for frame in frames:
        noise = cv2.LUT(np.frombuffer(rng.bytes(frame.size), np.uint8).reshape(frame.shape), levels)
        cv2.addWeighted(frame, 1, noise, 1, -128, dst=frame)


def scale_of(transform: npt.NDArray[np.float64]) -> float:
    """Photograph pixels per frame pixel."""
    return math.hypot(transform[0, 0], transform[1, 0])


def _room(motion: Motion, *, speed: float, view: tuple[int, int]) -> tuple[float, float]:
    """Width and height of a box that holds the whole movement, in frame pixels of the closest view."""
    width, height = view
    shake = motion.shake * speed
    roll = math.sin(math.radians(ROLL_DEGREES)) if shake else 0.0
    widest = 1 / _closest_view(motion, speed)
    across = width * (widest + abs(motion.pan) * speed) + height * (2 * shake + widest * roll)
    down = height * (widest + abs(motion.tilt) * speed + 2 * shake) + width * widest * roll
    return across, down


def _closest_view(motion: Motion, speed: float) -> float:
    """Side of the closest view over the side of the widest."""
    return math.sqrt(1 - abs(motion.zoom) * speed)


def _inside(wanted: float, *, room: float, side: int) -> float:
    """The centre nearest to ``wanted`` at which a box of length ``room`` lies within the pixels of ``side``."""
    low, high = room / 2 - 0.5, side - 0.5 - room / 2
    return min(max(wanted, low), high)


def _unsteady_hand(frames: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Three smooth random walks (x, y, roll), ``float64[3, T]``, each reaching exactly 1 at its furthest."""
    steps = ndimage.gaussian_filter1d(rng.standard_normal((3, frames)), _SHAKE_SMOOTHING_FRAMES, axis=1)
    walk = np.cumsum(steps, axis=1)
    # Without the straight part the hand returns instead of wandering off.
    walk -= np.linspace(walk[:, 0], walk[:, -1], frames, axis=1)
    walk -= (walk.max(axis=1, keepdims=True) + walk.min(axis=1, keepdims=True)) / 2
    scaled: npt.NDArray[np.float64] = walk / np.abs(walk).max(axis=1, keepdims=True)
    return scaled
