"""Mismatches planted in trees and options of real definitions: `bench` marks every column, with the reason and no other."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import av
import cv2
import numpy as np
import pytest
import trees_made
from program import run_here
from trees_made import HEIGHT, WIDTH, films, make, write

from inpaintbench import video
from inpaintbench.pages.tables import escaped
from inpaintbench.wings.named import commands
from inpaintbench.wings.named.definition import Named, named

pytestmark = pytest.mark.long
CLIPS = 2


@pytest.fixture(autouse=True)
def of_few_clips(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The definitions as they are, but for numbers of clips, edits and frames, and sizes: nobody makes fifty here, and each
    plant is to be alone."""

    def few(name: str) -> Named:
        of = named(name)
        said = of.expected
        numbers = {
            "clips": CLIPS, "edits": None, "all_frames": said.all_frames and CLIPS * trees_made.FRAMES,
            "size": said.size and f"{WIDTH}x{HEIGHT}",
        }  # fmt: skip
        return of.model_copy(update={"expected": said.model_copy(update=numbers)})

    monkeypatch.setattr(commands, "named", few)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))


class Drawn(NamedTuple):
    """What `bench` says: heads of its columns, labels of rows with a best value, the foot, and what the console warns of."""

    heads: list[str]
    best: list[str]
    foot: str
    warned: list[str]


