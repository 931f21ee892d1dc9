"""Impressions: from the master print of a finger to one picture of it, by contact region, ink and movement of the skin."""

from __future__ import annotations

import math
from typing import Literal, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints.elastic import elastic_field, remapped, warp
from inpaintbench.wings.chalearn.fingerprints.ink import NEUTRAL_PRESSURE, random_specks, scratched, smoothed, stamped, thickened
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression, Print
from inpaintbench.wings.chalearn.fingerprints.silhouette import Bitmap, Outline, draw_axes, edge_specks, outline, region
from inpaintbench.wings.chalearn.fingerprints.skin import Skin, origins

# `uint8[H, W]`, 255 = paper, 0 = ink.
Picture = npt.NDArray[np.uint8]
PAPER = 255
Style = Literal["natural", "challenge"]
CHALLENGE_PLASTICITY = 2.0
MOST_ROTATION_DEGREES = 10.0
# Largest translation along each axis, pixels at 500 per inch.
MOST_TRANSLATION = 5


def draw_impression(
    rng: np.random.Generator,
    *,
    finger: Finger,
    number: int,
    seed: int,
    moisture: float | None = None,
    style: Style = "natural",
) -> Impression:
    """Draw impression ``number`` of ``finger``.

    Style ``challenge`` is that of the ChaLearn 2018 challenge: no moisture and no scratches, all of the finger, specks of density
    5/9 to 13/9, rotation within 10 degrees and translation by whole pixels within 5 (at 500 per inch). ``natural`` also draws
    moisture (unless given), pressure, the contact region, specks and scratches; a quarter of its prints move rigidly.

    Raises:
        InputError: an unknown style, a negative number, a moisture outside -1..1, or any moisture in the challenge's style.
    """
    _check_arguments(number, moisture, style)
    axes = draw_axes(rng, width=finger.width, height=finger.height, pixels_per_inch=finger.pixels_per_inch)
    if style == "challenge":
        return _challenge(rng, finger, number, seed, axes)
    return _natural(rng, finger, number, seed, axes, moisture)


def impress(master: Picture, finger: Finger, impression: Impression) -> Picture:
    """Render the undistorted picture ``uint8[H, W]``: the impression of ``master`` before the elastic field.

    Raises:
        InputError: the master is not of the finger's size.
    """
    _check_master(master, finger)
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    inked = _inked(master, finger, impression, scale)
    x, y = origins(Skin.of(finger, impression))
    return remapped(inked, x, y)


def printed(master: Picture, print_: Print) -> tuple[Picture, Picture]:
    """Render (undistorted, truth), both ``uint8[H, W]``: the truth is the undistorted picture warped by the elastic field."""
    undistorted = impress(master, print_.finger, print_.impression)
    elastic = print_.elastic
    height, width = master.shape
    field = elastic_field(height, width, seed=elastic.seed, strength=elastic.strength, reach=elastic.reach)
    return undistorted, warp(undistorted, field)


def _inked(master: Picture, finger: Finger, impression: Impression, scale: float) -> Picture:
    """Render the print before the skin moves; each stage has its own random stream, independent of the others."""
    height, width = master.shape
    edge = outline(finger, impression, _stream(impression, "outline"))
    inside = region(edge, height=height, width=width)
    inwards = np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, 3), np.float32)
    picture = thickened(
        master,
        moisture=impression.moisture,
        pressure=impression.pressure,
        inwards=inwards,
        scale=scale,
        rng=_stream(impression, "moisture"),
    )
    picture = scratched(picture, impression.scratches, scale=scale, rng=_stream(impression, "scratches"))
    picture[(inside == 0) | (_edge_specks(edge, impression, height, width, scale) > 0)] = PAPER
    specked = picture.copy()
    specked[_specks(impression, height, width, scale) > 0] = PAPER
    # Random specks are smoothed to grey, not set to white again as in Anguli: so the mean square of the truth and its share of
    # dark pixels equal those of the challenge's prints.
    return smoothed(specked, kept=picture)


