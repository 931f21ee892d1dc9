from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import grey_view
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Frames
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.fingerprints.fields import elastic_field, warp
from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.impressions import draw_impression, impress
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.methods.oriented_gabor import OrientedGabor

OTHERS = ("blank", "gaussian", "median")


class TestContract(MethodContract):
    name = "oriented_gabor"


def pair(seed: int, *, finger_class: str) -> tuple[Frames, Frames]:
    """(input, truth): a print faded in part, under white lines, on coloured and spotted ground."""
    rng = np.random.default_rng(seed)
    finger = draw_finger(rng, finger_class=finger_class, seed=seed)
    impression = draw_impression(rng, finger=finger, number=0, seed=seed, style="challenge")
    field = elastic_field(400, 275, seed=seed)
    clean = impress(master(finger), finger, impression)
    faded = clean.astype(float)
    faded[120:260, 60:200] = 255 - (255 - faded[120:260, 60:200]) / 3
    for _ in range(5):
        ends = [(int(x), int(y)) for x, y in rng.uniform((0, 0), (275, 400), (2, 2))]
        cv2.line(faded, *ends, 255, 3)
    share = warp(np.rint(faded).astype(np.uint8), field)[..., None] / 255
    spots = cv2.GaussianBlur(rng.normal(0, 60, (400, 275)), (0, 0), 3)[..., None]
    ground = np.clip(rng.uniform(90, 240, 3) + 2 * spots, 0, 255)
    given = np.rint(ground * share + 255 * share * (1 - share)).astype(np.uint8)
    return given[None], np.repeat(warp(clean, field)[None, ..., None], 3, axis=3)


def scores(method: str, given: Frames, truth: Frames, *, protocol: str) -> dict[str, float]:
    found = METHODS.get(method)().inpaint(ItemView.of_arrays(input=given))
    hole = np.ones(truth.shape[:3], np.bool_)
    view = grey_view(ItemView.of_arrays(truth=truth, hole=hole, prediction=found))
    metrics = PROTOCOLS.get(protocol).build_metrics()
    return {metric.name: (1 if metric.higher_is_better else -1) * metric.measure(view)["frame"].value for metric in metrics}


@pytest.mark.parametrize("protocol", ["fingerprint/as-published", "fingerprint/corrected"])
@pytest.mark.parametrize(("seed", "finger_class"), [(1, "whorl"), (2, "arch"), (3, "right_loop")])
def test_beats_what_knows_nothing_of_ridges_by_every_metric(seed: int, finger_class: str, protocol: str) -> None:
    given, truth = pair(seed, finger_class=finger_class)
    best = scores("oriented_gabor", given, truth, protocol=protocol)
    for other in OTHERS:
        beaten = scores(other, given, truth, protocol=protocol)
        assert best["mse"] > 0.5 * beaten["mse"], "at most half of the error"
        assert best["psnr"] > beaten["psnr"] + 3
        assert best["ssim"] > beaten["ssim"] + 0.05


def test_gives_grey_frames_the_same_for_each_frame_alone() -> None:
    given, _ = pair(4, finger_class="tented_arch")
    frames = np.concatenate([given, given[:, ::-1]])
    found = OrientedGabor().inpaint(ItemView.of_arrays(input=frames))
    assert (found[..., 0] == found[..., 1]).all()
    assert (found[..., 0] == found[..., 2]).all()
    np.testing.assert_array_equal(found[1:], OrientedGabor().inpaint(ItemView.of_arrays(input=frames[1:])))


@pytest.mark.parametrize("name", ["pixels_per_inch", "along_pixels", "contrast"])
@pytest.mark.parametrize("value", [0.0, -2.0, float("inf"), float("nan")])
def test_constants_that_are_not_above_0_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name} is {value}, choose a number above 0"):
        OrientedGabor(**{name: value})


@pytest.mark.real
@pytest.mark.parametrize("number", [1, 10, 11, 12, 14])
def test_comes_near_a_trained_network_on_inputs_of_the_challenge(assets: Path, number: int) -> None:
    folder = assets / "weights" / "fpd-m-net" / "test"
    given = video.read_frames(folder / f"{number}.jpg")
    drawn = video.read_frames(folder / "Results" / f"{number}.jpg")
    best = scores("oriented_gabor", given, drawn, protocol="fingerprint/as-published")
    assert best["mse"] > -0.035
    assert best["ssim"] > 0.7
    for other in OTHERS:
        assert best["mse"] > 0.5 * scores(other, given, drawn, protocol="fingerprint/as-published")["mse"]
