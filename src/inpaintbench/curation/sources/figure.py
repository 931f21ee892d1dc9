"""Figures of people: their poses, how they look, the parts they are made of, and how these are painted.

A pose has joint angles in space, and where the joints then are. Body coordinates have their origin at the pelvis and the figure's
height as unit: x to the figure's own left, y down, z forward. Angles are degrees. Flexion swings a limb forward, abduction away
from the middle of the body; both are 0 for a limb that hangs down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import cast

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.types import Joint

# `float64[3]`: x, y, z.
Point = npt.NDArray[np.float64]
# Name and side of a joint, as in `types.Joint`.
Key = tuple[str, str | None]
SIDES: tuple[tuple[str, int], ...] = (("left", 1), ("right", -1))

SHIN = THIGH = 0.245
UPPER_ARM, FOREARM, HAND = 0.172, 0.145, 0.06
TORSO, NECK, HEAD = 0.285, 0.055, 0.135
HALF_SHOULDERS, HALF_HIPS, SHOULDER_DROP, HIP_DROP = 0.105, 0.05, 0.012, 0.02
FOOT = 0.085


@dataclass(frozen=True)
class Pose:
    """Angles in degrees; pairs are (left, right)."""

    shoulder_flexion: tuple[float, float] = (0, 0)
    shoulder_abduction: tuple[float, float] = (12, 12)
    elbow: tuple[float, float] = (12, 12)
    """Angle by which the forearm is bent out of the line of the upper arm, forward."""
    forearm_abduction: tuple[float, float] = (0, 0)
    """Angle by which the forearm is bent outwards; negative is inwards."""
    hip_flexion: tuple[float, float] = (0, 0)
    hip_abduction: tuple[float, float] = (5, 5)
    knee: tuple[float, float] = (3, 3)
    lean: float = 0
    """Lean of the trunk, forward."""
    bend: float = 0
    """Bend of the trunk, to the figure's left."""
    nod: float = 0
    tilt: float = 0


# Named poses, before chance varies them.
POSES: Mapping[str, Pose] = {
    "standing": Pose(shoulder_abduction=(14, 13), forearm_abduction=(-6, -6)),
    "at_ease": Pose(
        shoulder_abduction=(32, 12), elbow=(20, 14), forearm_abduction=(-95, -4), hip_abduction=(3, 9), knee=(2, 8), bend=3
    ),
    "walking": Pose(
        shoulder_flexion=(-26, 28), shoulder_abduction=(8, 8), elbow=(18, 30), hip_flexion=(27, -20), hip_abduction=(2, 2),
        knee=(8, 30), lean=3,
    ),
    "striding": Pose(
        shoulder_flexion=(34, -36), shoulder_abduction=(8, 8), elbow=(62, 55), hip_flexion=(-22, 42), hip_abduction=(2, 2),
        knee=(48, 28), lean=9,
    ),
    "arms_raised": Pose(
        shoulder_abduction=(148, 152), elbow=(10, 10), forearm_abduction=(18, 14), hip_abduction=(9, 9), nod=-6
    ),
    "waving": Pose(
        shoulder_abduction=(95, 12), forearm_abduction=(65, -4), elbow=(8, 15), hip_abduction=(5, 6), bend=-3, tilt=5
    ),
    "arms_out": Pose(shoulder_abduction=(82, 86), elbow=(14, 10), forearm_abduction=(4, 8), hip_abduction=(14, 13)),
    "reaching": Pose(
        shoulder_flexion=(82, 64), shoulder_abduction=(10, 16), elbow=(20, 34), hip_flexion=(14, -8), knee=(14, 6), lean=8
    ),
    "sitting": Pose(
        shoulder_flexion=(30, 28), shoulder_abduction=(9, 10), elbow=(48, 52), forearm_abduction=(-10, -8),
        hip_flexion=(82, 80), hip_abduction=(9, 10), knee=(80, 84), lean=4,
    ),
}  # fmt: skip


