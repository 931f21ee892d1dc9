from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.eval.flows.test_dis import texture
from tests.eval.metrics.published import published_item

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.flows import FLOWS, RaftLarge, RaftSmall, RaftSmallOfficial
from inpaintbench.models import weights

pytest.importorskip("torchvision")


def frames(count: int) -> np.ndarray:
    return np.stack([texture(64, 96, seed=seed) for seed in range(count)])


@pytest.mark.parametrize("leaf", [RaftSmall, RaftSmallOfficial, RaftLarge])
def test_gives_a_finite_flow_for_every_pixel_of_every_pair(leaf: type[RaftSmall]) -> None:
    shown = frames(2)
    found = leaf().flow(shown, shown[::-1], Compute(device="cpu", random_weights=3))
    assert (found.shape, found.dtype) == ((2, 64, 96, 2), np.float32)
    assert np.isfinite(found).all()
    assert np.ptp(found) > 0


def test_numbers_do_not_depend_on_the_batch() -> None:
    shown = frames(4)
    large, small = (
        RaftSmall().flow(shown[:-1], shown[1:], Compute(device="cpu", random_weights=3, batch_bytes=size))
        for size in (1 << 30, 1)
    )
    np.testing.assert_allclose(small, large, rtol=1e-4, atol=1e-4 * np.abs(large).max())


@pytest.mark.parametrize("name", [name for name in FLOWS if name.startswith("raft")])
def test_the_weights_of_each_are_listed(name: str) -> None:
    assert weights.named(FLOWS.get(name).weights).sha256


def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    with pytest.raises(NotMeasurable, match="weights missing"):
        RaftSmall().flow(frames(1), frames(1), Compute(device="cpu"))


@pytest.mark.real
@pytest.mark.parametrize(("right", "down"), [(0, 0), (3, 2), (-2, -3), (8, 8)])
def test_the_published_parameters_find_the_shift_of_a_photo(
    right: int, down: int, assets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
    photo = published_item().truth[:1]
    one, other = photo[:, 20:180, 20:220], photo[:, 20 - down : 180 - down, 20 - right : 220 - right]
    found = RaftSmallOfficial().flow(one, other, Compute(device="cpu"))[0, 8:-8, 8:-8]
    np.testing.assert_allclose(np.median(found, axis=(0, 1)), (right, down), atol=0.25)
    assert (np.abs(found - (right, down)).max(axis=2) < 1).mean() > 0.95
