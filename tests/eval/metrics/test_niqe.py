"""NIQE, as the package pyiqa gives it with the statistics that are put in here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from waves import image

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import niqe
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


@pytest.fixture
def metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> niqe.Niqe:
    place = np.arange(36)
    covariance = np.diag(0.05 + 0.01 * place) + 0.01 * np.cos(place[:, None] - place)
    np.savez(tmp_path / "made_up.npz", mu_pris_param=1 + 0.5 * np.sin(place)[None], cov_pris_param=covariance)
    monkeypatch.setattr(niqe, "path_of", lambda name: tmp_path / "made_up.npz")
    return niqe.Niqe(block_pixels=96, stride=2, regions=("frame",), band_radius_pixels=8)


def view_of(frames: Frames) -> ItemView:
    return ItemView(
        item_id="", frames=len(frames), height=frames.shape[1], width=frames.shape[2], fps=25.0,
        shared=Shared(compute=Compute(device="cpu")), parts={"prediction": lambda: frames},
    )  # fmt: skip


def grainy(seed: int) -> Frames:
    """A picture with grain, and with a flat place of black."""
    grain = np.random.default_rng(seed).integers(-20, 21, (240, 432, 3))
    shown = np.clip(image(seed).astype(int) + grain, 0, 255).astype(np.uint8)
    shown[100:140, 50:300] = 0
    return shown


def test_what_pyiqa_gives(metric: niqe.Niqe) -> None:
    """Package pyiqa 0.1.16 on these frames, one by one."""
    frames = np.stack([grainy(0), grainy(1), grainy(2)])
    found = metric.measurement(view_of(frames))
    assert found.value == pytest.approx(np.mean([THEIRS[0], THEIRS[2]]), rel=1e-6)
    assert found.details["frames"] == 2  # every other one


THEIRS = (17.052456058539303, 17.03134268143263, 17.069170971016284)


def test_small_and_flat_frames_say_why(metric: niqe.Niqe) -> None:
    with pytest.raises(NotMeasurable, match="96x120 have fewer than two blocks"):
        metric.measurement(view_of(np.zeros((1, 120, 96, 3), np.uint8)))
    found = metric.measurement(view_of(np.full((1, 192, 192, 3), 90, np.uint8)))
    assert (found.value, found.reason) == (None, "every frame is flat")