def vary(pose: Pose, rng: np.random.Generator, *, spread_degrees: float = 6.0) -> Pose:
    """The pose with normal noise on all angles, mirrored in half of the cases."""
    mirrored = bool(rng.random() < 0.5)
    angles: dict[str, object] = {}
    for entry in fields(Pose):
        value = getattr(pose, entry.name)
        if isinstance(value, tuple):
            left, right = (float(angle + spread_degrees * rng.standard_normal()) for angle in value)
            angles[entry.name] = (right, left) if mirrored else (left, right)
        else:
            noisy = float(value + spread_degrees / 3 * rng.standard_normal())
            angles[entry.name] = -noisy if mirrored and entry.name in ("bend", "tilt") else noisy
    # Knees and elbows do not bend backwards.
    for name in ("knee", "elbow"):
        angles[name] = tuple(max(1.0, angle) for angle in angles[name])  # type: ignore[attr-defined]
    return Pose(**angles)  # type: ignore[arg-type]


def skeleton(pose: Pose, *, turn_degrees: float) -> dict[Key, Point]:
    """The 16 joints, and ``hand`` and ``toe`` of both sides, seen from the front after turning by ``turn_degrees``.

    x is to the right of the picture, y down, z towards the viewer; the origin is the pelvis. A figure that is not turned faces
    the viewer; one turned by 90 looks to the right of the picture.
    """
    # Unit vectors up the trunk and to the figure's left across the shoulders.
    lean, bend = math.radians(pose.lean), math.radians(pose.bend)
    up = np.array([math.sin(bend), -math.cos(bend) * math.cos(lean), math.cos(bend) * math.sin(lean)])
    across = np.array([math.cos(bend), math.sin(bend), 0])
    thorax = TORSO * up
    neck = thorax + NECK * up
    look = _direction(pose.nod - pose.lean, pose.tilt + pose.bend)
    joints: dict[Key, Point] = {
        ("pelvis", None): np.zeros(3),
        ("thorax", None): thorax,
        ("upper_neck", None): neck,
        ("head_top", None): neck - HEAD * look,
    }
    for index, (side, sign) in enumerate(SIDES):
        joints |= _arm(pose, index, sign, side, root=thorax + sign * HALF_SHOULDERS * across - SHOULDER_DROP * up)
        joints |= _leg(pose, index, sign, side, root=np.array([sign * HALF_HIPS, HIP_DROP, 0]))
    turn = math.radians(turn_degrees)
    return {
        key: np.array([x * math.cos(turn) + z * math.sin(turn), y, z * math.cos(turn) - x * math.sin(turn)])
        for key, (x, y, z) in joints.items()
    }


def _arm(pose: Pose, index: int, sign: int, side: str, *, root: Point) -> dict[Key, Point]:
    flexion, abduction = pose.shoulder_flexion[index], sign * pose.shoulder_abduction[index]
    bent = abduction + sign * pose.forearm_abduction[index]
    elbow = root + UPPER_ARM * _direction(flexion, abduction)
    along = _direction(flexion + pose.elbow[index], bent)
    wrist = elbow + FOREARM * along
    return {("shoulder", side): root, ("elbow", side): elbow, ("wrist", side): wrist, ("hand", side): wrist + HAND * along}


def _leg(pose: Pose, index: int, sign: int, side: str, *, root: Point) -> dict[Key, Point]:
    flexion, abduction = pose.hip_flexion[index], sign * pose.hip_abduction[index]
    knee = root + THIGH * _direction(flexion, abduction)
    bent = flexion - pose.knee[index]
    ankle = knee + SHIN * _direction(bent, abduction * 0.6)
    toe = ankle + np.array([sign * 0.25 * FOOT, 0.02, 0.95 * FOOT])
    return {("hip", side): root, ("knee", side): knee, ("ankle", side): ankle, ("toe", side): toe}


def _direction(flexion: float, abduction: float) -> Point:
    """The unit vector of a limb; ``abduction`` is positive to the figure's left."""
    forward, aside = math.radians(flexion), math.radians(abduction)
    return np.array([math.sin(aside), math.cos(aside) * math.cos(forward), math.cos(aside) * math.sin(forward)])


