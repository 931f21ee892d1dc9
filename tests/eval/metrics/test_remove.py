"""ReMOVE: the cosine of given maps, masks and crops as published and mended, and a program in place of SAM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brought
import numpy as np
import pytest
from PIL import Image
from tiny_networks import by_formula
from waves import MASK, image

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.brought import Remove, likeness
from inpaintbench.view import ItemView


def built(rule: str = "corrected", *, crop: bool = False, encoder: str = "program") -> Remove:
    return Remove(rule=rule, crop=crop, encoder=encoder, regions=("frame",), band_radius_pixels=8)  # type: ignore[arg-type]


def test_given_map() -> None:
    c, y, x = np.mgrid[:4, :64, :64]
    features = np.sin(0.1 * (c + 1) * x) + np.cos(0.07 * (c + 1) * y)
    inside = np.zeros((64, 64), np.bool_)
    inside[20:40, 10:35] = True
    assert likeness(features, inside, ~inside) == pytest.approx(-0.5795992, abs=5e-8)


def test_published_masks_are_stretched_and_mended_ones_lie_where_sam_sees_them() -> None:
    frame, mask = np.zeros((480, 832, 3), np.uint8), np.zeros((480, 832), np.bool_)
    mask[120:360, 200:600] = True
    published, mended = (built(rule).given(frame, mask) for rule in ("as-published", "corrected"))
    rows = [np.flatnonzero(one.inside.any(axis=1)) for one in (published, mended)]
    assert (rows[0][0], rows[0][-1]) == (17, 46)
    # The object's rows are 120 to 360 of 480, which lie on tokens 9.2 to 27.7.
    assert (rows[1][0], rows[1][-1]) == (9, 27)
    assert not (mended.inside & mended.outside).any()
    assert (mended.inside | mended.outside).sum() == 37 * 64  # the padded rows belong to neither


@pytest.mark.parametrize(("shape", "tokens"), [((40, 1024), (3, 64)), ((39, 1024), (2, 64)), ((33, 2048), (1, 64))])
def test_a_token_that_lies_half_in_the_picture_belongs_to_it(shape: tuple[int, int], tokens: tuple[int, int]) -> None:
    mask = np.zeros(shape, np.bool_)
    mask[:, : shape[1] // 2] = True
    for turned in (mask, mask.T):
        given = built().given(np.zeros((*turned.shape, 3), np.uint8), turned)
        there = given.inside | given.outside
        rows, columns = tokens if turned is mask else tokens[::-1]
        assert there[:rows, :columns].all()
        assert (there.sum(), given.inside.sum()) == (rows * columns, rows * columns // 2)


def square(mask: np.ndarray) -> tuple[int, int, int]:
    """The released code's box, as it says it: columns, rows and side of the pixels that are white."""
    rows, columns = np.nonzero(mask)
    left, right, top, bottom = columns.min(), columns.max(), rows.min(), rows.max()
    fits = left - 16 >= 0 and top - 16 >= 0 and bottom + 16 <= mask.shape[0] and right + 16 <= mask.shape[1]
    sub = 16 if fits else max(min(left, top, mask.shape[0] - bottom, mask.shape[1] - right), 0)
    return left - sub, top - sub, max(right - left + 1, bottom - top + 1) + 2 * sub


@pytest.mark.parametrize("box", [(40, 60, 50, 110), (5, 30, 50, 110), (80, 99, 60, 119), (0, 20, 0, 20)])
def test_crops(box: tuple[int, int, int, int]) -> None:
    frame = np.random.default_rng(0).integers(0, 256, (100, 120, 3), dtype=np.uint8)
    mask = np.zeros((100, 120), np.bool_)
    mask[box[0] : box[1] + 1, box[2] : box[3] + 1] = True
    left, top, side = square(mask)
    published = built("as-published", crop=True).given(frame, mask)
    assert np.array_equal(published.picture, frame[top : top + side, left : left + side])
    small = np.array(Image.fromarray(mask[top : top + side, left : left + side].astype(np.uint8) * 255).resize((64, 64))) // 255
    assert np.array_equal(published.inside, small == 1)
    mended = built(crop=True).given(frame, mask)
    assert mended.picture.shape[0] == mended.picture.shape[1] == max(box[1] - box[0], box[3] - box[2]) + 33
    assert mended.inside.any()


