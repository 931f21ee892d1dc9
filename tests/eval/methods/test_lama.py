from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import MethodContract, corrupted, inpaint, wandering_hole, world

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.methods.networks import Lama
from inpaintbench.eval.scoring import predict
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


class MeanColour(torch.nn.Module):
    """Of the interface of LaMa: the mean colour of what is known, times a parameter; refuses sides that are no multiples of 8."""

    def __init__(self, factor: float = 1.0, *, extra: int = 0) -> None:
        super().__init__()
        self.factor = torch.nn.Parameter(torch.tensor(factor))
        self.extra = extra

    def forward(self, image: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        if image.shape[2] % 8 != 0 or image.shape[3] % 8 != 0:
            raise ValueError("sides must be multiples of 8")
        known = 1 - mask
        colour = (image * known).sum(dim=[2, 3], keepdim=True) / known.sum(dim=[2, 3], keepdim=True)
        return (colour * self.factor).expand(1, 3, image.shape[2] + self.extra, image.shape[3])


def saved(path: Path, factor: float = 1.0, *, extra: int = 0) -> str:
    torch.jit.script(MeanColour(factor, extra=extra)).save(str(path))
    return str(path)


class TestContract(MethodContract):
    name = "lama"

    @pytest.fixture
    def method(self, tmp_path: Path) -> Method:
        network = torch.jit.script(MeanColour())
        network.save(str(tmp_path / "mean.pt"))
        return Padded(str(tmp_path / "mean.pt"))


class Padded(Lama):
    """With the padding that the step around a method does."""

    def __init__(self, weights: str) -> None:
        super().__init__(weights=weights, device="cpu")
        self._bare = Lama(weights=weights, device="cpu")

    def inpaint(self, view: ItemView) -> np.ndarray:
        return predict.run(self._bare, view)


def test_gives_the_network_known_pixels_and_takes_its_colours(tmp_path: Path) -> None:
    truth, hole = world(), wandering_hole()
    found = inpaint(Lama(weights=saved(tmp_path / "mean.pt"), device="cpu"), corrupted(truth, hole, fill=200), hole)
    for index in range(len(truth)):
        wanted = truth[index][~hole[index]].mean(axis=0)
        assert np.abs(found[index][hole[index]] - wanted).max() <= 0.51


def test_levels_beyond_white_are_cut_off(tmp_path: Path) -> None:
    hole = wandering_hole()
    found = inpaint(Lama(weights=saved(tmp_path / "bright.pt", 100.0), device="cpu"), corrupted(world(), hole), hole)
    assert (found[hole] == 255).all()


def test_the_file_is_part_of_the_version(tmp_path: Path) -> None:
    one, other = saved(tmp_path / "one.pt"), saved(tmp_path / "other.pt", 2.0)
    digest = hashlib.sha256(Path(one).read_bytes()).hexdigest()
    assert Lama(weights=one, sha256=digest.upper(), device="cpu").version == f"1+{digest[:16]}"
    with pytest.raises(InputError, match=rf"other.pt has the SHA-256 .*, wanted {digest}"):
        Lama(weights=other, sha256=digest, device="cpu")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    hole, path = wandering_hole(), tmp_path / "mean.pt"
    bright, dark = (inpaint(Lama(weights=saved(path, f), device="cpu"), corrupted(world(), hole), hole) for f in (1.0, 0.0))
    assert (bright[hole] > 0).any()
    assert (dark[hole] == 0).all()


def test_files_that_are_not_there_or_hold_other_things_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file 'nowhere\.pt' to read LaMa from"):
        Lama(weights="nowhere.pt")
    hole = wandering_hole()
    torch.save({"weight": torch.zeros(3)}, tmp_path / "state.pt")
    (tmp_path / "text.pt").write_text("no network")
    for name in ("state.pt", "text.pt"):
        with pytest.raises(InputError, match=f"{name} is no TorchScript file: "):
            inpaint(Lama(weights=str(tmp_path / name), device="cpu"), corrupted(world(), hole), hole)


def test_networks_that_give_no_picture_are_reasons(tmp_path: Path) -> None:
    hole = wandering_hole()
    cases = ((1.0, 8, r"gave \(1, 3, 56, 64\) for a picture of \(1, 3, 48, 64\)"), (float("nan"), 0, "not finite"))
    for number, (factor, extra, words) in enumerate(cases):
        method = Lama(weights=saved(tmp_path / f"{number}.pt", factor, extra=extra), device="cpu")
        with pytest.raises(NotMeasurable, match=words):
            inpaint(method, corrupted(world(), hole), hole)
    method = Lama(weights=saved(tmp_path / "mean.pt"), device="cpu")
    with pytest.raises(NotMeasurable, match=r"the network failed: .*multiples of 8"):
        inpaint(method, corrupted(world(), hole)[:, :, :60], hole[:, :, :60])