# `float32[H, W, 3]` RGB, 0..255.
Canvas = npt.NDArray[np.float32]
Plane = npt.NDArray[np.float32]
Colour = tuple[float, float, float]
# Towards the light, from the upper left and the front: x right, y down, z to the viewer; a unit vector.
LIGHT = np.array([-0.42, -0.62, 0.66])
AMBIENT = 0.5
# How softly the shapes of one part flow into each other, as a share of their radius.
_BLEND = 0.22
_SHADOW = 0.34


@dataclass(frozen=True)
class Cloth:
    """Material of a part."""

    colour: Colour
    second: Colour
    pattern: str = "plain"
    """``plain``, ``stripes``, ``checks`` or ``weave``."""
    period: float = 10.0
    """Period of the pattern, in pixels."""


@dataclass(frozen=True)
class Limb:
    """A straight piece of a body that tapers: a disc of radius ``first`` moved to ``end`` while growing to ``last``. Pixels."""

    start: tuple[float, float]
    """(x, y)"""
    end: tuple[float, float]
    first: float
    last: float


@dataclass(frozen=True)
class Part:
    """Limbs of one cloth that are painted as one shape."""

    name: str
    limbs: tuple[Limb, ...]
    cloth: Cloth
    depth: float
    """Parts of greater depth are painted later."""


def paint(canvas: Canvas, part: Part, *, weave: Plane) -> None:
    """Paint ``part`` over ``canvas``, in place; ``weave``: noise of its size, about -1..1, for the grain of cloth."""
    box = _box(part, canvas.shape[:2])
    if box is None:
        return
    rows, columns = box
    # Of each limb: how deep inside each pixel is, the surface's normal, and cloth coordinates along and across.
    y, x = np.mgrid[rows, columns].astype(np.float32)
    fields = [_limb_field(limb, x, y) for limb in part.limbs]
    softness = _BLEND * min(min(limb.first, limb.last) for limb in part.limbs) + 0.3
    depth = np.stack([field[0] for field in fields])
    nearest = depth.max(axis=0)
    weights = np.exp((depth - nearest) / softness)
    total = weights.sum(axis=0)
    weights /= total
    mixed = sum(weight[..., None] * field[1] for weight, field in zip(weights, fields, strict=True))
    # The logarithm lets shapes flow together where they meet, and changes nothing where one is alone.
    deep = nearest + softness * np.log(total) if len(fields) > 1 else nearest
    coverage = np.clip(deep.astype(np.float32) + 0.5, 0, 1)
    under = canvas[rows, columns]
    # Soft contact shadow of a shape on what lies below it.
    under *= (1 - _SHADOW * np.asarray(cv2.GaussianBlur(coverage, (0, 0), 4.0), np.float32))[..., None]
    # Cloth of the first limb everywhere: patterns run on where shapes meet.
    first, second = np.array(part.cloth.colour, np.float32), np.array(part.cloth.second, np.float32)
    share = _pattern(part.cloth, *fields[0][2:])[..., None]
    colour = np.asarray((first + share * (second - first)) * (1 + 0.05 * weave[rows, columns][..., None]), np.float32)
    normal = np.asarray(mixed, np.float32)
    facing = np.maximum(normal @ LIGHT.astype(np.float32) / (np.sqrt(np.square(normal).sum(axis=-1)) + 1e-6), 0)
    lit = colour * np.asarray(AMBIENT + (1.14 - AMBIENT) * facing, np.float32)[..., None]
    under += coverage[..., None] * (lit - under)


def covers(part: Part, x: float, y: float) -> bool:
    """Return whether a limb of ``part`` lies over the point (x, y)."""
    point = np.array(x, np.float32), np.array(y, np.float32)
    return any(float(_limb_field(limb, *point)[0]) > 0 for limb in part.limbs)


