from __future__ import annotations

import numpy as np
import pytest
from skimage.metrics import mean_squared_error
from tests.eval.metrics.contract import MetricContract

from inpaintbench import regions
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.psnr import Mse
from inpaintbench.view import ItemView


class TestContract(MetricContract):
    name = "mse"
    reach_pixels = 0


def random_item(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, 256, (2, 3, 40, 50, 3), dtype=np.uint8)
    hole = np.zeros((3, 40, 50), np.bool_)
    hole[:, 5:30, 8:35] = rng.random((3, 25, 27)) < 0.7
    return {"truth": truth, "hole": hole, "composite": np.where(hole[..., None], prediction, truth)}


def metric(*names: str, radius: int = 4) -> Mse:
    return Mse(regions=names or regions.REGIONS, band_radius_pixels=radius)


def test_equals_scikit_image_over_the_whole_frame() -> None:
    parts = random_item()
    frames = zip(parts["truth"] / 255, parts["composite"] / 255, strict=True)
    expected = np.mean([mean_squared_error(truth, composite) for truth, composite in frames])
    assert metric("frame").measure(ItemView.of_arrays(**parts))["frame"].value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("region", ["hole", "band"])
def test_counts_exactly_the_pixels_of_the_region(region: str) -> None:
    parts = random_item()
    pixels = regions.select(parts["hole"], region, band_radius=4)
    squares = (parts["truth"] / 255 - parts["composite"] / 255) ** 2
    expected = np.mean([square[inside].mean() for square, inside in zip(squares, pixels, strict=True)])
    assert metric().measure(ItemView.of_arrays(**parts))[region].value == pytest.approx(expected, rel=1e-12)


def test_the_largest_difference_everywhere_is_one() -> None:
    # More than 2**31 when summed in grey levels: an integer sum would overflow.
    truth = np.zeros((1, 480, 832, 3), np.uint8)
    hole = np.ones(truth.shape[:3], np.bool_)
    view = ItemView.of_arrays(truth=truth, hole=hole, composite=truth + 255)
    assert metric("frame", "hole").measure(view)["frame"].value == 1
    assert metric("frame", "hole").measure(view)["hole"].value == 1


def test_frames_weigh_the_same_whatever_their_hole() -> None:
    truth = np.zeros((2, 20, 20, 3), np.uint8)
    hole = np.zeros((2, 20, 20), np.bool_)
    hole[0, :2, :2], hole[1] = True, True
    composite = truth.copy()
    composite[0, :2, :2] = 255
    found = metric("hole").measure(ItemView.of_arrays(truth=truth, hole=hole, composite=composite))["hole"]
    assert found.value == 0.5
    assert found.details == {"frames": 2}


def test_an_unknown_region_is_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="unknown region 'holes', did you mean 'hole'"):
        metric("holes")
