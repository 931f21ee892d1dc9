from __future__ import annotations

import hashlib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_networks import edited, noise

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import brought as par
from inpaintbench.eval.metrics.brought import Par

torch = pytest.importorskip("torch")

MEAN, DEVIATION = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)


class Segmenter(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Marks pixels whose red is more than 180 and whose blue is less than 90, told from normalised channels."""

    def __init__(self) -> None:
        super().__init__()
        self.red = (180 - MEAN[0]) / DEVIATION[0]
        self.blue = (90 - MEAN[2]) / DEVIATION[2]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        score = torch.minimum(x[:, :1] - self.red, self.blue - x[:, 2:])
        return torch.cat([torch.zeros_like(score), score], dim=1)


class Shrinking(torch.nn.Module):  # type: ignore[misc,name-defined]
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, :2, ::2, ::2]


def give(module: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = folder / "par.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(torch.jit.script(module), path)
    monkeypatch.setenv("INPAINTBENCH_PAR_NETWORK", str(path))
    return path


def metric() -> Par:
    return Par(regions=("frame", "hole"), band_radius_pixels=8)


def test_is_the_share_of_the_hole_that_the_network_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = give(Segmenter(), tmp_path, monkeypatch)
    frames, hole = noise(3, 30, 41), np.zeros((3, 30, 41), np.bool_)
    hole[0, 5:20, 7:30], hole[1, 2:9, 3:20] = True, True
    marked = (frames[..., 0] > 180) & (frames[..., 2] < 90)
    found = metric().measure(edited(frames, composite=frames, hole=hole).declaring("par", Par.needs))["hole"]
    assert found.value == pytest.approx(np.mean([marked[index][hole[index]].mean() for index in (0, 1)]), abs=1e-12)
    assert found.details == {"frames": 2, "network_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert Par.state() == found.details["network_sha256"]
    nothing = metric().measure(edited(frames, composite=frames, hole=np.zeros_like(hole)))["hole"]
    assert nothing.value is None
    assert nothing.reason == "no frame has a hole"


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("unset", "the network of PAR may not be shipped: get it from its authors and set INPAINTBENCH_PAR_NETWORK to its file"),
        ("absent", "INPAINTBENCH_PAR_NETWORK names no file: 'nowhere.pt'"),
        ("torn", "INPAINTBENCH_PAR_NETWORK names 'torn.pt', which is no file of TorchScript"),
        ("shape", r"the network of PAR gave \(1, 2, 15, 20\) for a frame, not \(1, 2, 30, 40\)"),
    ],
)
def test_what_cannot_be_used_is_named(case: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torn.pt").write_bytes(b"torn")
    if case == "shape":
        give(Shrinking(), tmp_path, monkeypatch)
    elif case == "unset":
        monkeypatch.delenv("INPAINTBENCH_PAR_NETWORK", raising=False)
    else:
        monkeypatch.setenv("INPAINTBENCH_PAR_NETWORK", str(tmp_path / {"absent": "nowhere.pt", "torn": "torn.pt"}[case]))
    assert (Par.state() == "missing") is (case in ("unset", "absent"))
    frames = noise(1, 30, 40)
    with pytest.raises(NotMeasurable, match=reason):
        metric().measure(edited(frames, composite=frames, hole=np.ones((1, 30, 40), np.bool_)))


def test_answers_for_the_hole_alone() -> None:
    assert metric().regions == ("hole",)
    assert Par(regions=("frame",), band_radius_pixels=8).measure(edited(noise(1, 4, 4))) == {}
    assert metric().reduce([0.25, 0.5]) == 0.375


def test_frames_are_normalised_as_networks_of_imagenet_expect() -> None:
    assert pytest.approx((0.485, 0.456, 0.406), abs=1e-6) == par.MEAN
    assert pytest.approx((0.229, 0.224, 0.225), abs=1e-6) == par.DEVIATION