def _box(part: Part, shape: tuple[int, ...]) -> tuple[slice, slice] | None:
    """Rows and columns that hold the part and its shadow, inside the canvas."""
    reach = max(max(limb.first, limb.last) for limb in part.limbs) * 1.3 + 8
    points = np.array([point for limb in part.limbs for point in (limb.start, limb.end)])
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    left, top = (max(0, int(value)) for value in low)
    right, bottom = (min(side, int(value) + 1) for value, side in zip(high, (shape[1], shape[0]), strict=True))
    return (slice(top, bottom), slice(left, right)) if left < right and top < bottom else None


def _limb_field(limb: Limb, x: Plane, y: Plane) -> tuple[Plane, Plane, Plane, Plane]:
    (x0, y0), (x1, y1) = limb.start, limb.end
    dx, dy = x1 - x0, y1 - y0
    length = max(float(np.hypot(dx, dy)), 1e-3)
    share = ((x - x0) * dx + (y - y0) * dy) / length**2
    held = np.clip(share, 0, 1)
    radius = limb.first + (limb.last - limb.first) * held
    off_x, off_y = x - (x0 + held * dx), y - (y0 + held * dy)
    distance = np.hypot(off_x, off_y)
    tilt_x, tilt_y = off_x / radius, off_y / radius
    flat = np.minimum(tilt_x**2 + tilt_y**2, 1)
    normal = np.stack([tilt_x, tilt_y, np.sqrt(1 - flat)], axis=-1)
    across = (-(x - x0) * dy + (y - y0) * dx) / length
    surface = (radius - distance, normal, share * length, across)
    return cast(tuple[Plane, Plane, Plane, Plane], tuple(np.asarray(field, np.float32) for field in surface))


def _pattern(cloth: Cloth, along: Plane, across: Plane) -> Plane:
    """Share of the second colour, 0..1, with edges a pixel wide."""
    turns = 2 * np.pi / cloth.period
    share = np.zeros_like(along)
    if cloth.pattern in ("stripes", "checks"):
        ways = (along, across) if cloth.pattern == "checks" else (along,)
        bars = [np.clip(cloth.period / (2 * np.pi) * np.sin(way * turns) + 0.5, 0, 1) for way in ways]
        share = np.asarray(sum(bars) / len(bars), np.float32)
    elif cloth.pattern == "weave":
        share = 0.5 + 0.5 * np.sin((along + across) * turns)
    return share


def ground_shadow(canvas: Canvas, feet: Sequence[tuple[float, float]], *, size: float) -> None:
    """Darken the ground below feet at (x, y), in place; ``size``: height of the figure in pixels."""
    shadow = np.zeros(canvas.shape[:2], np.float32)
    for x, y in feet:
        axes = (round(0.1 * size), round(0.022 * size))
        cv2.ellipse(shadow, (round(x + 0.03 * size), round(y)), axes, 0, 0, 360, 1.0, -1)
    canvas *= (1 - 0.5 * cv2.GaussianBlur(shadow, (0, 0), 0.02 * size + 1))[..., None]


SKINS: tuple[Colour, ...] = ((244, 208, 181), (226, 178, 143), (198, 144, 108), (156, 104, 74), (110, 72, 52), (80, 52, 40))
HAIRS: tuple[Colour, ...] = ((38, 30, 27), (74, 48, 32), (120, 82, 48), (190, 150, 92), (150, 148, 146), (130, 58, 34))
CLOTHS: tuple[Colour, ...] = (
    (176, 52, 48), (38, 74, 138), (232, 228, 220), (52, 112, 84), (224, 166, 58), (94, 62, 120), (206, 104, 66), (64, 66, 74),
    (120, 170, 190), (214, 140, 150),
)  # fmt: skip
TROUSERS: tuple[Colour, ...] = ((46, 58, 88), (60, 58, 60), (128, 108, 82), (90, 98, 76), (170, 160, 142), (92, 50, 46))
PATTERNS = ("plain", "plain", "stripes", "checks", "weave")
SEAT = Cloth((122, 88, 58), (100, 70, 46), "weave", 7)
# Depth behind the pelvis, in heights, from where on the trunk hides its own joints.
_FAR_SIDE = 0.045
# Labelled names; those with sides on both: 16 joints.
JOINT_NAMES = ("ankle", "knee", "hip", "pelvis", "thorax", "upper_neck", "head_top", "wrist", "elbow", "shoulder")


