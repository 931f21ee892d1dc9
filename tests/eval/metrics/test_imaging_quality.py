from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tiny_networks import edited, noise

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics.musiq import ImagingQuality, MusiqScore, musiq_scores

pytest.importorskip("torch")


def imaging(**constants: object) -> ImagingQuality:
    given = {"head": "spaq", "preprocess": "longer", "antialias": True, "divisor": 100.0, "gif": False, **constants}
    return ImagingQuality(regions=("frame", "hole"), band_radius_pixels=8, **given)  # type: ignore[arg-type]


def musiq(**constants: object) -> MusiqScore:
    given = {"head": "koniq", "picture": "composite", **constants}
    return MusiqScore(regions=("frame", "band"), band_radius_pixels=8, **given)  # type: ignore[arg-type]


def test_imaging_quality_is_the_mean_over_frames_divided() -> None:
    view = edited(noise(2, 40, 64))
    scores = musiq_scores(view.prediction, view.shared, head="spaq", preprocess="longer", antialias=True)
    found = imaging().measure(view.declaring("imaging_quality", ImagingQuality.needs))["frame"]
    assert found.value == pytest.approx(sum(scores) / 200, rel=1e-12)
    assert found.details == {"frames": 2}
    assert imaging(divisor=1.0).measure(view)["frame"].value == pytest.approx(sum(scores) / 2, rel=1e-12)


def test_musiq_looks_at_the_composite_or_at_the_prediction_alone() -> None:
    composite, prediction = noise(1, 40, 64), noise(1, 40, 64, seed=1)
    view = edited(prediction, composite=composite)
    for picture, frames in (("composite", composite), ("prediction", prediction)):
        metric = musiq(picture=picture)
        assert metric.needs == (picture,)
        [score] = musiq_scores(frames, view.shared, head="koniq", preprocess="none", antialias=False)
        assert metric.measure(view.declaring("musiq", metric.needs))["frame"].value == pytest.approx(score, rel=1e-12)
    assert MusiqScore.needs == ("composite",)


def test_without_weights_the_reason_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    view = edited(noise(1, 40, 40), composite=np.zeros((1, 40, 40, 3), np.uint8))
    view.shared = Shared()
    for metric, entry in ((imaging(), "musiq-spaq"), (musiq(), "musiq-koniq")):
        with pytest.raises(NotMeasurable, match=f"weights missing: run `inpaintbench models fetch {entry}`"):
            metric.measure(view)  # type: ignore[attr-defined]


def test_they_name_their_weights_and_refuse_what_they_do_not_know() -> None:
    assert imaging().regions == musiq().regions == ("frame",)
    assert ImagingQuality.weights_of({"head": "spaq"}) == ("musiq-spaq",)
    assert MusiqScore.weights_of({"head": "koniq"}) == ("musiq-koniq",)
    with pytest.raises(UnknownNameError, match="unknown head of MUSIQ 'ava'"):
        imaging(head="ava")
    with pytest.raises(UnknownNameError, match="unknown preprocessing for MUSIQ 'long'"):
        imaging(preprocess="long")
    with pytest.raises(ValueError, match="picture is 'truth', choose 'composite' or 'prediction'"):
        musiq(picture="truth")


def test_a_divisor_has_to_be_above_zero() -> None:
    with pytest.raises(ValueError, match="0"):
        imaging(divisor=0.0)
