"""Footage that needs no download: photographs of the scikit-image wheel, filmed by a virtual camera with known motion.

A procedural body of water lies in one: fixed to the scene, always moving, its extent exactly known. Its surface is a sum of
travelling waves that obey the dispersion relation of deep water, seen in perspective. It mirrors the photograph above the
shoreline, broken up by the slope of the waves, over a depth tinted by the photograph's colours. Its lengths are photograph pixels
unless named otherwise.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.curation.sources import virtual_camera
from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.virtual_camera import MOTIONS, PHOTOGRAPHS, Image, Transforms, scale_of
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.frozen import GROUP
from inpaintbench.lazily import lazily
from inpaintbench.ranges import AtLeastOne, Seed, Side, Whole
from inpaintbench.types import Frames, Hole, item_rng, stated

cv2 = lazily("cv2")

Map = npt.NDArray[np.float32]

# Metres per second squared; angular frequency of a wave = sqrt(GRAVITY * wave number), Airy's deep-water relation.
GRAVITY = 9.81
WAVES = 8
WAVELENGTHS_METRES = (0.35, 3.2)
# Of every wave; so longer waves are higher.
WAVE_SLOPE = 0.085
# Waves per metre times metres away at which a wave is dimmed by half.
FINEST_WAVE = 110.0
WIND_SPREAD_RADIANS = 0.9
CAMERA_HEIGHT_METRES = 3.4
# View heights above the shoreline at which the water plane would vanish.
HORIZON = 0.42
BENDS = 3
# Amplitude of a bend of the shoreline with wave number 1 per view height; it falls with the root of the number.
BEND_HEIGHT = 0.05
# Over which water and land blend, in frame pixels.
SHORE_WIDTH_PIXELS = 2.0
SKY = (150.0, 178.0, 200.0)
DEPTH = (10.0, 52.0, 66.0)
# Pixels between the points where areas are measured; the shoreline runs across, so rows need more of them.
_COARSE_COLUMNS, _COARSE_ROWS = 16, 2


@dataclass(frozen=True)
class Shoreline:
    """Edge of the water; everything below it is water."""

    level: float
    """Mean row."""
    unit: float
    """Height of the view."""
    bends: npt.NDArray[np.float64]
    """(wave number per view height, phase) of each bend, ``float64[B, 2]``."""

    def depth(self, x: Map, y: Map) -> Map:
        """Return how far scene points (x, y) lie below the shore; negative on land."""
        return y - self.level - _bend(x, unit=self.unit, bends=self.bends)

    def highest_row(self) -> float:
        """No bend reaches above this row."""
        return self.level - BEND_HEIGHT * self.unit * float(np.sum(self.bends[:, 0] ** -0.5))

    def share(self, path: Transforms, *, view: tuple[int, int]) -> float:
        """Share of the view that is water at all, averaged over all frames, in 0..1; from geometry alone."""
        x, y = _coarse_grid(path, view)
        scales = np.array([[scale_of(transform)] for transform in path], np.float32)
        return float(np.mean(_opacity(self.depth(x, y), scale=scales) > 0))


def lay_shoreline(path: Transforms, *, view: tuple[int, int], share: float, rng: np.random.Generator) -> Shoreline:
    """An irregular shoreline below which ``share`` of everything lies that a camera on ``path`` sees."""
    unit = view[1] * float(np.mean([scale_of(transform) for transform in path]))
    numbers = np.geomspace(4, 30, BENDS) * rng.uniform(0.8, 1.25, BENDS)
    bends = np.stack([numbers, rng.uniform(0, 2 * np.pi, BENDS)], axis=1)
    x, y = _coarse_grid(path, view)
    # In float32 a quantile comes out otherwise under another version of numpy, and pixels of the shore with it.
    depths = (y - _bend(x, unit=unit, bends=bends)).astype(np.float64)
    return Shoreline(level=stated(float(np.quantile(depths, 1 - share))), unit=unit, bends=bends)


@dataclass(frozen=True)
class Water:
    """Appearance of the water below a shoreline."""

    shoreline: Shoreline
    middle: float
    """Column in front of the camera."""
    mirrored: Image
    """The photograph, softened."""
    depth_colour: tuple[float, float, float]
    """RGB."""
    waves: npt.NDArray[np.float64]
    """(wave number per metre, direction, phase) of each wave, ``float64[N, 3]``."""

    def paint(self, frame: Image, *, transform: npt.NDArray[np.float64], seconds: float) -> npt.NDArray[np.bool_]:
        """Paint the water as it is at ``seconds`` into ``frame``, in place; True in ``bool[H, W]`` where there is any."""
        scale = scale_of(transform)
        # Photograph coordinates of the frame's pixels, `float32[H, W]` each.
        columns = np.arange(frame.shape[1], dtype=np.float32)[None, :]
        lines = np.arange(frame.shape[0], dtype=np.float32)[:, None]
        x, y = (row[0] * columns + (row[1] * lines + row[2]) for row in transform[:2].tolist())
        first = self.shoreline.highest_row() - SHORE_WIDTH_PIXELS * scale
        top = int(np.argmax(np.append(y.max(axis=1) >= first, True)))
        painted = np.zeros(frame.shape[:2], np.bool_)
        if top < len(frame):
            x, y, land = x[top:], y[top:], frame[top:]
            depth = self.shoreline.depth(x, y)
            opacity = _opacity(depth, scale=scale)
            near = np.maximum((y - self.shoreline.level) / self.shoreline.unit + HORIZON, 0.05)
            # Half the resolution is enough for the finest wave and four times cheaper.
            slopes = self._slopes(x[::2, ::2], near[::2, ::2], seconds)
            across, along = (np.asarray(cv2.resize(slope, depth.shape[::-1]), np.float32) for slope in slopes)
            # Water mirrors far away and where a wave leans away; looking down on it, or at a wave's near face, shows its depth.
            reflectance = np.clip(0.92 - 0.62 * (near - HORIZON) - 1.9 * along, 0.08, 0.95)
            glint = 620 * np.square(np.maximum(along * 0.55 + across * 0.85 - 0.2, 0))
            wet_edge = 0.6 + 0.4 * np.clip(depth / (0.03 * self.shoreline.unit), 0, 1)
            mirrored = cv2.split(self._reflection(x, y, depth, across, along))
            # Channel by channel, because arithmetic over a last axis of three is slow.
            planes = []
            for reflection, sky, below in zip(mirrored, SKY, self.depth_colour, strict=True):
                seen = reflection * np.float32(0.78) + (0.22 * sky - below)
                planes.append(cv2.convertScaleAbs((below + reflectance * seen + glint) * wet_edge))
            land[:] = cv2.blendLinear(land, np.asarray(cv2.merge(planes), np.uint8), 1 - opacity, opacity)
            painted[top:] = opacity > 0
        return painted

    def _slopes(self, x: Map, near: Map, seconds: float) -> tuple[Map, Map]:
        """Slope of the surface to the right and away from the camera."""
        metres_away = CAMERA_HEIGHT_METRES / near
        metres_right = (x - self.middle) * metres_away / self.shoreline.unit
        across, along = np.zeros_like(near), np.zeros_like(near)
        for number, direction, phase in self.waves.tolist():
            right, away = math.sin(direction), math.cos(direction)
            turn = phase - math.sqrt(GRAVITY * number) * seconds
            slope = np.cos(metres_right * (number * right) + metres_away * (number * away) + turn)
            # Waves that are finer than the view can show would flicker.
            slope *= WAVE_SLOPE / (1 + np.square(metres_away * (number / FINEST_WAVE)))
            across += slope * right
            along += slope * away
        return across, along

    def _reflection(self, x: Map, y: Map, depth: Map, across: Map, along: Map) -> Image:
        """The part of the photograph that the water mirrors, ``uint8[H, W, 3]``."""
        above = y - 1.9 * depth + 0.55 * self.shoreline.unit * along
        aside = x + 0.25 * self.shoreline.unit * across
        mirrored = cv2.remap(self.mirrored, aside, above, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(mirrored, np.uint8)


def fill(shoreline: Shoreline, *, photograph: Image, middle: float, rng: np.random.Generator) -> Water:
    """Water below ``shoreline`` that belongs to ``photograph``, with waves drawn from ``rng``."""
    numbers = 2 * np.pi / np.geomspace(*WAVELENGTHS_METRES, WAVES)
    red, green, blue = photograph.mean(axis=(0, 1)).tolist()
    directions = np.pi + rng.uniform(-0.6, 0.6) + WIND_SPREAD_RADIANS * rng.uniform(-1, 1, WAVES)
    return Water(
        shoreline=shoreline,
        middle=middle,
        mirrored=np.asarray(cv2.GaussianBlur(photograph, (0, 0), 0.006 * shoreline.unit), np.uint8),
        depth_colour=(0.35 * red + 0.65 * DEPTH[0], 0.35 * green + 0.65 * DEPTH[1], 0.35 * blue + 0.65 * DEPTH[2]),
        waves=np.stack([numbers, directions, rng.uniform(0, 2 * np.pi, WAVES)], axis=1),
    )


def _opacity(depth: Map, *, scale: float | Map) -> Map:
    """Return how much of a frame pixel, ``scale`` photograph pixels wide, is water: 0..1."""
    return np.clip(depth / (SHORE_WIDTH_PIXELS * scale) + 0.5, 0, 1)


def _bend(x: Map, *, unit: float, bends: npt.NDArray[np.float64]) -> Map:
    """Return how far the shoreline lies below its mean row at columns ``x``."""
    bent = np.zeros_like(x)
    for number, phase in bends.tolist():
        bent += BEND_HEIGHT * unit / math.sqrt(number) * np.sin(x * (number / unit) + phase)
    return bent


def _coarse_grid(path: Transforms, view: tuple[int, int]) -> tuple[Map, Map]:
    """Photograph coordinates (x, y) of points spread evenly over all frames, ``float32[T, P]`` each."""
    columns, lines = _spread(view[0], every=_COARSE_COLUMNS), _spread(view[1], every=_COARSE_ROWS)
    points = np.stack([np.tile(columns, len(lines)), np.repeat(lines, len(columns)), np.ones(len(columns) * len(lines))])
    x, y = np.einsum("tij,jp->itp", path[:, :2], points).astype(np.float32)
    return x, y


def _spread(side: int, *, every: int) -> npt.NDArray[np.float64]:
    cells = max(side // every, 1)
    return (np.arange(cells) + 0.5) * side / cells - 0.5


FRAMES_PER_SECOND = 30.0
FEWEST_FRAMES, MOST_FRAMES = 60, 90
# With water below, what a photograph shows belongs into the upper part of the view.
_WATER_LIFT = 0.2
_FOCUS_SPREAD = 0.05

# Motions with their speed, from still to fast; repeated, a little slower each time.
PLAN: tuple[tuple[str, float], ...] = (
    ("tripod", 0.0), ("pan_right", 0.4), ("hand_shake", 0.015), ("zoom_in", 0.35), ("tilt_up", 0.12),
    ("pan_left", 0.06), ("zoom_out", 0.2), ("hand_held_pan", 0.25), ("tilt_down", 0.3), ("tripod", 0.0),
    ("pan_and_tilt", 0.35), ("hand_shake", 0.03), ("zoom_and_pan", 0.3), ("pan_right", 0.16), ("tilt_down", 0.03),
    ("zoom_in", 0.1), ("pan_left", 0.48), ("hand_shake", 0.05), ("zoom_out", 0.4), ("hand_held_pan", 0.1),
)  # fmt: skip

# Movements after which hardly anything is left where it was, for the second film of each photograph.
MOVING: tuple[tuple[str, float], ...] = (
    ("pan_right", 0.45), ("hand_held_pan", 0.4), ("pan_left", 0.5), ("pan_and_tilt", 0.4), ("pan_right", 0.35),
    ("zoom_and_pan", 0.4), ("pan_left", 0.4),
)  # fmt: skip


@dataclass(frozen=True)
class Shot:
    """One film to be made; everything that determines it but its size."""

    name: str
    photograph: str
    motion: str
    speed: float
    """Share of the view that is gone by the last frame, 0..1."""
    frames: int
    water_share: float = 0.0
    """Share of the view that moving water covers on average, 0..1."""
    noise: float = 1.5
    """Standard deviation of the sensor noise in grey levels."""
    seed: int = 0


@dataclass(frozen=True)
class Film:
    """A filmed shot with its ground truth."""

    frames: Frames
    homographies: npt.NDArray[np.float64]
    """``float64[T, 3, 3]``: pixel coordinates (x, y) of each frame to those of the photograph, pixel centres at integers."""
    water: Hole | None
    """True where there is any water; None where the shot has none."""
    water_share: float


def shots(count: int = 40, *, width: int = 416, height: int = 240, seed: int = 0, frames: int | None = None) -> tuple[Shot, ...]:
    """The first ``count`` shots that can be filmed at a size without enlarging a photograph; every second has water.

    Their lengths vary between ``FEWEST_FRAMES`` and ``MOST_FRAMES`` unless ``frames`` gives all of them one.

    Raises:
        InputError: no photograph is large enough.
    """
    plan: list[tuple[str, float, list[str]]] = []
    for motion, speed in PLAN:
        scales = {name: _largest_scale(name, motion, speed=speed, view=(width, height)) for name in PHOTOGRAPHS}
        if large_enough := [name for name, scale in scales.items() if scale >= 1]:
            plan.append((motion, speed, large_enough))
    if not plan:
        largest = max(PHOTOGRAPHS.values(), key=lambda photograph: photograph.width)
        raise InputError(
            f"no embedded photograph is large enough for {width}x{height} clips, the largest ({largest.name}) is "
            f"{largest.width}x{largest.height}: choose a smaller clip size"
        )
    uses: Counter[str] = Counter()
    made = []
    for index in range(count):
        turn, place = divmod(index, len(plan))
        motion, speed, photographs = plan[place]
        # The least used so far: small photographs, which few motions fit, get those.
        photograph = min(photographs, key=lambda name: uses[name])
        uses[photograph] += 1
        # What had water in one turn of the plan has none in the next.
        water = (place + turn) % 2 == 1
        made.append(Shot(
            name=f"{index:03d}_{photograph}_{motion}{'_water' if water else ''}", photograph=photograph, motion=motion,
            speed=round(speed * (1 - 0.15 * (turn % 4)), 4),
            frames=FEWEST_FRAMES + 7 * index % (MOST_FRAMES - FEWEST_FRAMES + 1) if frames is None else frames,
            water_share=round(0.37 + 0.06 * (index * 5 % 8) / 7, 3) if water else 0.0, seed=seed,
        ))  # fmt: skip
    return tuple(made)


def stills_and_pans(count: int = 14, *, width: int = 416, height: int = 240, seed: int = 0, frames: int = 60) -> tuple[Shot, ...]:
    """Each photograph with a stated licence twice, from a tripod and by a moving camera, so that nothing but the camera differs.

    Raises:
        InputError: ``count`` are more than these films, or the photographs are too small for the size.
    """
    free = [name for name, photograph in PHOTOGRAPHS.items() if photograph.licence]
    if count > 2 * len(free):
        raise InputError(
            f"{len(free)} photographs give {2 * len(free)} films, each from a tripod and by a moving camera: not {count}"
        )
    made: list[Shot] = []
    for index, name in enumerate(free):
        motion, speed = MOVING[index % len(MOVING)]
        for kind, share in (("tripod", 0.0), (motion, speed)):
            shot = Shot(f"{len(made):03d}_{name}_{kind}", name, kind, share, frames, seed=seed)
            camera_path(shot, width=width, height=height)
            made.append(shot)
    return tuple(made[:count])


def _largest_scale(photograph: str, motion: str, *, speed: float, view: tuple[int, int]) -> float:
    size = (PHOTOGRAPHS[photograph].width, PHOTOGRAPHS[photograph].height)
    return virtual_camera.largest_scale(MOTIONS[motion], speed=speed, view=view, photograph=size)


def film(shot: Shot, *, width: int, height: int) -> Film:
    """Film a shot: the same bytes every time, on any number of threads.

    Raises:
        InputError: the photograph would have to be enlarged for this size and motion, or the speed is out of range.
        UnknownNameError: no such photograph or motion.
    """
    made = noiseless(shot, width=width, height=height)
    virtual_camera.add_sensor_noise(made.frames, sigma=shot.noise, rng=_rng(shot, "noise"))
    return made


def noise_of(shot: Shot, shape: tuple[int, ...]) -> npt.NDArray[np.int16]:
    """The levels that ``film`` adds to each value of frames ``[T, H, W, 3]``, as far as these do not leave 0..255."""
    grey = np.full(shape, 128, np.uint8)
    virtual_camera.add_sensor_noise(grey, sigma=shot.noise, rng=_rng(shot, "noise"))
    return np.asarray(grey, np.int16) - np.int16(128)


def noiseless(shot: Shot, *, width: int, height: int) -> Film:
    """``film`` without the noise of the sensor; raises the same."""
    path = camera_path(shot, width=width, height=height)
    photograph = video.read_image(PHOTOGRAPHS[shot.photograph].path())
    frames = np.stack(list(virtual_camera.capture(photograph, path, width=width, height=height)))
    shoreline = _shoreline(shot, path, view=(width, height))
    if shoreline is None:
        return Film(frames=frames, homographies=path, water=None, water_share=0.0)
    middle = (path[:, 0] @ [(width - 1) / 2, (height - 1) / 2, 1]).mean()
    water = fill(shoreline, photograph=photograph, middle=float(middle), rng=_rng(shot, "waves"))
    painted = [
        water.paint(frame, transform=transform, seconds=index / FRAMES_PER_SECOND)
        for index, (frame, transform) in enumerate(zip(frames, path, strict=True))
    ]
    share = shoreline.share(path, view=(width, height))
    return Film(frames=frames, homographies=path, water=np.stack(painted), water_share=share)


def _shoreline(shot: Shot, path: Transforms, *, view: tuple[int, int]) -> Shoreline | None:
    return lay_shoreline(path, view=view, share=shot.water_share, rng=_rng(shot, "shoreline")) if shot.water_share else None


def camera_path(shot: Shot, *, width: int, height: int) -> Transforms:
    """The homographies of ``film``, without filming. Raises what ``film`` raises."""
    if shot.photograph not in PHOTOGRAPHS:
        raise UnknownNameError(unknown_name("photograph", shot.photograph, PHOTOGRAPHS))
    if shot.motion not in MOTIONS:
        raise UnknownNameError(unknown_name("motion", shot.motion, MOTIONS))
    photograph, view, rng = PHOTOGRAPHS[shot.photograph], (width, height), _rng(shot, "path")
    if not 0 <= shot.speed < 1:
        raise InputError(f"shot {shot.name!r} has speed {shot.speed:g}, it must be a share of the view from 0 to below 1")
    if _largest_scale(shot.photograph, shot.motion, speed=shot.speed, view=view) < 1:
        raise InputError(
            f"photograph {photograph.name!r} ({photograph.width}x{photograph.height}) is too small for a {width}x{height} "
            f"{shot.motion} of speed {shot.speed:g}: choose a smaller clip size or a slower motion"
        )
    jitter = rng.uniform(-_FOCUS_SPREAD, _FOCUS_SPREAD, 2)
    return virtual_camera.transforms(
        MOTIONS[shot.motion],
        speed=shot.speed,
        frames=shot.frames,
        view=view,
        photograph=(photograph.width, photograph.height),
        focus=((photograph.focus[0] + jitter[0]) * photograph.width, (photograph.focus[1] + jitter[1]) * photograph.height),
        lift=_WATER_LIFT if shot.water_share else 0.0,
        rng=rng,
    )


def water_share(shot: Shot, *, width: int, height: int) -> float:
    """Share of the view that the water really covers, averaged over the frames, without filming. Raises what ``film`` raises."""
    path, view = camera_path(shot, width=width, height=height), (width, height)
    shoreline = _shoreline(shot, path, view=view)
    return shoreline.share(path, view=view) if shoreline else 0.0


def _rng(shot: Shot, step: str) -> np.random.Generator:
    # One stream for each use, so that none depends on how much another draws.
    return item_rng(shot.seed, f"embedded {step}", shot.name)


def render(payload: Mapping[str, Any], path: Path | str) -> None:
    """Film the shot of ``payload`` at its size and write it without loss to ``path``."""
    shot = Shot(**{field.name: payload[field.name] for field in fields(Shot)})
    frames = film(shot, width=payload["width"], height=payload["height"]).frames
    video.write_lossless(path, frames, fps=FRAMES_PER_SECOND)


class EmbeddedSources(SourceLeaf):
    """Photographs of the scikit-image wheel, filmed by a virtual camera; half of them with moving water."""

    name = "embedded"
    version = "2"

    def __init__(
        self, *, count: Whole = 40, width: Side = 416, height: Side = 240, seed: Seed = 0, frames: AtLeastOne | None = None,
        stills_and_pans: bool = False,
    ) -> None:  # fmt: skip
        """With ``stills_and_pans`` each photograph is filmed from a tripod and by a moving camera, and there is no mixed plan."""
        self.count, self.width, self.height, self.seed, self.frames = count, width, height, seed, frames
        self.stills_and_pans = stills_and_pans

    def footage(self) -> Iterator[Footage]:
        """The shots, in order, with their scene motion known.

        Raises:
            InputError: no photograph is large enough for the size.
        """
        plan = partial(shots, frames=self.frames)
        if self.stills_and_pans:
            plan = partial(stills_and_pans, frames=self.frames or FEWEST_FRAMES)
        for shot in plan(self.count, width=self.width, height=self.height, seed=self.seed):
            photograph = PHOTOGRAPHS[shot.photograph]
            payload = asdict(shot) | {"width": self.width, "height": self.height}
            share = water_share(shot, width=self.width, height=self.height)
            # Two films of one photograph are one source.
            of_one = {GROUP: shot.photograph} if self.stills_and_pans else {}
            known = {"bg_scene_motion_level": "high" if share else "low", "bg_scene_motion": round(share, 4), **of_one}
            yield photograph.footage(self, shot.name, payload, content=[payload], known=known)

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:
        """Film the shot of ``payload`` into the folder ``scratch``; the path of the file."""
        path = Path(scratch) / f"{payload['name']}.mp4"
        render(payload, path)
        return str(path)
