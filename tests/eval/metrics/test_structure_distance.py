"""Structure distance of given keys, and of a small DINO against the released code's arithmetic said again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from every_metric import RANDOM, moving_picture, noisy
from tiny_networks import shaken

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import dino as module
from inpaintbench.eval.metrics.dino import StructureDistance, self_similarity, shrunk_size
from inpaintbench.models import dino
from inpaintbench.models.torch_networks import running
from inpaintbench.view import ItemView

RULES = ("as-published", "corrected")


def test_given_keys() -> None:
    i, j = np.mgrid[:6, :4]
    one, other = np.sin(0.5 * (i + 1) * (j + 1)), np.sin(0.5 * (i + 1) * (j + 1) + 0.2 * i)
    found = np.square(self_similarity(one) - self_similarity(other)).mean()
    assert found == pytest.approx(0.1707075, abs=5e-8)
    assert np.isfinite(self_similarity(np.zeros((2, 3)))).all()


@pytest.mark.parametrize(
    ("frame", "expected"),
    [((240, 432), (224, 403)), ((432, 240), (403, 224)), ((100, 400), (120, 480)), ((90, 91), (224, 226))],
)  # fmt: skip
def test_frames_are_shrunk_by_their_shorter_side_and_no_longer_than_480(
    frame: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert shrunk_size(*frame) == expected
    resize = pytest.importorskip("torchvision.transforms").Resize(224, max_size=480)
    torch = pytest.importorskip("torch")
    assert tuple(resize(torch.zeros(3, *frame)).shape[1:]) == expected


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("torch")
    from inpaintbench.models.dino_layers import Dino

    small = shaken(lambda: Dino(width=24, layers=2, heads=3, patch_pixels=16, grid=14))
    monkeypatch.setattr(module, "dino", lambda compute: small)
    return small


def built(rule: str = "corrected", backbone: str = "dino-vit-b-16") -> StructureDistance:
    return StructureDistance(rule=rule, backbone=backbone, stride=1, regions=("frame",), band_radius_pixels=8)  # type: ignore[arg-type]


def measured(metric: StructureDistance, truth: np.ndarray, *predictions: np.ndarray, compute: Compute = RANDOM) -> list[Any]:
    views = [ItemView.of_arrays(truth=truth, composite=one, shared=Shared(compute=compute)) for one in predictions]
    return [one["frame"] for one in metric.measure_together(views)]


def released(network: Any, one: np.ndarray, other: np.ndarray, *, rule: str) -> float:
    """PIE-Bench's: the hooked output of the last layer of queries, keys and values, cut up by heads, and torch's products."""
    import torch
    from torchvision import transforms

    shrink = transforms.Resize(224, max_size=480, antialias=rule == "corrected")
    normal = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    maps = []
    for picture in (one, other):
        levels = torch.from_numpy(np.transpose(picture.astype(np.float32), (2, 0, 1)))
        given = normal(shrink(levels if rule == "as-published" else levels / 255))[None]
        kept: list[Any] = []
        handle = network.blocks[-1].attn.qkv.register_forward_hook(lambda *call, kept=kept: kept.append(call[2]))
        with running(RANDOM):  # one thread: more of them wait for each other on a busy machine
            network(given)
        handle.remove()
        tokens = 1 + (given.shape[2] // 16) * (given.shape[3] // 16)
        keys = kept[0].reshape(tokens, 3, 3, 8).permute(1, 2, 0, 3)[1].transpose(0, 1).reshape(1, tokens, 24)
        norm = keys.norm(dim=2, keepdim=True)
        maps.append((keys @ keys.permute(0, 2, 1)) / torch.clamp(norm @ norm.permute(0, 2, 1), min=1e-8))
    return float(torch.nn.functional.mse_loss(*maps))


@pytest.mark.parametrize("rule", RULES)
def test_as_the_released_code_has_it(network: Any, rule: str) -> None:
    truth = moving_picture(5, height=120, width=140)
    prediction = noisy(truth, levels=90)
    [found, same] = measured(built(rule), truth, prediction, truth.copy())
    expected = [released(network, *pair, rule=rule) for pair in zip(truth, prediction, strict=True)]
    assert found.value == pytest.approx(np.mean(expected), rel=1e-4)
    assert found.value > 1e-4
    assert found.details == {"frames": 5}
    assert same.value == 0
    # With several predictions as alone.
    assert measured(built(rule), truth, prediction)[0] == found


def test_strips_and_missing_weights_have_a_reason(network: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    strip = moving_picture(1, height=10, width=400)
    with pytest.raises(NotMeasurable, match="too long for their width"):
        measured(built(), strip, strip)
    monkeypatch.delenv(dino.FINE.variable, raising=False)
    truth = moving_picture(1, height=40, width=50)
    with pytest.raises(NotMeasurable, match=r"dino_vitbase8_pretrain.pth and set INPAINTBENCH_DINO_VIT_B_8 to"):
        measured(built(backbone="dino-vit-b-8"), truth, truth, compute=Compute(device="cpu"))
    assert built(backbone="dino-vit-b-8").weights_of({"backbone": "dino-vit-b-8"}) == ()
    assert StructureDistance.state() == "missing"


def test_the_finer_network_has_the_published_shape(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    from inpaintbench.models.dino_layers import Dino

    with torch.device("meta"):
        state = Dino(patch_pixels=8, grid=28).state_dict()
    assert {name: tuple(state[name].shape) for name in ("pos_embed", "patch_embed.proj.weight")} == {
        "pos_embed": (1, 785, 768), "patch_embed.proj.weight": (768, 3, 8, 8),
    }  # fmt: skip
    (tmp_path / "other.pth").write_bytes(b"no parameters")
    monkeypatch.setenv(dino.FINE.variable, str(tmp_path / "other.pth"))
    with torch.device("meta"), pytest.raises(NotMeasurable, match=r"other\.pth"):
        dino.fine_dino(Compute(device="cpu"))