def _specks(impression: Impression, height: int, width: int, scale: float) -> Bitmap:
    rng = _stream(impression, "specks")
    drawn = random_specks(impression.noise, height=height, width=width, scale=scale, rng=rng)
    return stamped(drawn, height=height, width=width, scale=scale, rng=rng)


def _edge_specks(edge: Outline, impression: Impression, height: int, width: int, scale: float) -> Bitmap:
    rng = _stream(impression, "edge")
    return stamped(edge_specks(edge, scale=scale, rng=rng), height=height, width=width, scale=scale, rng=rng)


def _stream(impression: Impression, stage: str) -> np.random.Generator:
    return item_rng(impression.seed, f"fingerprints.impression.{stage}", "")


def _challenge(rng: np.random.Generator, finger: Finger, number: int, seed: int, axes: tuple[float, ...]) -> Impression:
    left, right, lower, upper = axes
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    shift = rng.integers(-MOST_TRANSLATION, MOST_TRANSLATION, 2, endpoint=True) * scale
    return Impression(
        number=number,
        moisture=0.0,
        pressure=NEUTRAL_PRESSURE,
        silhouette=(left, right, lower, upper),
        contact_shift=(0.0, 0.0),
        rotation_degrees=float(rng.uniform(-MOST_ROTATION_DEGREES, MOST_ROTATION_DEGREES)),
        translation=(float(shift[0]), float(shift[1])),
        skin_plasticity=CHALLENGE_PLASTICITY,
        noise=float(rng.uniform(5, 13)) / 9,
        scratches=0,
        seed=seed,
    )


def _natural(
    rng: np.random.Generator, finger: Finger, number: int, seed: int, axes: tuple[float, ...], moisture: float | None
) -> Impression:
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    pressure = float(rng.beta(2.5, 2.0))
    drawn = float(np.clip(rng.normal(0, 0.45), -1, 1))
    touching = 0.80 + 0.18 * pressure
    left, right, lower, upper = (touching * axis for axis in axes)
    room = np.array([finger.width, finger.height]) * (0.51 - 0.5 * touching)
    contact = np.clip(rng.normal(0, 0.5, 2), -1, 1) * room
    rotation = float(np.clip(rng.normal(0, 0.45), -1, 1)) * MOST_ROTATION_DEGREES
    shift = np.clip(rng.normal(0, 0.5, 2), -1, 1) * MOST_TRANSLATION * scale
    plasticity = 0.0 if rng.random() < 0.25 else float(rng.uniform(1.5, 3.0))
    return Impression(
        number=number,
        moisture=drawn if moisture is None else float(moisture),
        pressure=pressure,
        silhouette=(left, right, lower, upper),
        contact_shift=(float(contact[0]), float(contact[1])),
        rotation_degrees=rotation,
        translation=(float(shift[0]), float(shift[1])),
        skin_plasticity=plasticity,
        noise=float(rng.uniform(0.15, 0.9)),
        scratches=int(rng.poisson(1.6)),
        seed=seed,
    )


def _check_arguments(number: int, moisture: float | None, style: str) -> None:
    if style not in get_args(Style):
        raise InputError(f"there is no style {style!r} of impressions: give natural or challenge")
    if number < 0:
        raise InputError(f"the number of the impression is {number}: impressions count from 0")
    if moisture is not None and not (math.isfinite(moisture) and -1 <= moisture <= 1):
        raise InputError(f"the moisture is {moisture}: give -1 (dry) to 1 (wet), or None to have it drawn")
    if style == "challenge" and moisture:
        raise InputError(f"the moisture is {moisture}, but the challenge's style has none: give None, or the style natural")


def _check_master(master: Picture, finger: Finger) -> None:
    if master.shape != (finger.height, finger.width):
        raise InputError(
            f"the master is an array of shape {master.shape}, but the finger's canvas has {finger.height} rows and "
            f"{finger.width} columns: make the master from this finger"
        )
