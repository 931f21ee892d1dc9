"""Layers that put an object into a picture, against their equations and a scene whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest

from inpaintbench.curation.sources.removal_objects import Exposure, Glow, Layer, Piece, Reflection, Shadow, Solid, layered

Y, X = np.mgrid[:60, :80].astype(np.float64)
BACKGROUND = np.rint(
    np.stack([127.5 + 90 * np.sin(X / 7), 127.5 + 90 * np.cos(Y / 6), 127.5 + 50 * np.sin((X - Y) / 8)], axis=-1)
)
NOISE = np.repeat(np.rint(3 * np.sin(12.9898 * X + 78.233 * Y))[..., None], 3, axis=-1).astype(np.int16)
OBJECT = np.clip(6 * (1 - np.hypot((X - 30) / 8, (Y - 18) / 12)), 0, 1)


def flat(*colour: float) -> np.ndarray:
    return np.broadcast_to(np.array(colour), (60, 80, 3))


def scene() -> list[Layer]:
    shadow = np.maximum(0, 1 - np.hypot((X - 45) / 20, (Y - 45) / 8))
    image = np.where((Y >= 30) & (Y < 50) & (np.abs(X - 30) < 8), 1 - (Y - 30) / 20, 0)
    light = np.exp(-((X - 60) ** 2 + (Y - 15) ** 2) / (2 * 9**2))
    return [
        Shadow(Piece(0, 0, shadow), 0.5),
        Reflection(Piece(0, 0, image), flat(180, 80, 60), 0.4),
        Glow(Piece(0, 0, light), (255.0, 230.0, 180.0), 0.3),
        Solid(Piece(0, 0, OBJECT), flat(200, 60, 40), 0.7),
    ]


def test_a_scene_of_all_layers_has_the_numbers_that_its_equations_give() -> None:
    shown, truth = (layered(BACKGROUND, layers, noise=NOISE).astype(int) for layers in (scene(), []))
    difference = np.abs(shown - truth)
    inside = OBJECT > 0
    effect = (difference.max(axis=-1) >= 1) & ~inside
    assert (inside.sum(), effect.sum()) == (293, 2373)
    assert ((difference.max(axis=-1) >= 4) & ~inside).sum() == 2014
    assert difference[effect].mean() == pytest.approx(20.0696727, abs=5e-8)
    assert (shown.sum(), truth.sum()) == (1_908_582, 1_850_007)


def test_a_piece_of_a_frame_is_drawn_like_the_whole() -> None:
    """Layers end where they change nothing, and cost what they cover."""
    whole, rows, columns = scene()[0], slice(37, 54), slice(25, 66)
    assert isinstance(whole, Shadow)
    piece = Shadow(Piece(rows.start, columns.start, whole.piece.cover[rows, columns]), whole.strength)
    np.testing.assert_array_equal(layered(BACKGROUND, [piece], noise=NOISE), layered(BACKGROUND, [whole], noise=NOISE))


def test_light_beyond_white_is_white_and_no_strength_changes_nothing() -> None:
    plain = layered(BACKGROUND, [], noise=NOISE)
    assert (layered(BACKGROUND, [Exposure(30.0)], noise=NOISE)[BACKGROUND > 9] == 255).all()
    none = [Shadow(Piece(0, 0, OBJECT), 0.0), Solid(Piece(0, 0, OBJECT), flat(1, 2, 3), 0.0), Exposure(0.0)]
    np.testing.assert_array_equal(layered(BACKGROUND, none, noise=NOISE), plain)
    np.testing.assert_array_equal(layered(BACKGROUND.astype(np.uint8), [], noise=NOISE), plain)