@pytest.mark.parametrize(
    ("moved", "crop", "expected"),
    [(0, False, 0.917803764), (0, True, -0.427403778), (-140, False, 0.861550331), (-140, True, 0.665627956)],
)
def test_what_the_released_code_gives_with_a_small_encoder(
    moved: int, crop: bool, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ReMOVE at b297426, its ImageEncoderViT of the same parameters, for pictures and masks in PNG files."""
    pytest.importorskip("torch")
    from inpaintbench.models.sam_layers import SamEncoder

    encoder = by_formula(SamEncoder(width=16, layers=2, heads=2, whole=(1,), channels=256))
    monkeypatch.setattr("inpaintbench.models.sam.sam_encoder", lambda compute: encoder)
    frame, mask = image(3 if moved else 0), np.roll(MASK, moved, axis=1)
    metric = built("as-published", crop=crop, encoder="sam-vit-h")
    view = ItemView.of_arrays(composite=frame[None], hole=mask[None], shared=Shared(compute=Compute(device="cpu")))
    assert metric.measure(view.declaring("remove", metric.parts))["frame"].value == pytest.approx(expected, rel=1e-4)


def test_the_encoder_decides_what_is_needed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Remove.weights_of({"encoder": "sam-vit-h"}) == ("sam-vit-h",)
    assert Remove.weights_of({"encoder": "program"}) == ()
    pytest.importorskip("torch")
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    mask = np.zeros((1, 32, 32), np.bool_)
    mask[:, 8:20, 8:20] = True
    with pytest.raises(NotMeasurable, match="models fetch sam-vit-h"):
        built(encoder="sam-vit-h").measure(ItemView.of_arrays(composite=np.zeros((1, 32, 32, 3), np.uint8), hole=mask))


def test_a_program_gives_the_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = """
def small(frame):
    return np.asarray(Image.fromarray(frame).resize((64, 64), Image.Resampling.BOX), float) / 255
np.save(target / 'array.npy', np.stack([np.tile(small(frame).transpose(2, 0, 1), (86, 1, 1))[:256] for frame in frames]))
"""
    brought.give(Remove.brought, body, tmp_path, monkeypatch)
    frames, hole = np.full((3, 64, 64, 3), (200, 90, 40), np.uint8), np.zeros((3, 64, 64), np.bool_)
    hole[:2, 20:40, 20:40] = True
    alike, other = frames.copy(), frames.copy()
    other[hole] = (10, 250, 10)

    def measured(composite: np.ndarray) -> Any:
        return built(crop=True).measure(ItemView.of_arrays(composite=composite, hole=hole))["frame"]

    assert measured(alike).value == pytest.approx(1, abs=1e-6)
    assert measured(alike).details == {"frames": 2, "frames_without_value": 1}
    assert measured(other).value < 0.8
    full = ItemView.of_arrays(composite=frames, hole=np.ones_like(hole))
    found = built().measure(full)["frame"]
    assert (found.value, found.reason) == (None, "no frame has both a hole and background around it")


def test_without_the_program_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(Remove.brought.variable, raising=False)
    frames, hole = np.zeros((1, 40, 40, 3), np.uint8), np.zeros((1, 40, 40), np.bool_)
    hole[:, 5:20, 5:20] = True
    with pytest.raises(NotMeasurable, match="set INPAINTBENCH_REMOVE to a program"):
        built().measure(ItemView.of_arrays(composite=frames, hole=hole))