@dataclass(frozen=True)
class Look:
    """Clothes of a figure, and how broad it is."""

    shirt: Cloth
    trousers: Cloth
    skin: Cloth
    hair: Cloth
    shoes: Cloth
    long_sleeves: bool
    long_trousers: bool
    long_hair: bool
    girth: float
    """Factor on all radii."""


@dataclass(frozen=True)
class Figure:
    """A figure in place: its joints in pixels and its parts, the first to be painted first."""

    joints: Mapping[Key, Point]
    """x, y in pixels of the picture, z in pixels towards the viewer."""
    parts: tuple[Part, ...]
    size: float
    """Height in pixels."""


def draw_look(rng: np.random.Generator, *, size: float) -> Look:
    """A look by chance; ``size``: height of the figure in pixels, which sets how coarse patterns are."""

    def pick(colours: Sequence[Colour]) -> Colour:
        return colours[int(rng.integers(len(colours)))]

    def cloth(colours: Sequence[Colour], patterns: Sequence[str]) -> Cloth:
        pattern = patterns[int(rng.integers(len(patterns)))]
        return Cloth(pick(colours), pick(colours), pattern, size * float(rng.uniform(0.018, 0.045)))

    trousers = cloth(TROUSERS, ("plain", "plain", "plain", "weave"))
    return Look(
        shirt=cloth(CLOTHS, PATTERNS),
        trousers=trousers,
        skin=Cloth(skin := pick(SKINS), skin),
        hair=Cloth(hair := pick(HAIRS), (0.75 * hair[0], 0.75 * hair[1], 0.75 * hair[2]), "weave", 0.012 * size),
        shoes=Cloth(shoe := pick(HAIRS + CLOTHS[2:4]), shoe),
        long_sleeves=bool(rng.random() < 0.5),
        long_trousers=bool(rng.random() < 0.75),
        long_hair=bool(rng.random() < 0.4),
        girth=float(rng.uniform(0.92, 1.14)),
    )


def place_figure(
    skeleton: Mapping[Key, Point], look: Look, *, turn_degrees: float, size: float, pelvis: tuple[float, float], seated: bool
) -> Figure:
    """The figure ``size`` pixels tall with its pelvis at (x, y) of the picture."""
    origin = np.array([pelvis[0], pelvis[1], 0.0])
    joints = {key: origin + size * point for key, point in skeleton.items()}
    builder = _Builder(joints, look, size, math.radians(turn_degrees))
    parts = [*builder.legs(), *builder.trunk(), *builder.arms(), *builder.head()]
    if seated:
        parts.append(builder.seat())
    return Figure(joints, tuple(sorted(parts, key=lambda part: part.depth)), size)


def labels(figures: Sequence[Figure], *, width: int, height: int) -> Iterator[Joint]:
    """The 16 joints of every figure that lie inside the picture, told visible or occluded; later figures stand in front."""
    for person, figure in enumerate(figures):
        others = [part for later in figures[person + 1 :] for part in later.parts]
        for (name, side), (x, y, z) in figure.joints.items():
            if name not in JOINT_NAMES or not (-0.5 <= x < width - 0.5 and -0.5 <= y < height - 0.5):
                continue
            own = _home(name, side)
            first = max((i for i, part in enumerate(figure.parts) if part.name in own), default=0)
            # What the trunk wears over a joint that lies on the near side of it does not hide that.
            near = name in ("hip", "shoulder", "pelvis", "thorax") and z / figure.size > -_FAR_SIDE
            worn = (*own, "shirt", "hips", "left thigh", "right thigh") if near else own
            above = [part for part in figure.parts[first + 1 :] if part.name not in worn]
            hidden = any(covers(part, float(x), float(y)) for part in above + others)
            yield Joint(person, name, side, round(float(x), 2), round(float(y), 2), not hidden)


