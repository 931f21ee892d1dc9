"""JEDi of given vectors, and of a program that stands in for V-JEPA."""

from __future__ import annotations

from pathlib import Path

import brought
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.brought_sets import Jedi
from inpaintbench.view import ItemView


def vectors(count: int, a: float, b: float) -> np.ndarray:
    i, j = np.mgrid[:count, :8]
    return np.asarray(np.sin(0.01 * a * (i + 1) * (j + 1) + b) + 0.1 * np.cos(0.3 * i + 0.7 * j))


def built(estimate: str = "biased") -> Jedi:
    return Jedi(estimate=estimate, regions=("frame",), band_radius_pixels=8)  # type: ignore[arg-type]


@pytest.mark.parametrize(("estimate", "expected"), [("biased", 14.1936757), ("unbiased", 13.4530576)])
def test_given_vectors(estimate: str, expected: float) -> None:
    one, other = vectors(12, 3, 0.2), vectors(9, 2, 0.9)
    found = built(estimate).compare([Features(one, other)], ["a"])
    assert found.value == pytest.approx(expected, abs=5e-8)
    assert found.details.get("unbiased", found.value) == pytest.approx(13.4530576, abs=5e-8)
    assert built().compare([Features(one, one)], ["a"]).value == 0


def test_the_program_sees_each_clip_and_the_truth_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "clip = np.stack(frames).astype(float); np.save(target / 'array.npy', np.cos(clip.mean() * np.arange(1280)))\n"
    count = f"with open({str(tmp_path / 'count')!r}, 'a') as file: file.write('x')\n"
    brought.give(Jedi.brought, body + count, tmp_path, monkeypatch)
    truth = np.random.default_rng(0).integers(0, 256, (3, 20, 24, 3), dtype=np.uint8)
    views = [ItemView.of_arrays(truth=truth, composite=one) for one in (truth, truth // 2)]
    views[1].shared = views[0].shared
    same, other = (built().measure(view)["frame"].features for view in views)
    assert same is not None
    assert other is not None
    assert np.array_equal(*same)
    assert np.allclose(other.prediction[0], np.cos((truth // 2).mean() * np.arange(1280)), atol=1e-6)
    assert (tmp_path / "count").read_text() == "xxx"


def test_without_the_program_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(Jedi.brought.variable, raising=False)
    truth = np.zeros((2, 8, 8, 3), np.uint8)
    with pytest.raises(NotMeasurable, match=r"CC-BY-NC-4.0 and not part of this program: set INPAINTBENCH_JEDI to"):
        built().measure(ItemView.of_arrays(truth=truth, composite=truth))
    assert Jedi.state() == "missing"
