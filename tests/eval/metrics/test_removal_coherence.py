"""RC-S and RC-T with a network that can be written down, and with DINO's layers and made-up parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_networks import by_formula
from waves import HEIGHT, MASK, WIDTH, box, image

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.removal_coherence import Box, RcS, RcT, components, discrepancy, network_of, square_of, windows
from inpaintbench.models.dino import DEVIATION, MEAN
from inpaintbench.view import ItemView

SHAPE = (HEIGHT, WIDTH)
RULES = ("as-published", "corrected")


def built(leaf: type[Any], rule: str, backbone: str = "dino-vit-b-16") -> Any:
    return leaf(rule=rule, backbone=backbone, regions=("frame",), band_radius_pixels=8)


def vectors(count: int, a: float, b: float) -> np.ndarray:
    i, j = np.mgrid[:count, :8]
    return np.asarray(np.sin(0.01 * a * (i + 1) * (j + 1) + b) + 0.1 * np.cos(0.3 * i + 0.7 * j))


def stub(picture: np.ndarray) -> np.ndarray:
    rows, columns = picture.shape[0] // 14, picture.shape[1] // 14
    mean = picture.reshape(rows, 14, columns, 14, 3).astype(float).mean(axis=(1, 3))
    k = np.arange(1, 9)
    return np.asarray(np.sin(3 * mean[..., :1] * k / 255) + np.cos(2 * mean[..., 1:2] * k / 255) + mean[..., 2:] / 255)


def test_distance_of_two_sets() -> None:
    one, other = vectors(12, 3, 0.2), vectors(9, 2, 0.9)
    found = discrepancy(one, other)
    assert found == pytest.approx(0.27399135, abs=5e-9)
    assert discrepancy(other, one) == pytest.approx(found, abs=1e-12)
    assert discrepancy(one, one) == pytest.approx(0, abs=1e-10)
    means = [(part / np.linalg.norm(part, axis=1, keepdims=True)).mean(axis=0) for part in (one, other)]
    assert found == pytest.approx(10 * np.square(means[0] - means[1]).sum(), rel=4e-4)  # to which it is linear


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (MASK, (110, 20, 310, 220)),
        (box(0, 139, 0, 119), (0, 0, 140, 140)),
        (box(10, 399, 20, 219), (10, 0, 250, 240)),
    ],
)
def test_squares(mask: np.ndarray, expected: tuple[int, ...]) -> None:
    assert square_of(mask, cut=True) == Box(*expected)
    whole = square_of(mask, cut=False)
    rows, columns = np.nonzero(mask)
    assert whole.left <= columns.min() <= columns.max() < whole.right
    assert whole.top <= rows.min() <= rows.max() < whole.bottom
    assert whole.right - whole.left == whole.bottom - whole.top


def test_small_pieces_count_only_alone() -> None:
    small, large = box(10, 14, 10, 14), box(100, 130, 100, 130)
    assert [int(piece.sum()) for piece in components(small | large)] == [961]
    assert [int(piece.sum()) for piece in components(small)] == [25]
    assert list(components(np.zeros(SHAPE, np.bool_))) == []
    corners = box(0, 19, 0, 19) | box(20, 39, 20, 39)
    assert len(list(components(corners))) == 2  # touching at a corner


def test_windows_of_32_by_32_tokens_and_what_they_leave() -> None:
    assert len(list(windows(32, 32, cover=False))) == 49
    assert len(list(windows(32, 32, cover=True))) == 49
    ends = {cover: max(rows.stop for rows, _ in windows(28, 28, cover=cover)) for cover in (False, True)}
    assert ends == {False: 28, True: 28}
    assert {cover: max(rows.stop for rows, _ in windows(30, 30, cover=cover)) for cover in (False, True)} == {False: 28, True: 30}


@pytest.mark.parametrize("rule", RULES)
def test_known_values_by_the_network_that_can_be_written_down(rule: str) -> None:
    spatial, temporal = built(RcS, rule), built(RcT, rule)
    frame = image(0)
    flat = frame.copy()
    flat[MASK] = (120, 130, 140)
    assert spatial.of_frame(frame, MASK, stub, patch_pixels=14) == pytest.approx(0.5407429, abs=5e-8)
    assert spatial.of_frame(flat, MASK, stub, patch_pixels=14) == pytest.approx(0.0913568, abs=5e-8)
    masks = np.stack([MASK, MASK])
    moved = temporal.of_pair(np.stack([frame, image(1)]), masks, stub, patch_pixels=14)
    assert moved == pytest.approx(1.5719746, abs=5e-8)
    assert temporal.of_pair(np.stack([frame, frame]), masks, stub, patch_pixels=14) == 0
    everything = np.ones(SHAPE, np.bool_)
    assert spatial.of_frame(frame, everything, stub, patch_pixels=14) is None
    assert spatial.of_frame(frame, ~everything, stub, patch_pixels=14) is None
    assert temporal.of_pair(np.stack([frame, frame]), np.stack([~everything] * 2), stub, patch_pixels=14) is None
    elsewhere = frame.copy()
    elsewhere[:, 320:] = 0
    assert spatial.of_frame(elsewhere, MASK, stub, patch_pixels=14) == spatial.of_frame(frame, MASK, stub, patch_pixels=14)


TWO_PIECES = box(150, 170, 80, 100) | box(300, 350, 100, 140)


@pytest.mark.parametrize(
    ("mask", "spatial", "temporal"),
    [
        (MASK, 0.292113690, 0.250873260),
        (box(10, 399, 20, 219), 0.454015579, 0.0904910041),
        (TWO_PIECES, 0.285663395, 0.533410537),
    ],
)
def test_what_the_released_code_gives_with_a_small_dinov2(mask: np.ndarray, spatial: float, temporal: float) -> None:
    """PROVE at 7ca299a with transformers' Dinov2Model of the same parameters; its kernel was given double precision."""
    torch = pytest.importorskip("torch")
    from inpaintbench.eval.passes.frame_vectors import normalised
    from inpaintbench.models.dino_layers import Dino

    module = by_formula(Dino(width=24, layers=2, heads=3, patch_pixels=14, grid=37, scaled=True))

    def network(picture: np.ndarray) -> np.ndarray:
        levels = torch.from_numpy(picture.copy()).permute(2, 0, 1)[None] / 255
        with torch.inference_mode():
            return np.asarray(module.patch_tokens(normalised(levels, MEAN, DEVIATION))[0].double())

    one, other = image(0), image(1)
    found = built(RcS, "as-published", "dinov2-giant").of_frame(one, mask, network)
    assert found == pytest.approx(spatial, rel=1e-4)
    moved = np.stack([mask, np.roll(mask, 7, axis=1)])
    found = built(RcT, "as-published", "dinov2-giant").of_pair(np.stack([one, other]), moved, network)
    assert found == pytest.approx(temporal, rel=1e-4)


