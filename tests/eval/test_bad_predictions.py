"""What may come as a prediction, and items at the edge of what metrics can measure: a value or a reason each, and no harm."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from skimage import data

from inpaintbench import video
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Dataset, Frames, Hole, Prediction, Score
from inpaintbench.workspace import Workspace

FRAMES, HEIGHT, WIDTH = 4, 60, 72
PROTOCOLS = ("devil/corrected", "devil/as-published")
EXACT = {"devil/as-published": math.inf, "devil/corrected": 58.92}
"""What pixels without an error score in dB."""
METRICS = ["psnr", "ssim", "mse", "pcons"]
Rows = dict[tuple[str, str, str], Score]
"""By item, metric and region."""


def pan(frames: int = FRAMES) -> Frames:
    return np.stack([data.coffee()[100 : 100 + HEIGHT, 50 + 2 * t : 50 + WIDTH + 2 * t] for t in range(frames)])


def square(frames: int = FRAMES) -> Hole:
    hole = np.zeros((frames, HEIGHT, WIDTH), bool)
    hole[:, 20:40, 30:55] = True
    return hole


def still(frames: int = FRAMES) -> Frames:
    return np.repeat(pan(1), frames, axis=0)


ITEMS: dict[str, tuple[Frames, Hole]] = {
    "usual": (pan(), square()),
    "all hole": (pan(), np.ones_like(square())),
    "no hole": (pan(), np.zeros_like(square())),
    "hole comes late": (pan(), square() & (np.arange(FRAMES) >= 2)[:, None, None]),
    "one frame": (pan(1), square(1)),
    "two frames": (pan(2), square(2)),
    "nothing moves": (still(), square()),
}


def write(folder: Path, items: dict[str, tuple[Frames, Hole]]) -> Dataset:
    folder.mkdir(exist_ok=True)
    rows = []
    for name, (truth, hole) in items.items():
        suffix = video.suffix_for(len(truth))
        video.write_lossless(folder / f"truth {name}{suffix}", truth, fps=25.0)
        video.write_hole(folder / f"hole {name}{suffix}", hole, fps=25.0)
        rows.append({
            "item_id": name, "truth_file_name": f"truth {name}{suffix}", "hole_file_name": f"hole {name}{suffix}", "fps": 25.0,
            "frames": len(truth), "height": HEIGHT, "width": WIDTH, "truth_rgb_sha256": name, "hole_sha256": name,
            "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
        })  # fmt: skip
    return Dataset("edges", {}, tuple(rows), (), {}, {}, {})


def run(tmp_path: Path, fill: Callable[[Frames], Frames], *, protocol: str, items: dict[str, tuple[Frames, Hole]]) -> Rows:
    """Scores of predictions that are ``fill`` of the truth."""
    dataset, workspace = write(tmp_path / "data", items), Workspace(tmp_path / "run")
    made = []
    for name, (truth, _) in items.items():
        save = partial(video.write_lossless, frames=fill(truth), fps=25.0)
        blob, _ = workspace.blobs.put(video.suffix_for(len(truth)), save)
        made.append(Prediction("mine", "1", name, blob, True, 0))
    with LocalExecutor(workspace, workers=0) as executor:
        methods = [Predicted("mine", made)]
        outcome = score(executor, dataset, root=tmp_path / "data", methods=methods, protocol=protocol, metrics=METRICS)["mine"]
    assert not outcome.rejected
    rows = {(row.item_id, row.metric, row.region): row for row in outcome.records}
    assert len(rows) == len(outcome.records) == len(items) * 12
    assert all((row.value is None) == bool(row.reason) for row in rows.values())
    assert not any(math.isnan(row.value) for row in rows.values() if row.value is not None)
    return rows


@pytest.fixture(scope="module", params=PROTOCOLS)
def wrong(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Rows]:
    """Predictions that are the truth inverted, of every kind of item."""
    folder = tmp_path_factory.mktemp("wrong")
    return request.param, run(folder, lambda truth: 255 - truth, protocol=request.param, items=ITEMS)


def unmeasured(rows: Rows, item: str) -> set[tuple[str, str]]:
    return {(metric, region) for (name, metric, region), row in rows.items() if name == item and row.value is None}


def test_a_usual_item_has_every_value(wrong: tuple[str, Rows]) -> None:
    assert unmeasured(wrong[1], "usual") == set()


def test_an_all_hole_item_has_no_border_and_the_rest(wrong: tuple[str, Rows]) -> None:
    rows = wrong[1]
    assert unmeasured(rows, "all hole") == {(metric, "band") for metric in METRICS}
    assert rows["all hole", "mse", "frame"].value == rows["all hole", "mse", "hole"].value
    inverted = ((255 - 2 * pan().astype(float)) / 255) ** 2
    assert rows["all hole", "mse", "frame"].value == pytest.approx(inverted.mean(), rel=1e-6)


def test_an_item_without_a_hole_is_perfect_in_the_frame_and_unmeasured_in_the_hole(wrong: tuple[str, Rows]) -> None:
    rows = wrong[1]
    assert unmeasured(rows, "no hole") == {(metric, region) for metric in METRICS for region in ("hole", "band")}
    assert rows["no hole", "psnr", "frame"].value == EXACT[wrong[0]]
    assert (rows["no hole", "ssim", "frame"].value, rows["no hole", "mse", "frame"].value) == (1, 0)
    assert "no frame" in str(rows["no hole", "pcons", "hole"].reason)


def test_frames_without_a_hole_are_left_out_of_a_hole_that_comes_late(wrong: tuple[str, Rows]) -> None:
    rows = wrong[1]
    assert unmeasured(rows, "hole comes late") == set()
    assert rows["hole comes late", "mse", "hole"].details["frames"] == 2
    assert rows["hole comes late", "pcons", "hole"].details["pairs"] == 1
    value, details = rows["hole comes late", "psnr", "frame"].value or 0, rows["hole comes late", "psnr", "frame"].details
    if wrong[0] == "devil/as-published":
        assert (value, details["infinite_frames"]) == (math.inf, 2)
    else:  # two exact frames of four: half the error that the other two have
        error = rows["hole comes late", "mse", "frame"].value or 0
        assert value == pytest.approx(10 * math.log10(1 / error), rel=1e-12)
        assert "infinite_frames" not in details


def test_one_frame_has_no_next_and_everything_else(wrong: tuple[str, Rows]) -> None:
    rows = wrong[1]
    assert unmeasured(rows, "one frame") == {("pcons", region) for region in ("frame", "hole", "band")}
    assert rows["one frame", "pcons", "hole"].reason == "one frame has no next frame"
    assert unmeasured(rows, "two frames") == set()


def test_identical_frames_have_the_largest_consistency(wrong: tuple[str, Rows]) -> None:
    row = wrong[1]["nothing moves", "pcons", "hole"]
    assert row.value == EXACT[wrong[0]]
    assert row.details.get("infinite_pairs", 0) == (FRAMES - 1 if math.isinf(row.value or 0) else 0)
    assert row.details["pairs"] == FRAMES - 1
    assert math.isfinite(wrong[1]["nothing moves", "psnr", "hole"].value or math.nan)


def saved(
    tmp_path: Path, save: Callable[[Path, Frames], object], *, frames: int = FRAMES
) -> tuple[Prediction | str, Frames, Rows]:
    """Images that ``save`` writes as predictions, read as those of a folder; what is stored of them, and the scores."""
    items = {"usual": ITEMS["usual"]}
    dataset, folder = write(tmp_path / "data", items), tmp_path / "saved" / "usual"
    folder.mkdir(parents=True)
    for index, frame in enumerate(pan()):
        save(folder / f"{index:05d}.png", frame)
    workspace = Workspace(tmp_path / "run")
    with LocalExecutor(workspace, workers=0) as executor:
        method = MethodSpec("mine", "saved_folder", {"folder": str(folder.parent)})
        made = predict(executor, dataset, root=tmp_path / "data", method=method, keep_full_frames=True)
        reasons = {row.subject_id: row.reason for row in made.rejected}
        methods = [Predicted("mine", made.records, reasons)]
        rows = score(executor, dataset, root=tmp_path / "data", methods=methods, protocol=PROTOCOLS[0], metrics=METRICS)
    scores = {(row.item_id, row.metric, row.region): row for row in rows["mine"].records}
    if reasons:
        return reasons["usual"], np.zeros(0, np.uint8), scores
    return made.records[0], video.read_frames(workspace.blobs.path(made.records[0].blob)), scores


def with_alpha(path: Path, frame: Frames) -> None:
    alpha = np.random.default_rng(0).integers(0, 256, (*frame.shape[:2], 1), dtype=np.uint8)
    Image.fromarray(np.concatenate([frame, alpha], axis=2)).save(path)


def sixteen_bits(path: Path, frame: Frames) -> None:
    cv2.imwrite(str(path), frame[..., ::-1].astype(np.uint16) * 257)


def sixteen_bits_of_grey(path: Path, frame: Frames) -> None:
    cv2.imwrite(str(path), frame[..., 1].astype(np.uint16) * 257)


def palette(path: Path, frame: Frames) -> None:
    Image.fromarray(frame).quantize(256).save(path)


def one_channel(path: Path, frame: Frames) -> None:
    Image.fromarray(frame[..., 1]).save(path)


@pytest.mark.parametrize("save", [with_alpha, sixteen_bits])
def test_what_says_the_same_in_other_words_scores_the_same(tmp_path: Path, save: Callable[[Path, Frames], object]) -> None:
    """Opacity is no colour, and 16 bits are brought to 8."""
    made, frames, rows = saved(tmp_path, save)
    assert isinstance(made, Prediction)
    np.testing.assert_array_equal(frames, pan())
    assert made.largest_change_outside == 0
    assert rows["usual", "mse", "frame"].value == 0


def test_grey_of_sixteen_bits_is_brought_to_eight(tmp_path: Path) -> None:
    made, frames, _ = saved(tmp_path, sixteen_bits_of_grey)
    assert isinstance(made, Prediction)
    np.testing.assert_array_equal(frames[square()], np.repeat(pan()[..., 1:2], 3, axis=-1)[square()])


@pytest.mark.parametrize(("save", "most"), [(palette, 60), (one_channel, 255)])
def test_what_lost_colours_scores_what_it_shows(tmp_path: Path, save: Callable[[Path, Frames], object], most: int) -> None:
    made, frames, rows = saved(tmp_path, save)
    assert isinstance(made, Prediction)
    expected = np.stack([np.asarray(Image.open(path).convert("RGB")) for path in sorted((tmp_path / "saved/usual").iterdir())])
    np.testing.assert_array_equal(frames, expected)
    error = ((expected[square()].astype(float) - pan()[square()]) / 255) ** 2
    assert rows["usual", "mse", "hole"].value == pytest.approx(error.reshape(FRAMES, -1).mean(), rel=1e-6)
    assert 0 < made.largest_change_outside <= most


def test_swapped_channels_show_outside_the_hole(tmp_path: Path) -> None:
    """Nothing in an image says which channel is red, but known pixels that changed give it away."""
    made, frames, rows = saved(tmp_path, lambda path, frame: Image.fromarray(frame[..., ::-1]).save(path))
    assert isinstance(made, Prediction)
    np.testing.assert_array_equal(frames, pan()[..., ::-1])
    assert made.largest_change_outside > 50
    assert rows["usual", "mse", "hole"].value > 0.01


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (np.s_[:, :-1], "is 71x60, the item is 72x60"),
        (np.s_[::2, ::2], "is 36x30, the item is 72x60"),
    ],
)
def test_another_size_is_a_reason_in_every_row(tmp_path: Path, part: tuple[slice, slice], words: str) -> None:
    reason, _, rows = saved(tmp_path, lambda path, frame: Image.fromarray(np.ascontiguousarray(frame[part])).save(path))
    assert words in str(reason)
    assert {row.reason for row in rows.values()} == {reason}
    assert {row.value for row in rows.values()} == {None}


def test_a_folder_with_missing_items_scores_those_it_has(tmp_path: Path) -> None:
    items = dict.fromkeys(("first", "second", "third"), ITEMS["usual"])
    dataset, folder = write(tmp_path / "data", items), tmp_path / "saved"
    folder.mkdir()
    video.write_lossless(folder / "second.mp4", pan(), fps=25.0)
    (folder / "third.mp4").write_bytes((folder / "second.mp4").read_bytes()[:200])
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        method = MethodSpec("mine", "saved_folder", {"folder": str(folder)})
        made = predict(executor, dataset, root=tmp_path / "data", method=method)
        reasons = {row.subject_id: row.reason for row in made.rejected}
        methods = [Predicted("mine", made.records, reasons)]
        rows = score(executor, dataset, root=tmp_path / "data", methods=methods, protocol=PROTOCOLS[0], metrics=["mse"])
    values = {row.item_id: (row.value, row.reason) for row in rows["mine"].records if row.region == "hole"}
    assert values["second"] == (0, None)
    assert values["first"][0] is None
    assert "no prediction for item 'first'" in str(values["first"][1])
    assert "prediction 'third.mp4' cannot be read" in str(values["third"][1])


def test_a_damaged_truth_or_hole_is_a_reason_too(tmp_path: Path) -> None:
    items = dict.fromkeys(("first", "second", "third"), ITEMS["usual"])
    dataset, workspace = write(tmp_path / "data", items), Workspace(tmp_path / "run")
    (tmp_path / "data" / "truth first.mp4").write_bytes(b"damaged")
    video.write_hole(tmp_path / "data" / "hole second.mp4", square()[:, :-2], fps=25.0)
    blob, _ = workspace.blobs.put(".mp4", partial(video.write_lossless, frames=pan(), fps=25.0))
    made = [Prediction("mine", "1", name, blob, True, 0) for name in items]
    with LocalExecutor(workspace, workers=0) as executor:
        methods = [Predicted("mine", made)]
        rows = score(executor, dataset, root=tmp_path / "data", methods=methods, protocol=PROTOCOLS[0], metrics=["mse"])
    values = {row.item_id: (row.value, row.reason) for row in rows["mine"].records if row.region == "hole"}
    assert values["third"] == (0, None)
    assert values["first"][0] is values["second"][0] is None
    assert "hole" in str(values["second"][1])
    assert values["first"][1]