def _home(name: str, side: str | None) -> tuple[str, ...]:
    """The parts that a joint lies in."""
    if name in ("shoulder", "elbow", "wrist"):
        return f"{side} sleeve", f"{side} forearm", f"{side} hand"
    if name in ("hip", "knee", "ankle"):
        return f"{side} thigh", f"{side} shin", f"{side} shoe"
    return {"pelvis": ("hips", "shirt"), "thorax": ("shirt", "neck"), "upper_neck": ("neck", "head", "hair")}.get(
        name, ("head", "hair", "fringe")
    )


class _Builder:
    """Makes the parts of one figure; radii are shares of its height."""

    def __init__(self, joints: Mapping[Key, Point], look: Look, size: float, turn: float) -> None:
        self.joints, self.look, self.size = joints, look, size
        self.forward = np.array([math.sin(turn), 0.0, math.cos(turn)])
        self.breadth = abs(math.cos(turn))

    def limb(self, start: Point, end: Point, first: float, last: float) -> Limb:
        scale = self.size * self.look.girth
        return Limb((float(start[0]), float(start[1])), (float(end[0]), float(end[1])), first * scale, last * scale)

    def part(self, name: str, cloth: Cloth, depth: float, *limbs: Limb) -> Part:
        return Part(name, limbs, cloth, depth / self.size)

    def legs(self) -> Iterator[Part]:
        look = self.look
        for side, _ in SIDES:
            hip, knee, ankle, toe = (self.joints[name, side] for name in ("hip", "knee", "ankle", "toe"))
            depth = float(hip[2] + knee[2] * 2 + ankle[2]) / 4
            # Thighs that come forward hide the trunk; others vanish under the shirt.
            depth += -0.06 * self.size if knee[2] - hip[2] < 0.12 * self.size else 0
            shin = self.limb(knee, ankle, 0.034, 0.022)
            thigh = self.limb(hip, knee, 0.05, 0.035)
            heel = ankle + np.array([0, 0.016 * self.size, 0])
            yield self.part(f"{side} shoe", look.shoes, depth - 0.02, self.limb(heel, toe, 0.023, 0.016))
            if look.long_trousers:
                yield self.part(f"{side} thigh", look.trousers, depth, thigh, shin)
            else:
                yield self.part(f"{side} shin", look.skin, depth - 0.01, shin)
                yield self.part(f"{side} thigh", look.trousers, depth, self.limb(hip, knee, 0.054, 0.043))

    def trunk(self) -> Iterator[Part]:
        pelvis, thorax, neck = (self.joints[name, None] for name in ("pelvis", "thorax", "upper_neck"))
        left, right = (self.joints["shoulder", side] for side, _ in SIDES)
        hips = [self.joints["hip", side] for side, _ in SIDES]
        waist = 0.42 * thorax + 0.58 * pelvis
        chest = 0.8 * thorax + 0.2 * pelvis
        broad = self.breadth
        hem = 0.1 * thorax + 0.9 * pelvis
        yield self.part(
            "hips",
            self.look.trousers,
            -0.05 * self.size,
            self.limb(waist, pelvis, 0.052 + 0.012 * broad, 0.052 + 0.014 * broad),
            self.limb(hips[0], hips[1], 0.05, 0.05),
        )
        yield self.part("neck", self.look.skin, -0.006 * self.size, self.limb(thorax, neck, 0.034, 0.029))
        yield self.part(
            "shirt",
            self.look.shirt,
            0.0,
            self.limb(chest, waist, 0.064 + 0.02 * broad, 0.056 + 0.012 * broad),
            self.limb(waist, hem, 0.056 + 0.012 * broad, 0.061 + 0.022 * broad),
            self.limb(0.94 * left + 0.06 * right, 0.94 * right + 0.06 * left, 0.034, 0.034),
        )

    def arms(self) -> Iterator[Part]:
        look = self.look
        for side, _ in SIDES:
            shoulder, elbow, wrist, hand = (self.joints[name, side] for name in ("shoulder", "elbow", "wrist", "hand"))
            depth = float(shoulder[2] + elbow[2] + wrist[2]) / 3 + 0.02 * self.size
            upper, fore = self.limb(shoulder, elbow, 0.033, 0.025), self.limb(elbow, wrist, 0.025, 0.018)
            yield self.part(f"{side} hand", look.skin, depth - 0.02, self.limb(wrist, hand, 0.018, 0.014))
            if look.long_sleeves:
                yield self.part(f"{side} sleeve", look.shirt, depth, upper, fore)
            else:
                yield self.part(f"{side} forearm", look.skin, depth - 0.01, self.limb(elbow, wrist, 0.024, 0.018))
                short = 0.25 * shoulder + 0.75 * elbow
                yield self.part(f"{side} forearm", look.skin, depth - 0.005, self.limb(short, elbow, 0.025, 0.024))
                yield self.part(f"{side} sleeve", look.shirt, depth, self.limb(shoulder, short, 0.035, 0.032))

    def head(self) -> Iterator[Part]:
        neck, top = self.joints["upper_neck", None], self.joints["head_top", None]
        up, ahead = (top - neck) / (HEAD * self.size), self.forward
        chin, crown = neck + 0.046 * self.size * up, neck + 0.077 * self.size * up
        depth, look, unit = 0.02 * self.size, self.look, self.size
        back, front = crown - 0.016 * unit * ahead, crown + 0.05 * unit * ahead - 0.012 * unit * up
        if look.long_hair:
            # It falls behind the neck of who looks at us, and over the collar of who looks away.
            behind = -0.007 * self.size if ahead[2] > 0 else depth - 0.02
            yield self.part("hair", look.hair, behind, self.limb(back, chin - unit * (0.05 * up + 0.025 * ahead), 0.06, 0.046))
        yield self.part("head", look.skin, depth, self.limb(crown, chin, 0.057, 0.041))
        aside = np.cross(up, self.forward)
        for sign in (-1, 1):
            eye = front + self.size * (0.021 * sign * aside - 0.012 * up)
            if eye[2] > front[2] - 0.02 * self.size and self.forward[2] > 0:
                yield self.part("head", Cloth((40, 32, 30), (40, 32, 30)), depth + 0.01, self.limb(eye, eye, 0.0065, 0.0065))
        if self.forward[2] > -0.2:
            tip, mouth = front - 0.026 * self.size * up, front - 0.046 * self.size * up
            yield self.part("head", self.look.skin, depth + 0.01, self.limb(front - 0.01 * self.size * up, tip, 0.005, 0.009))
            if self.forward[2] > 0.2:
                lips, half = Cloth((158, 78, 74), (158, 78, 74)), 0.012 * self.size * aside
                yield self.part("head", lips, depth + 0.01, self.limb(mouth - half, mouth + half, 0.0045, 0.0045))
        # From the front hair covers the crown alone, from behind the whole head.
        away = max(0.0, -float(ahead[2]))
        middle = crown + unit * ((0.027 - 0.032 * away) * up - (0.019 + 0.005 * away) * ahead)
        radius = 0.046 + 0.011 * away
        yield self.part("fringe", look.hair, depth + 0.03, self.limb(middle, middle - 0.02 * unit * ahead, radius, radius))

    def seat(self) -> Part:
        pelvis = self.joints["pelvis", None] + np.array([0, 0.1 * self.size, 0])
        floor = max(self.joints["ankle", side][1] for side, _ in SIDES)
        foot = np.array([pelvis[0], floor, 0])
        aside = np.array([0.085 * self.size, 0, 0])
        return self.part(
            "seat", SEAT, -self.size,
            self.limb(pelvis - aside, pelvis + aside, 0.036, 0.036), self.limb(pelvis, foot, 0.02, 0.02),
            self.limb(foot - 0.8 * aside, foot + 0.8 * aside, 0.016, 0.016),
        )  # fmt: skip
