from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.eval.flows.given import Given, listed  # noqa: F401 - a fixture
from tests.eval.flows.test_dis import texture
from tests.eval.passes.test_flow_pairs import flow_pairs

from inpaintbench import regions
from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable, UnknownNameError
from inpaintbench.eval.metrics import warp_error as module
from inpaintbench.eval.metrics.warp_error import WarpError
from inpaintbench.view import ItemView, composite

PUBLISHED: dict[str, Any] = {
    "flow": "given", "size_multiple": 1, "occlusion_relative": 0.01, "occlusion_absolute": 0.5, "boundary_relative": 0.01,
    "boundary_absolute": 0.002, "border": "clamp",
}  # fmt: skip


def metric(*names: str, **constants: Any) -> WarpError:
    return WarpError(regions=names or regions.REGIONS, band_radius_pixels=4, **{**PUBLISHED, **constants})


def item(*, frames: int = 4, height: int = 30, width: int = 41, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, 256, (2, frames, height, width, 3), dtype=np.uint8)
    hole = np.zeros((frames, height, width), np.bool_)
    hole[:, 5:20, 8:30] = rng.random((frames, 15, 22)) < 0.4
    return {"truth": truth, "hole": hole, "composite": composite(truth, hole, prediction)}


def wild(shape: tuple[int, ...], *, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Flow forward and back that is smooth in parts, torn in others, agrees with itself here and there, and leaves the frame."""
    rng = np.random.default_rng(seed)
    frames, height, width = shape[:3]
    forward = np.broadcast_to(rng.normal(0, 3, (frames - 1, 1, 1, 2)), (frames - 1, height, width, 2)).copy()
    forward[:, : height // 2] += 4
    forward += rng.normal(0, 0.02, forward.shape)
    forward[:, -4:, :9] += rng.normal(0, 9, (frames - 1, 4, 9, 2))
    return forward.astype(np.float32), (-forward + rng.normal(0, 0.2, forward.shape)).astype(np.float32)


def sampled(picture: np.ndarray, x: float, y: float) -> np.ndarray:
    """Bilinear: indices clamped to the frame, weights from the place as it is."""
    height, width = picture.shape[:2]
    left, top = math.floor(x), math.floor(y)
    total = np.zeros(picture.shape[2:])
    for row, part_y in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, part_x in ((left, 1 - (x - left)), (left + 1, x - left)):
            total += part_x * part_y * picture[min(max(row, 0), height - 1), min(max(column, 0), width - 1)]
    return total


def loop(parts: dict[str, np.ndarray], forward: np.ndarray, backward: np.ndarray, *, border: str) -> dict[str, float]:
    """The published definition, pixel by pixel in float64; NaN where there is nothing."""
    frames, height, width = parts["hole"].shape
    means: dict[str, list[float]] = {"frame": [], "hole": []}
    composites, holes = parts["composite"] / 255, parts["hole"].astype(float)
    for t in range(frames - 1):
        found: dict[str, list[float]] = {"frame": [], "hole": []}
        f, b = forward[t].astype(float), backward[t].astype(float)
        for y in range(height):
            for x in range(width):
                to_x, to_y = x + f[y, x, 0], y + f[y, x, 1]
                w = sampled(b, to_x, to_y)
                length = (f[y, x] ** 2).sum()
                occluded = ((w + f[y, x]) ** 2).sum() > 0.01 * ((w**2).sum() + length) + 0.5
                right = ((f[y, x + 1] - f[y, x]) ** 2).sum() if x + 1 < width else 0.0
                below = ((f[y + 1, x] - f[y, x]) ** 2).sum() if y + 1 < height else 0.0
                outside = not (0 <= to_x <= width - 1 and 0 <= to_y <= height - 1)
                if occluded or right + below > 0.01 * length + 0.002 or (outside and border == "leave_out"):
                    continue
                error = ((sampled(composites[t + 1], to_x, to_y) - composites[t, y, x]) ** 2).mean()
                found["frame"].append(error)
                if holes[t, y, x] + sampled(holes[t + 1][..., None], to_x, to_y)[0] > 0:
                    found["hole"].append(error)
        for region, errors in found.items():
            if errors:
                means[region].append(float(np.mean(errors)))
    return {region: float(np.mean(values)) for region, values in means.items() if values}


@pytest.mark.parametrize("border", ["clamp", "leave_out"])
@pytest.mark.parametrize("seed", [1, 2])
def test_equals_the_definition_pixel_by_pixel(given: type[Given], border: str, seed: int) -> None:
    parts = item()
    flows = wild(parts["truth"].shape, seed=seed)
    given.give(parts["truth"], *flows)
    expected = loop(parts, *flows, border=border)
    found = metric(border=border).measure(ItemView.of_arrays(**parts))
    assert list(found) == ["frame", "hole"]
    assert {region: one.value for region, one in found.items()} == pytest.approx(expected, rel=1e-6)
    assert found["frame"].details == {"pairs": 3}


@pytest.mark.parametrize("size_multiple", [1, 64])
def test_equals_the_definition_with_flow_of_the_truth(size_multiple: int) -> None:
    scene = texture(40, 70)
    truth = np.stack([scene[index : index + 34, 2 * index : 2 * index + 50] for index in range(3)])
    parts = item(frames=3, height=34, width=50)
    parts = {"truth": truth, "hole": parts["hole"], "composite": composite(truth, parts["hole"], parts["truth"])}
    pairs = flow_pairs(ItemView.of_arrays(truth=truth), size_multiple=size_multiple)
    expected = loop(parts, *(np.stack([pair[side] for pair in pairs]) for side in (1, 2)), border="clamp")
    found = metric(flow="dis", size_multiple=size_multiple).measure(ItemView.of_arrays(**parts))
    assert {region: one.value for region, one in found.items()} == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("border", ["clamp", "leave_out"])
def test_compiled_loops_give_the_same_bits(given: type[Given], border: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    parts = item(height=64, width=90)
    given.give(parts["truth"], *wild(parts["truth"].shape))
    by_numpy = metric(border=border).measure(ItemView.of_arrays(**parts))
    monkeypatch.setattr(module, "_VALUES_BEFORE_COMPILING", 0)
    assert metric(border=border).measure(ItemView.of_arrays(**parts)) == by_numpy


def test_what_is_known_of_the_truth_serves_methods_that_come_later(given: type[Given], tmp_path: Path) -> None:
    parts = item()
    given.give(parts["truth"], *wild(parts["truth"].shape))
    seen = [metric(border=border).measure(ItemView.of_arrays(**parts)) for border in ("clamp", "leave_out") for _ in range(2)]
    Given.calls = 0
    shared = [ItemView.of_arrays(**parts, shared=Shared(folder=tmp_path)) for _ in range(4)]
    assert [metric(border=border).measure(shared.pop()) for border in ("clamp", "leave_out") for _ in range(2)] == seen
    assert Given.calls == 2


def test_a_still_picture_without_flow_has_no_error(given: type[Given]) -> None:
    parts = item()
    for name in ("truth", "composite", "hole"):
        parts[name][1:] = parts[name][0]
    still = np.zeros((3, 30, 41, 2), np.float32)
    given.give(parts["truth"], still, still)
    found = metric().measure(ItemView.of_arrays(**parts))
    assert {region: one.value for region, one in found.items()} == {"frame": 0.0, "hole": 0.0}


def test_a_picture_that_slides_with_its_flow_has_no_error_off_the_border(given: type[Given]) -> None:
    scene = item(frames=1, height=40, width=60)["truth"][0]
    truth = np.stack([scene[2 * index : 2 * index + 30, 3 * index : 3 * index + 41] for index in range(4)])
    hole = np.ones(truth.shape[:3], np.bool_)
    forward = np.broadcast_to(np.float32((-3, -2)), (3, 30, 41, 2))
    given.give(truth, forward, -forward)
    view = ItemView.of_arrays(truth=truth, hole=hole, composite=truth)
    clamped, cut = (metric(border=border).measure(view) for border in ("clamp", "leave_out"))
    assert (cut["frame"].value, cut["hole"].value) == (0.0, 0.0)
    # Clamped samples repeat the edge, so only there the picture does not slide along.
    edge = [
        ((truth[t + 1, max(y - 2, 0), max(x - 3, 0)] / 255 - truth[t, y, x] / 255) ** 2).mean()
        for t in range(3) for y in range(30) for x in range(41)
    ]  # fmt: skip
    assert clamped["frame"].value == pytest.approx(np.mean(edge), rel=1e-6)


def test_pairs_without_a_visible_pixel_are_left_out_and_without_any_there_is_no_value(given: type[Given]) -> None:
    parts = item()
    still = np.zeros((3, 30, 41, 2), np.float32)
    lost = still.copy()
    lost[1] = 1.0  # does not return: |f + w|^2 = 2 > 0.01 * 2 + 0.5
    given.give(parts["truth"], lost, still)
    found = metric().measure(ItemView.of_arrays(**parts))
    expected = [np.mean((parts["composite"][t + 1] / 255 - parts["composite"][t] / 255) ** 2) for t in (0, 2)]
    assert found["frame"].value == pytest.approx(np.mean(expected), rel=1e-6)
    assert found["frame"].details == found["hole"].details == {"pairs": 2}
    given.give(parts["truth"], still + 1, still)
    for region, one in metric().measure(ItemView.of_arrays(**parts)).items():
        assert one.value is None
        assert one.reason == f"no pair of frames has a pixel of the region {region!r} that is seen in both"


def test_an_item_without_a_hole_has_a_frame_alone(given: type[Given]) -> None:
    parts = item()
    flows = wild(parts["truth"].shape)
    given.give(parts["truth"], *flows)
    bare = {"truth": parts["truth"], "hole": np.zeros_like(parts["hole"]), "composite": parts["truth"]}
    found = metric().measure(ItemView.of_arrays(**bare))
    assert found["frame"].value == pytest.approx(loop(bare, *flows, border="clamp")["frame"], rel=1e-6)
    assert found["hole"].value is None


def test_a_hole_pixel_counts_only_where_it_has_weight(given: type[Given]) -> None:
    truth = np.zeros((2, 8, 9, 3), np.uint8)
    truth[1] = 255
    hole = np.zeros((2, 8, 9), np.bool_)
    hole[1, 4, 5] = True
    one_pixel, two_pixels = np.zeros((2, 1, 8, 9, 2), np.float32)
    two_pixels[..., 0] = 0.5
    for flow, landing in ((one_pixel, 1), (two_pixels, 2)):
        given.give(truth, flow, -flow)
        view = ItemView.of_arrays(truth=truth, hole=hole, composite=composite(truth, hole, truth))
        dark = view.composite.copy()
        dark[1, 4, 5] = 0
        found = metric().measure(ItemView.of_arrays(truth=truth, hole=hole, composite=dark))
        # One sees the dark pixel whole; two see it half.
        assert found["hole"].value == pytest.approx(0.0 if landing == 1 else 0.25)


def test_the_flow_is_that_of_the_truth_and_is_estimated_once_for_all_methods(given: type[Given]) -> None:
    parts = item()
    given.give(parts["truth"], *wild(parts["truth"].shape))
    others = [composite(parts["truth"], parts["hole"], item(seed=seed)["truth"]) for seed in (5, 6)]
    views = [ItemView.of_arrays(**{**parts, "composite": one}) for one in (parts["composite"], *others)]
    together = metric().measure_together([view.declaring("warp_error", WarpError.needs) for view in views])
    assert Given.calls == 2
    assert together == [metric().measure(view) for view in views]
    assert len({one["frame"].value for one in together}) == 3
    assert metric().measure_together([]) == []


def test_regions_without_an_answer_are_left_out(given: type[Given]) -> None:
    parts = item()
    given.give(parts["truth"], *wild(parts["truth"].shape))
    view = ItemView.of_arrays(**parts)
    both = metric().measure(view)
    assert metric("band").measure(view) == {}
    for region in ("frame", "hole"):
        assert metric("band", region).measure(view) == {region: both[region]}


def test_flow_that_is_not_finite_is_not_measurable(given: type[Given]) -> None:
    parts = item()
    forward, backward = wild(parts["truth"].shape)
    backward[1, 3, 4, 0] = np.nan
    given.give(parts["truth"], forward, backward)
    with pytest.raises(NotMeasurable, match="the optical flow 'given' gave values that are not finite"):
        metric().measure(ItemView.of_arrays(**parts))


def test_flow_far_beyond_the_frame_ends_at_its_edge(given: type[Given]) -> None:
    parts = item(frames=2)
    far = np.full((1, 30, 41, 2), 1e6, np.float32)
    far[..., 1] = -1e6
    given.give(parts["truth"], far, -far)
    found = metric(occlusion_absolute=math.inf).measure(ItemView.of_arrays(**parts))
    expected = np.mean((parts["composite"][1, 0, -1] / 255 - parts["composite"][0] / 255) ** 2)
    assert found["frame"].value == pytest.approx(expected, rel=1e-6)


def test_a_still_image_has_no_next_frame() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric(flow="dis").measure(ItemView.of_arrays(**item(frames=1)))


@pytest.mark.parametrize(
    ("constants", "error", "complaint"),
    [
        ({"flow": "diss"}, UnknownNameError, "unknown flow 'diss', did you mean 'dis'"),
        ({"flow": "dis", "border": "wrap"}, ValueError, "border is 'wrap', choose 'clamp' or 'leave_out'"),
        ({"flow": "dis", "size_multiple": 0}, ValueError, "size_multiple is 0, it must be at least 1"),
    ],
)
def test_constants_that_make_no_sense_are_refused(constants: dict[str, Any], error: type[Exception], complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        metric(**constants)


@pytest.mark.parametrize(("flow", "weights"), [("dis", ()), ("raft_small", ("raft-small",)), ("raft_large", ("raft-large",))])
def test_the_weights_are_those_of_the_flow(flow: str, weights: tuple[str, ...]) -> None:
    assert WarpError.weights_of({**PUBLISHED, "flow": flow}) == weights


def test_reduces_to_the_mean() -> None:
    assert metric(flow="dis").reduce([0.1, 0.4, 0.1]) == pytest.approx(0.2)
    assert metric(flow="dis").reduce([]) is None
