"""The protocols of video inpainting, by known answers that the released evaluations give."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from skimage.metrics import structural_similarity
from tests.eval.flows.given import Given, listed  # noqa: F401 - a fixture

from inpaintbench.eval.adapters.fitting import measured_view
from inpaintbench.eval.metrics.warp_error import WarpError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

E2FGVI = PROTOCOLS.get("e2fgvi")
LEGACY = PROTOCOLS.get("e2fgvi-legacy")
PROPAINTER = PROTOCOLS.get("propainter")
Y, X = np.mgrid[:240, :432]
TRUTH = np.stack(
    [np.rint(127.5 + 100 * np.sin(2 * np.pi * X / 48)), np.rint(127.5 + 100 * np.cos(2 * np.pi * Y / 37)), (X + Y) % 256], axis=2
).astype(np.uint8)[None]


def filled() -> tuple[Frames, Hole]:
    """A prediction for the middle of ``TRUTH``."""
    made, hole = TRUTH.copy(), np.zeros(TRUTH.shape[:3], bool)
    hole[:, 80:160, 150:270] = True
    made[:, 80:160, 150:270] = np.stack([np.full_like(X, 120), np.full_like(X, 130), X % 128], axis=2)[80:160, 150:270]
    return made, hole


@pytest.mark.parametrize("protocol", [E2FGVI, PROPAINTER, LEGACY], ids=lambda protocol: protocol.name)
def test_psnr_and_ssim_are_those_of_the_released_evaluations(protocol: Protocol) -> None:
    made, hole = filled()
    view = measured_view(
        ItemView.of_arrays(truth=TRUTH, hole=hole, prediction=made), size=protocol.size, hole_dilations=protocol.hole_dilations,
        full_frames=True, resample=protocol.resample,
    )  # fmt: skip
    found = {metric.name: metric.measure(view)["frame"].value for metric in protocol.build_metrics(["psnr", "ssim"])}
    assert found["psnr"] == pytest.approx(21.8289518, abs=5e-8)
    # To the last digit of this release of scikit-image, and to those that are known of another.
    assert found["ssim"] == pytest.approx(structural_similarity(TRUTH[0], made[0], win_size=65, channel_axis=2), abs=1e-9)
    assert found["ssim"] == pytest.approx(0.8891343, abs=5e-8)


@pytest.mark.parametrize(("border", "known"), [("clamp", 3.5619164e-4), ("leave_out", 2.0244006e-4)])
def test_the_warping_error_is_that_of_the_released_program(border: str, known: float, given: type[Given]) -> None:
    """Its frames are fractions there, so they are here; where the flow leaves the frame it takes the pixel at the edge."""
    y, x = np.mgrid[:48, :64].astype(np.float64)
    frames = np.stack([_waves(y, x, time) for time in range(2)])
    frames[1] += 0.02 * np.sin(x / 5)[..., None]
    flow = np.zeros((1, 48, 64, 2), np.float32)
    flow[..., 0] = 2
    constants = {**E2FGVI.metrics["warp_error"], "flow": "given", "size_multiple": 1, "border": border}
    metric = WarpError(regions=("frame",), band_radius_pixels=8, **constants)
    levels = (255 * frames).astype(np.float32)
    given.give(levels, flow, -flow)
    view = ItemView.of_arrays(truth=levels, hole=np.ones((2, 48, 64), bool), composite=levels)
    value = metric.measure(view)["frame"].value
    assert value == pytest.approx(known, rel=2e-5)  # float32 here and there


def _waves(y: np.ndarray, x: np.ndarray, time: int) -> np.ndarray:
    turns = (0.4 * np.sin(2 * np.pi * (x - 2 * time) / 32), 0.4 * np.cos(2 * np.pi * y / 24))
    return 0.5 + np.stack([*turns, 0.3 * np.sin(2 * np.pi * (x - 2 * time + y) / 40)], axis=2)


def test_the_two_truths_are_those_of_pillow_and_of_opencv_and_differ_most_in_fine_texture() -> None:
    made = {}
    for name, wave in (("fine", 3.1), ("smooth", 90.0)):
        y, x = np.mgrid[:480, :864]
        frame = np.rint(127.5 + 100 * np.sin(2 * np.pi * (x + 0.7 * y) / wave)).astype(np.uint8)
        truth = np.repeat(frame[None, ..., None], 3, axis=3)
        view = ItemView.of_arrays(truth=truth, hole=np.ones(truth.shape[:3], bool), prediction=truth)
        shrunk = [
            measured_view(view, size=one.size, hole_dilations=0, full_frames=True, resample=one.resample).truth
            for one in (E2FGVI, PROPAINTER)
        ]
        np.testing.assert_array_equal(shrunk[0][0], np.asarray(Image.fromarray(truth[0]).resize((432, 240))))
        error = np.mean((shrunk[0].astype(float) - shrunk[1]) ** 2)
        made[name] = 20 * np.log10(255 / np.sqrt(error))
    assert made["fine"] < 36
    assert made["smooth"] > 50


def test_frames_weigh_the_same_in_pictures_and_clips_the_same_in_the_warping_error() -> None:
    assert E2FGVI.weight("psnr", {"frames": 9}) == 9
    assert E2FGVI.weight("warp_error", {"pairs": 8}) == 1
    assert LEGACY.weight("psnr", {"frames": 9}) == 9


def test_they_differ_from_each_other_in_the_filter_alone_and_from_the_older_one_in_the_hole() -> None:
    def said(protocol: Protocol) -> dict[str, object]:
        return protocol.model_dump(exclude={"name"})

    assert {name for name, value in said(E2FGVI).items() if value != said(PROPAINTER)[name]} == {"resample"}
    assert {name for name, value in said(E2FGVI).items() if value != said(LEGACY)[name]} == {
        "hole_dilations",
        "by_item",
        "metrics",
    }
    assert {**E2FGVI.metrics, "warp_error": None} == {**LEGACY.metrics, "warp_error": None}
    assert E2FGVI.fingerprint != PROPAINTER.fingerprint
    assert set(PROPAINTER.metrics) == {"psnr", "ssim", "vfid", "warp_error"}
    for name in ("e2fgvi", "propainter"):
        assert PROTOCOLS.get(name).infinite_rule("psnr") == "keep"


def test_vfid_is_that_of_a_network_in_training_mode() -> None:
    assert E2FGVI.metrics["vfid"] == {"input_low": 0.0, "input_high": 1.0, "batch_norm": "train", "ddof": 1, "levels": "exact"}
    assert len(E2FGVI.weights_of()) == 1
    assert E2FGVI.weights_of(["psnr", "ssim", "warp_error"]) == []
