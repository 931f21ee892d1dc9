"""Impressions: from the master print of a finger to one picture of it, by contact region, ink and movement of the skin."""

from __future__ import annotations

import math
from typing import Literal, get_args

import cv2
import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError
from inpaintbench.types import item_rng
from inpaintbench.wings.chalearn.fingerprints import ink
from inpaintbench.wings.chalearn.fingerprints.fields import remapped, warp
from inpaintbench.wings.chalearn.fingerprints.records import REFERENCE_PIXELS_PER_INCH, Finger, Impression, Print
from inpaintbench.wings.chalearn.fingerprints.skin import Skin, elastic_field_of, origins

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
    if style not in get_args(Style):
        raise InputError(f"there is no style {style!r} of impressions: give natural or challenge")
    if number < 0:
        raise InputError(f"the number of the impression is {number}: impressions count from 0")
    if moisture is not None and not (math.isfinite(moisture) and -1 <= moisture <= 1):
        raise InputError(f"the moisture is {moisture}: give -1 (dry) to 1 (wet), or None to have it drawn")
    if style == "challenge" and moisture:
        raise InputError(f"the moisture is {moisture}, but the challenge's style has none: give None, or the style natural")
    axes = ink.draw_axes(rng, width=finger.width, height=finger.height, pixels_per_inch=finger.pixels_per_inch)
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    if style == "challenge":
        moisture, pressure, touching, contact = 0.0, ink.NEUTRAL_PRESSURE, 1.0, np.zeros(2)
        shift = rng.integers(-MOST_TRANSLATION, MOST_TRANSLATION, 2, endpoint=True) * scale
        rotation = float(rng.uniform(-MOST_ROTATION_DEGREES, MOST_ROTATION_DEGREES))
        plasticity, noise, scratches = CHALLENGE_PLASTICITY, float(rng.uniform(5, 13)) / 9, 0
    else:
        pressure = float(rng.beta(2.5, 2.0))
        drawn = float(np.clip(rng.normal(0, 0.45), -1, 1))
        moisture = drawn if moisture is None else float(moisture)
        touching = 0.80 + 0.18 * pressure
        contact = np.clip(rng.normal(0, 0.5, 2), -1, 1) * (np.array([finger.width, finger.height]) * (0.51 - 0.5 * touching))
        rotation = float(np.clip(rng.normal(0, 0.45), -1, 1)) * MOST_ROTATION_DEGREES
        shift = np.clip(rng.normal(0, 0.5, 2), -1, 1) * MOST_TRANSLATION * scale
        plasticity = 0.0 if rng.random() < 0.25 else float(rng.uniform(1.5, 3.0))
        noise, scratches = float(rng.uniform(0.15, 0.9)), int(rng.poisson(1.6))
    left, right, lower, upper = (touching * axis for axis in axes)
    return Impression(
        number=number,
        moisture=moisture,
        pressure=pressure,
        silhouette=(left, right, lower, upper),
        contact_shift=(float(contact[0]), float(contact[1])),
        rotation_degrees=rotation,
        translation=(float(shift[0]), float(shift[1])),
        skin_plasticity=plasticity,
        noise=noise,
        scratches=scratches,
        seed=seed,
    )


def impress(master: Picture, finger: Finger, impression: Impression) -> Picture:
    """Render the undistorted picture ``uint8[H, W]``: the impression of ``master`` before the elastic field.

    Raises:
        InputError: the master is not of the finger's size.
    """
    height, width = finger.height, finger.width
    if master.shape != (height, width):
        raise InputError(
            f"the master is an array of shape {master.shape}, but the finger's canvas has {height} rows and "
            f"{width} columns: make the master from this finger"
        )
    scale = finger.pixels_per_inch / REFERENCE_PIXELS_PER_INCH
    # Each stage has its own random stream, so that none changes with what the others draw.
    streams = {
        stage: item_rng(impression.seed, f"fingerprints.impression.{stage}", "")
        for stage in ("outline", "moisture", "scratches", "edge", "specks")
    }
    edge = ink.outline(finger, impression, streams["outline"])
    inside = ink.region(edge, height=height, width=width)
    picture = ink.thickened(
        master,
        moisture=impression.moisture,
        pressure=impression.pressure,
        inwards=np.asarray(cv2.distanceTransform(inside, cv2.DIST_L2, 3), np.float32),
        scale=scale,
        rng=streams["moisture"],
    )
    picture = ink.scratched(picture, impression.scratches, scale=scale, rng=streams["scratches"])
    crumbs = ink.edge_specks(edge, scale=scale, rng=streams["edge"])
    specks = ink.random_specks(impression.noise, height=height, width=width, scale=scale, rng=streams["specks"])
    missing, specked = (
        ink.stamped(drawn, height=height, width=width, scale=scale, rng=streams[stage]) > 0
        for stage, drawn in (("edge", crumbs), ("specks", specks))
    )
    picture[(inside == 0) | missing] = PAPER
    # Random specks are smoothed to grey, not set to white again as in Anguli: so the mean square of the truth and its share of
    # dark pixels equal those of the challenge's prints.
    inked = ink.smoothed(np.where(specked, np.uint8(PAPER), picture), kept=picture)
    return remapped(inked, *origins(Skin.of(finger, impression)))


def printed(master: Picture, print_: Print) -> tuple[Picture, Picture]:
    """Render (undistorted, truth), both ``uint8[H, W]``: the truth is the undistorted picture warped by the elastic field."""
    undistorted = impress(master, print_.finger, print_.impression)
    return undistorted, warp(undistorted, elastic_field_of(print_))
