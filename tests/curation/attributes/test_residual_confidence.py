"""Confidence in the split of motion into camera and scene."""

from __future__ import annotations

import numpy as np
from worlds import camera_path, film, luma, moving_texture, pan_clip, photograph

from inpaintbench.curation.attributes.scene_motion import ResidualConfidence
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

WIDTH, HEIGHT, FRAMES = 256, 144, 20


def confidence(frames: Frames) -> float:
    return ResidualConfidence().measure(ItemView.of_arrays(luma=luma(frames), fps=30.0))


def pan(name: str = "coffee", *, pixels_per_frame: float = 1.0) -> Frames:
    return pan_clip(name, pixels_per_frame=pixels_per_frame, frames=FRAMES, width=WIDTH, height=HEIGHT)


def test_a_textured_scene_under_a_pan_is_trusted_and_a_tripod_is_too() -> None:
    assert 0.4 < confidence(pan("motorcycle")) <= 1
    assert 0.4 < confidence(pan("motorcycle", pixels_per_frame=0)) <= 1


def test_moving_water_alone_does_not_cost_trust() -> None:
    frames = pan(pixels_per_frame=0)
    assert confidence(moving_texture(frames, share=0.5, seed=1)) > 0.8 * confidence(frames)


def test_half_a_view_without_texture_costs_trust() -> None:
    frames = pan("motorcycle", pixels_per_frame=0)
    whole = confidence(frames)
    frames[:, : HEIGHT // 2] = 128
    assert confidence(frames) < 0.85 * whole


def test_a_cut_costs_its_pairs() -> None:
    one, other = pan("coffee", pixels_per_frame=0), pan("rocket", pixels_per_frame=0)
    cut = np.concatenate([one[:10], other[10:]])
    assert confidence(cut) < 0.9 * max(confidence(one), confidence(other))


def test_two_layers_of_a_travelling_camera_cost_trust_for_looking_like_parallax() -> None:
    steps = np.arange(FRAMES) - (FRAMES - 1) / 2
    layers = [
        film(
            photograph(name, width=420, height=240),
            camera_path(frames=FRAMES, width=WIDTH, height=HEIGHT, pan=np.outer(steps, [speed, 0])),
            width=WIDTH,
            height=HEIGHT,
        )
        for name, speed in (("coffee", 1.0), ("motorcycle", 2.5))
    ]
    near = layers[0].copy()
    near[:, 100:] = layers[1][:, 100:]
    assert confidence(near) < 0.4 * confidence(layers[0])
