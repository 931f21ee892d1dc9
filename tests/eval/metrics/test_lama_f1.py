from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics.base import Features, Measurement
from inpaintbench.eval.metrics.inception import Fid, LamaF1
from inpaintbench.eval.metrics.lpips import Lpips
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.view import ItemView

LAMA = PROTOCOLS.get("lama")
SHARED: dict[str, Any] = {"regions": ("frame", "hole"), "band_radius_pixels": 2}


def metric(**changes: Any) -> LamaF1:
    return LamaF1(**SHARED, **{**LAMA.metrics["lama_f1"], **changes})


def sets(rng: np.random.Generator, *, lpips: tuple[float, ...], shift: float, d: int = 4) -> list[Features]:
    """Items of growing length with a constant LPIPS each."""
    made = []
    for place, value in enumerate(lpips):
        truth = rng.normal(size=(20 + 10 * place, d))
        parts = (np.c_[truth + shift, np.full(len(truth), value)], np.c_[truth, np.zeros(len(truth))])
        made.append(Features(*(part.astype(np.float32) for part in parts)))
    return made


def test_it_is_the_published_formula_over_all_frames() -> None:
    """Vectors that are the truth's moved by a constant have its square as their distance."""
    given = sets(np.random.default_rng(0), lpips=(0.1, 0.3), shift=3.0)
    found = metric().compare(given, ["a", "b"])
    lpips, fid = (20 * 0.1 + 30 * 0.3) / 50, 4 * 3.0**2
    closeness, realism = 1 - lpips, (100 - fid) / 100
    assert found.value == pytest.approx(2 * closeness * realism / (closeness + realism + 1e-3), rel=1e-5)
    assert found.details["lpips"] == pytest.approx(lpips, rel=1e-6)
    assert found.details["fid"] == pytest.approx(fid, rel=1e-5)
    assert (found.details["n"], found.details["d"]) == (50, 4)


@pytest.mark.parametrize(("lpips", "shift"), [(0.2, 50.0), (1.5, 1.0)])
def test_a_hopeless_half_makes_it_zero(lpips: float, shift: float) -> None:
    assert metric().compare(sets(np.random.default_rng(1), lpips=(lpips,), shift=shift), ["a"]).value == 0


def test_a_perfect_copy_is_one_but_for_the_published_epsilon() -> None:
    given = sets(np.random.default_rng(2), lpips=(0.0,), shift=0.0)
    assert metric().compare(given, ["a"]).value == pytest.approx(2 / 2.001)
    assert metric(epsilon=0.0).compare(given, ["a"]).value == pytest.approx(1)


def test_a_single_vector_is_a_reason() -> None:
    one = Features(*(np.zeros((1, 5), np.float32) for _ in range(2)))
    found = metric().compare([one], ["a"])
    assert found.value is None
    assert "at least 2 vectors" in str(found.reason)


def test_its_features_are_those_of_the_two_metrics() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 256, (1, 64, 96, 3), dtype=np.uint8)
    hole = np.zeros(truth.shape[:3], bool)
    hole[:, 20:40, 30:70] = True
    shared = Shared(compute=Compute(random_weights=3, device="cpu"))
    views = [
        ItemView.of_arrays(truth=truth, hole=hole, prediction=rng.integers(0, 256, truth.shape, dtype=np.uint8), shared=shared)
        for _ in range(2)
    ]
    found = metric().measure_together(views)
    lpips = Lpips(**SHARED, **LAMA.metrics["lpips"]).measure_together(views)
    fid = Fid(**SHARED, **LAMA.metrics["fid"]).measure_together(views)
    assert metric().regions == ("frame",)
    for made, distance, vectors in zip(found, lpips, fid, strict=True):
        [features] = [one.features for one in made.values()]
        expected = vectors["frame"].features
        assert features is not None
        assert expected is not None
        assert features.prediction.shape == (1, 2049)
        np.testing.assert_array_equal(features.prediction[:, :-1], expected.prediction)
        np.testing.assert_array_equal(features.truth[:, :-1], expected.truth)
        np.testing.assert_allclose(features.prediction[:, -1], distance["frame"].value, rtol=1e-6)
        assert not features.truth[:, -1].any()


def test_its_weights_are_those_of_both_networks() -> None:
    constants = LAMA.metrics["lama_f1"]
    assert metric().weights_of(constants) == (*Lpips.weights_of(constants), *Fid.weights_of(constants))
    assert len(set(metric().weights_of(constants))) == 2


def test_an_item_without_one_of_both_parts_has_the_reason_of_that_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def joined(lpips: Measurement, fid: Measurement) -> Measurement:
        both = metric()
        monkeypatch.setattr(both.lpips, "measure_together", lambda views: [{"frame": lpips}])
        monkeypatch.setattr(both.fid, "measurements", lambda views: [fid])
        [found] = both.measurements([])
        return found

    vector = Features(np.zeros((1, 4), np.float32), np.zeros((1, 4), np.float32))
    whole, dark = Measurement(None, features=vector), Measurement(None, "no picture")
    assert joined(Measurement(0.5), whole).features is not None
    assert joined(Measurement(None, "too small"), whole).reason == "too small"
    assert joined(Measurement(0.5), dark).reason == "no picture"
