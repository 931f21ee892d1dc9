"""Edited clips with known answers: the published sample, clips with a written-down flow, and reference loops."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.eval.flows.given import Given

from inpaintbench.compute import Shared
from inpaintbench.types import Frames
from inpaintbench.video import read_image_folder
from inpaintbench.view import ItemView

EDITS = ("bear", "bear_white", "bear_panda")


def sample(*edits: str, frames: int = 8) -> list[ItemView]:
    """EditBoard's sample, 8 frames of 512x512, one view for each edit; skips the test where the files are not at hand."""
    assets = os.environ.get("INPAINTBENCH_TEST_ASSETS")
    if not assets:
        pytest.skip("INPAINTBENCH_TEST_ASSETS is not set")
    folder, shared = Path(assets) / "edited" / "edited-editboard-bear" / "sample", Shared()
    masks = [cv2.cvtColor(mask, cv2.COLOR_RGB2GRAY) != 0 for mask in read_image_folder(folder / "bear_mask")]
    truth = read_image_folder(folder / "bear")[:frames]
    return [
        ItemView.of_arrays(
            truth=truth,
            prediction=read_image_folder(folder / edit)[:frames],
            object_mask=np.stack(masks)[:frames],
            shared=shared,
        )
        for edit in edits
    ]


def noise(*shape: int, seed: int = 0) -> Frames:
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), dtype=np.uint8)


def moving(*, frames: int = 4, height: int = 60, width: int = 80, right: int = 2) -> Frames:
    """A smooth texture that moves to the right by whole pixels."""
    scene = cv2.GaussianBlur(noise(height, width + frames * right).astype(np.float32), (0, 0), 2)
    scene = np.clip(128 + 6 * (scene - 127.5), 0, 255).astype(np.uint8)
    return np.stack([scene[:, (frames - index) * right :][:, :width] for index in range(frames)])


def give(frames: Frames, motion: np.ndarray) -> None:
    """Sets the forward flow of ``frames``, ``[T - 1, H, W, 2]`` or one vector for all of it."""
    field = np.broadcast_to(motion, (len(frames) - 1, *frames.shape[1:3], 2))
    Given.give(frames, field, field)


def whole_steps(*, frames: int = 3, height: int = 14, width: int = 11, seed: int = 5) -> np.ndarray:
    """A wild flow in whole pixels, some of it from outside the frame."""
    return np.random.default_rng(seed).integers(-3, 4, (frames - 1, height, width, 2)).astype(np.float32)


def pulled(frame: np.ndarray, motion: np.ndarray) -> np.ndarray:
    """Pixel by pixel what lies at p - F(p); black outside. For flow in whole pixels."""
    height, width = frame.shape[:2]
    found = np.zeros_like(frame)
    for y in range(height):
        for x in range(width):
            right, down = (int(step) for step in motion[y, x])
            if 0 <= x - right < width and 0 <= y - down < height:
                found[y, x] = frame[y - down, x - right]
    return found


def flickering(frames: Frames, *, amplitude: int) -> Frames:
    """Every frame with blotches of its own."""
    rng = np.random.default_rng(3)
    blotches = [cv2.resize(rng.uniform(-1, 1, (12, 12, 3)), frames.shape[2:0:-1]) for _ in frames]
    return np.clip(frames + amplitude * np.stack(blotches), 0, 255).astype(np.uint8)
