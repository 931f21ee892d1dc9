"""RAFT: the authors' file under torchvision's names, known motions, pictures of any size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from inpaintbench.compute import Compute
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval import flows as module
from inpaintbench.eval.flows import RAFT_WEIGHTS, raft, raft_flow
from inpaintbench.models.torch_networks import read_state, running

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

CPU = Compute(device="cpu")
RANDOM = Compute(device="cpu", random_weights=3)
MOTION = (5, -3)
PHOTOS = "photos/images-migan-places512/examples/places2_512_freeform/images"


def shifted(assets: Path, height: int, width: int) -> tuple[Any, Any]:
    """Two crops of a photograph; what is at (x, y) in the first is at (x, y) + MOTION in the second."""
    photo = cv2.imread(str(sorted((assets / PHOTOS).glob("*.jpg"))[0]))[..., ::-1]
    top, left = (512 - height) // 2, (512 - width) // 2
    crops = [photo[top - y : top - y + height, left - x : left - x + width] for x, y in ((0, 0), MOTION)]
    one, other = (torch.from_numpy(np.ascontiguousarray(crop)).permute(2, 0, 1)[None].float() / 255 for crop in crops)
    return one, other


@pytest.mark.real
@pytest.mark.usefixtures("own_weights")
@pytest.mark.parametrize("size", [(192, 256), (149, 211), (80, 100)])
def test_the_authors_parameters_find_a_known_motion(assets: Path, size: tuple[int, int]) -> None:
    one, other = shifted(assets, *size)
    with running(CPU):
        found = raft_flow(raft("raft-small-official", CPU), one, other)
        back = raft_flow(raft("raft-small-official", CPU), other, one)
    assert found.shape == (1, 2, *size)
    assert found.dtype is torch.float32
    for motion, sign in ((found, 1), (back, -1)):
        median = motion[0].flatten(1).median(dim=1).values
        assert (median - sign * torch.tensor(MOTION)).abs().max() < 0.3


@pytest.mark.real
@pytest.mark.usefixtures("own_weights")
def test_a_picture_of_another_size_has_the_same_flow_in_its_middle(assets: Path) -> None:
    """Padding is cut off again where it was put: the flow of a crop is the crop of the flow, away from the border."""
    one, other = shifted(assets, 160, 200)
    with running(CPU):
        whole = raft_flow(raft("raft-small-official", CPU), one, other)
        crop = raft_flow(raft("raft-small-official", CPU), one[..., 3:-2, 5:-4], other[..., 3:-2, 5:-4])
    apart = (whole[..., 3:-2, 5:-4] - crop).abs()[..., 40:-40, 40:-40]
    assert float(apart.median()) < 0.1


@pytest.mark.real
@pytest.mark.usefixtures("own_weights")
def test_flow_does_not_depend_on_the_batch_nor_on_bfloat16(assets: Path) -> None:
    one, other = shifted(assets, 128, 136)
    pairs = torch.cat([one, other, one]), torch.cat([other, one, one])
    coarse = Compute(device="cpu", precision="bf16")
    with running(coarse):
        together = raft_flow(raft("raft-small-official", coarse), *pairs)
    with running(CPU):
        alone = [raft_flow(raft("raft-small-official", CPU), *(each[k : k + 1] for each in pairs)) for k in range(3)]
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-5, atol=1e-4)


@pytest.mark.real
def test_every_parameter_of_the_authors_has_its_place(assets: Path) -> None:
    state = read_state(str(assets / "weights/raft-small/raft-small.pth"))
    translated = module._from_official(state)
    expected = module._build(is_large=False).state_dict()
    assert len(translated) == len(state)
    assert {name: value.shape for name, value in translated.items()} == {name: value.shape for name, value in expected.items()}
    assert [value.data_ptr() for value in translated.values()] == [value.data_ptr() for value in state.values()]


@pytest.mark.parametrize("name", RAFT_WEIGHTS)
def test_pictures_of_any_size_have_a_flow_of_their_size(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    one, other = (torch.rand(2, 3, 37, 131, generator=generator) for _ in range(2))
    with running(RANDOM):
        found = raft_flow(raft(name, RANDOM), one, other)
    assert found.shape == (2, 2, 37, 131)
    assert found.isfinite().all()


@pytest.mark.parametrize(("side", "padded"), [(1, 128), (127, 128), (128, 128), (129, 136), (480, 480), (854, 856)])
def test_borders_are_even_and_end_at_sides_that_the_network_takes(side: int, padded: int) -> None:
    def network(first: Any, second: Any, *, num_flow_updates: int) -> list[Any]:
        """The column of each pixel that the network is shown."""
        return [torch.arange(first.shape[-1]).expand(1, 2, *first.shape[-2:]).float()]

    picture = torch.zeros(1, 3, 128, side)
    found = raft_flow(network, picture, picture)
    assert found.shape == (1, 2, 128, side)
    before = int(found[0, 0, 0, 0])
    after = padded - side - before
    assert found[0, 0, 0].tolist() == list(range(before, before + side))
    assert 0 <= after - before <= 1


@pytest.mark.parametrize(("height", "width"), [(128, 120), (120, 128)])
def test_the_network_itself_takes_nothing_smaller(height: int, width: int) -> None:
    with pytest.raises(ValueError, match="Feature maps are too small"):
        raft("raft-small", RANDOM)(torch.zeros(1, 3, height, width), torch.zeros(1, 3, height, width))


@pytest.mark.parametrize(
    ("name", "way"),
    [("raft-small", "fetch raft-small"), ("raft-large", "fetch raft-large"), ("raft-small-official", "import raft-small.pth")],
)
def test_without_weights_it_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotMeasurable, match=f"weights missing: run `inpaintbench models {way}`, or put"):
        raft(name, CPU)


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown weights of RAFT 'raft-smal', did you mean 'raft-small'"):
        raft("raft-smal", CPU)