def bench(name: str, folder: Path, *more: str, tree: int = 1) -> Drawn:
    """A run on the data in ``folder / "data"``, in a new workspace."""
    method = "edit_recolour" if named(name).recipe == "editing" else "telea"
    words = ("--method", method, "--out", "t.tex", "--no-report", "--workers", "0", "--tree", str(tree))
    shutil.rmtree(folder / "bench", ignore_errors=True)
    done = run_here("bench", name, "--data", "data", *words, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    text = (folder / "t.tex").read_text()
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    told = "warning: no column compares with print: "
    warned = [line.removeprefix(told) for line in done.stderr.splitlines() if line.startswith(told)]
    best = [re.split(r" (&|\{)", row)[0] for row in rows if r"\textbf" in row]
    return Drawn(rows[0].removesuffix(r" \\").split(" & ")[1:], best, rows[-1], warned)


def check(drawn: Drawn, *reasons: str) -> None:
    """Every column is marked with these reasons and no other, in the table and on the console, and nobody is best."""
    assert drawn.warned == list(reasons)
    assert rf"$\dagger$ No column compares with print: {'; '.join(map(escaped, reasons))}." in drawn.foot
    assert all(map(marked, drawn.heads))
    assert drawn.best == []


def marked(head: str) -> bool:
    return head.endswith(r"$\dagger$")


@pytest.mark.parametrize("tree", [1, 2])
def test_a_run_as_the_paper_has_it_is_unmarked_where_the_definition_permits(tree: int, tmp_path: Path) -> None:
    of = named("davis-432")
    make(tmp_path / "data", of.tree[tree - 1], clips=CLIPS)
    drawn = bench("davis-432", tmp_path, tree=tree)
    assert drawn.warned == []
    assert "No column" not in drawn.foot
    here = {column.label for column in of.column if column.same and column.metric != "vfid"}
    assert here >= {"PSNR", "SSIM"}
    assert {re.split(r" \$", head)[0] for head in drawn.heads if not marked(head)} == here
    assert drawn.best == ["ProPainter"]


def scaled(film: np.ndarray) -> np.ndarray:
    return np.stack([cv2.resize(frame, (432, 240), interpolation=cv2.INTER_LINEAR) for frame in film])


OF_DAVIS = {
    "size": (("size=216x120",), "measured at 216x120 in the place of 432x240"),
    "fit": (("fit=cover",), "frames fitted by cover in the place of stretch"),
    "resampling": (("resample=pillow-bicubic",), "frames scaled by pillow-bicubic in the place of opencv-linear"),
    "dilation": (("dilations=0",), "masks grown 0 times in the place of 4"),
    "frames": (("frames=3",), "the first 3 frames in the place of all"),
}


@pytest.mark.parametrize("plant", OF_DAVIS)
def test_options_that_are_not_the_papers_mark_every_column(plant: str, tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[1], clips=CLIPS)
    options, reason = OF_DAVIS[plant]
    check(bench("davis-432", tmp_path, *(word for option in options for word in ("--set", option)), tree=2), reason)


def limited(data: Path) -> None:
    """Frames kept as films, whose colours are those of television."""
    for number in range(CLIPS):
        folder = data / "JPEGImages_432_240" / f"clip_{number}"
        shutil.rmtree(folder)
        with av.open(str(folder.with_suffix(".mp4")), "w") as made:
            stream = made.add_stream("libx264", rate=24)
            stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
            frames = [av.VideoFrame.from_ndarray(frame, "rgb24") for frame in films(number)["inputs"]]
            made.mux([packet for frame in [*frames, None] for packet in stream.encode(frame)])


def turned(data: Path) -> None:
    """Masks whose black is the hole."""
    for path in (data / "test_masks").rglob("*.png"):
        video.write_image(path, 255 - video.read_image(path))


def without_one(data: Path) -> None:
    for side in ("JPEGImages_432_240", "test_masks"):
        shutil.rmtree(data / side / "clip_1")


def with_an_empty_mask(data: Path) -> None:
    for path in (data / "test_masks" / "clip_1").iterdir():
        video.write_image(path, np.zeros((HEIGHT, WIDTH), np.uint8))


def with_one_more(data: Path) -> None:
    for side, kind in (("JPEGImages_432_240", "inputs"), ("test_masks", "masks")):
        write(data / side / "clip_2" / "0.png", films(2)[kind])


def without_a_frame(data: Path) -> None:
    for side in ("JPEGImages_432_240", "test_masks"):
        max((data / side / "clip_1").iterdir()).unlink()


IN_THE_TREE: dict[str, tuple[Callable[[Path], None], str]] = {
    "range of colours": (limited, "colours of limited range in the place of full"),
    "masks turned round": (turned, "masks cover "),
    "a clip dropped": (without_one, "1 clip in the place of 2"),
    "a frame dropped": (without_a_frame, "11 frames of all clips in the place of 12"),
    "a clip refused": (with_an_empty_mask, "1 clip in the place of 2"),
    "another release with more clips": (with_one_more, "3 clips in the place of 2"),
}


@pytest.mark.parametrize("plant", IN_THE_TREE)
def test_data_that_are_not_the_papers_mark_every_column(plant: str, tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[1], clips=CLIPS)
    change, reason = IN_THE_TREE[plant]
    change(tmp_path / "data")
    drawn = bench("davis-432", tmp_path, tree=2)
    assert drawn.warned
    assert drawn.warned[0].startswith(reason)
    check(drawn, *drawn.warned[:1])


def test_masks_that_are_read_otherwise_mark_every_column(tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[1], clips=CLIPS)
    turned(tmp_path / "data")
    drawn = bench("davis-432", tmp_path, "--set", "mask_values=black", tree=2)
    check(drawn, "masks read as black in the place of white")


def test_a_part_alone_and_results_that_lack_an_item_are_never_ranked(tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[1], clips=CLIPS)
    check(bench("davis-432", tmp_path, "--slice", "mask-stationary", tree=2), "only items of mask-stationary")
    write(tmp_path / "results" / "clip_0" / "0.png", scaled(films(0)["truths"]))
    drawn = bench("davis-432", tmp_path, "--saved", "half=results", tree=2)
    assert drawn.best == ["ProPainter"], "what is known of half of the items is no mean over all of them"
    assert "half & 99" not in (tmp_path / "t.tex").read_text()
    assert "lacks 1 item" in (tmp_path / "t.tex").read_text()


def test_a_network_that_is_another_leaves_its_column_empty_and_marked(tmp_path: Path) -> None:
    make(tmp_path / "data", named("davis-432").tree[1], clips=CLIPS)
    (tmp_path / "rgb_imagenet.pt").write_bytes(b"other parameters")
    drawn = bench("davis-432", tmp_path, tree=2)
    assert [head for head in drawn.heads if head.startswith("VFID") and marked(head)]
    assert "VFID: not measured" in drawn.foot


@pytest.mark.parametrize("frames", [81, 41])
def test_clips_of_every_second_frame_are_told(frames: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees_made, "FRAMES", frames)
    make(tmp_path / "data", named("prove-m").tree[0], clips=CLIPS)
    drawn = bench("prove-m", tmp_path)
    assert drawn.warned == ([] if frames == 81 else ["clips of 41 frames in the place of 81"])
    assert drawn.best == []


@pytest.mark.parametrize("name", ["rose", "vor", "vpbench", "five"])
def test_of_other_definitions_too(name: str, tmp_path: Path) -> None:
    make(tmp_path / "data", named(name).tree[0], clips=CLIPS + 1)
    drawn = bench(name, tmp_path, *(("--set", "size=64x48") if named(name).options.size else ()))
    assert all(map(marked, drawn.heads))
    assert drawn.best == []
    stated = named(name).expected.clips
    assert any("3 clips in the place of 2" in reason for reason in drawn.warned) or stated is None
