from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from inpaintbench import regions
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.lpips import Lpips, lpips_frames
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def metric(*names: str, net: str = "alex") -> Lpips:
    return Lpips(regions=names or regions.REGIONS, band_radius_pixels=4, net=net, version="0.1")


def parts() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    truth, prediction = rng.integers(0, 256, (2, 4, 64, 96, 3), dtype=np.uint8)
    hole = np.zeros((4, 64, 96), np.bool_)
    hole[:3, 20:44, 30:60] = True
    return {"truth": truth, "hole": hole, "prediction": prediction}


def views(*predictions: Frames) -> list[ItemView]:
    pytest.importorskip("torchvision")
    given = parts()
    shared = Shared(compute=Compute(device="cpu", random_weights=3))
    return [ItemView.of_arrays(truth=given["truth"], hole=given["hole"], prediction=one, shared=shared) for one in predictions]


def value(prediction: Frames, region: str) -> float:
    found = metric().measure(views(prediction)[0])[region].value
    assert found is not None
    return found


def test_is_the_mean_over_the_frames_that_have_the_region() -> None:
    [view] = views(parts()["prediction"])
    found = metric().measure(view)
    frames = lpips_frames([view], net="alex", regions=regions.REGIONS, band_radius_pixels=4)[0]
    for region, n in (("frame", 4), ("hole", 3), ("band", 3)):
        assert found[region].value == pytest.approx(math.fsum(frames[region]) / n, rel=1e-12)
        assert found[region].details == {"frames": n}
    assert list(found) == list(regions.REGIONS)


def test_it_needs_no_more_than_it_says() -> None:
    [view] = views(parts()["prediction"])
    assert metric().measure(view.declaring("lpips", Lpips.needs)) == metric().measure(view)


def test_a_perfect_copy_is_zero_and_noise_is_worse_the_stronger_it_is() -> None:
    truth = parts()["truth"]
    noises = [np.clip(truth + strength * np.sin(np.arange(96))[:, None], 0, 255).astype(np.uint8) for strength in (0, 8, 32, 128)]
    for region in regions.REGIONS:
        values = [value(noise, region) for noise in noises]
        assert values[0] == 0
        assert values == sorted(set(values))


def test_a_hole_is_not_diluted_by_what_is_known() -> None:
    prediction = parts()["prediction"]
    assert value(prediction, "hole") > value(prediction, "band") > value(prediction, "frame") > 0


def test_known_pixels_of_the_prediction_do_not_matter() -> None:
    given = parts()
    vandalised = np.where(given["hole"][..., None], given["prediction"], 255 - given["truth"])
    one, other = views(given["prediction"], vandalised)
    assert metric().measure(one) == metric().measure(other)


def test_methods_measured_together_have_the_values_they_have_alone() -> None:
    given = parts()
    several = [given["prediction"], given["truth"], 255 - given["prediction"]]
    together = metric().measure_together(views(*several))
    for prediction, found in zip(several, together, strict=True):
        for region in regions.REGIONS:
            assert found[region].value == pytest.approx(value(prediction, region), rel=1e-5)
    assert metric().measure_together([]) == []


def test_without_a_hole_only_the_frame_is_measured() -> None:
    truth = parts()["truth"]
    shared = Shared(compute=views(truth)[0].shared.compute)
    view = ItemView.of_arrays(truth=truth, hole=np.zeros(truth.shape[:3], np.bool_), prediction=truth, shared=shared)
    found = metric().measure(view)
    assert found["frame"].value == 0
    assert found["hole"].value is None
    assert found["hole"].reason == "no frame has a pixel of the region 'hole'"
    assert found["band"].value is None


def test_frames_are_left_as_they_are_given() -> None:
    given = parts()
    for part in given.values():
        part.flags.writeable = False
    shared = Shared(compute=views(given["truth"])[0].shared.compute)
    assert metric("frame").measure(ItemView.of_arrays(**given, shared=shared))["frame"].value


def test_without_weights_the_reason_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchvision")
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match="weights missing: run `inpaintbench models fetch alexnet`"):
        metric().measure(ItemView.of_arrays(**parts()))


def test_names_the_weights_of_its_network() -> None:
    assert Lpips.weights_of({"net": "vgg", "version": "0.1"}) == ("vgg16",)
    assert metric().reduce([0.25, 0.5]) == 0.375


def test_unknown_networks_and_versions_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown network of LPIPS 'alexnet', did you mean 'alex'"):
        metric(net="alexnet")
    with pytest.raises(UnknownNameError, match=r"unknown version of LPIPS '0\.0'"):
        Lpips(regions=("frame",), band_radius_pixels=4, net="alex", version="0.0")