def test_only_the_corrected_square_sees_the_right_of_a_wide_object() -> None:
    wide = box(10, 399, 20, 219)
    spoilt = image(0)
    spoilt[20:220, 260:400] = (255, 0, 0)
    values = {rule: [built(RcS, rule).of_frame(one, wide, stub, patch_pixels=14) for one in (image(0), spoilt)] for rule in RULES}
    assert values["as-published"][0] == values["as-published"][1]
    assert values["corrected"][0] > values["corrected"][1]


def view_of(frames: np.ndarray, hole: np.ndarray, compute: Compute | None = None) -> ItemView:
    return ItemView.of_arrays(composite=frames, hole=hole, shared=Shared(compute=compute) if compute else Shared())


@pytest.mark.long
def test_a_clip_is_the_mean_and_frames_without_a_value_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    frames = np.stack([image(t)[60:180, 110:310] for t in range(3)])
    hole = np.zeros(frames.shape[:3], np.bool_)
    hole[:2, 20:100, 40:160] = True
    compute = Compute(device="cpu", random_weights=3)
    view = view_of(frames, hole, compute)
    for leaf, parts in ((RcS, "frames"), (RcT, "pairs")):
        metric = built(leaf, "corrected")
        found = metric.measure(view.declaring(metric.name, metric.parts))["frame"]
        network = network_of(Shared(compute=compute))
        if leaf is RcS:
            expected = np.mean([metric.of_frame(frames[at], hole[at], network) for at in range(2)])
        else:
            expected = metric.of_pair(frames[:2], hole[:2], network)
        assert found.value == pytest.approx(expected, abs=1e-6)
        assert found.details == {parts: 2 if leaf is RcS else 1, f"{parts}_without_value": 1}
    with pytest.raises(NotMeasurable, match="one frame"):
        built(RcT, "corrected").measure(view_of(frames[:1], hole[:1], compute))


def test_tokens_are_those_behind_the_class_token() -> None:
    torch = pytest.importorskip("torch")
    from inpaintbench.models.dino import dino

    compute = Compute(device="cpu", random_weights=3)
    picture = image(0)[:64, :96]
    tokens = network_of(Shared(compute=compute))(picture)
    assert tokens.shape == (4, 6, 768)
    module, kept = dino(compute), []
    handle = module.norm.register_forward_hook(lambda *given: kept.append(given[2]))
    levels = torch.tensor(picture / 255, dtype=torch.float32).permute(2, 0, 1)[None]
    shift, scale = (torch.tensor(values).reshape(1, 3, 1, 1) for values in (MEAN, DEVIATION))
    with torch.no_grad():
        alone = module((levels - shift) / scale)
    handle.remove()
    assert np.allclose(kept[0][0, 1:].numpy().reshape(4, 6, 768), tokens, atol=1e-4)
    assert torch.equal(alone, kept[0][:, 0])


def test_without_weights_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    with pytest.raises(NotMeasurable, match="dino-vit-b-16"):
        built(RcS, "corrected").measure(view_of(image(0)[None], MASK[None]))
    with pytest.raises(NotMeasurable, match="dinov2-giant"):
        built(RcS, "as-published", "dinov2-giant").measure(view_of(image(0)[None], MASK[None]))
