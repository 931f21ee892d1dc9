"""`build devil` over masks of the builder's own, and with a splitter and a rate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from footage import HEIGHT, WIDTH, write_sources
from program import run_here

from inpaintbench import frozen, video
from inpaintbench.executors.base import Rejection
from inpaintbench.masks.measure import measure, measured_labels
from inpaintbench.workspace import Workspace

FRAMES = 46
SMALL = ("--size", f"{WIDTH}x{HEIGHT}", "--workers", "0")


def square(side: int, pixels_per_frame: int) -> np.ndarray:
    """A white square on black that moves down its column."""
    hole = np.zeros((FRAMES, HEIGHT, WIDTH), np.uint8)
    for place, frame in enumerate(hole):
        left = 4 + place * pixels_per_frame
        frame[8 : 8 + side, left : left + side] = 255
    return hole


# Name of a mask -> side of its square and pixels that it moves a frame.
MASKS = {"pan 3": (16, 0), "pan 1_mask1": (16, 2), "pan 1_mask2": (60, 0), "pan 2_mask": (32, 2), "of nobody": (9, 0)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("own")
    write_sources(made / "films", count=4, frames=FRAMES)
    (made / "films" / "pan 0.mp4").unlink()  # it stands still, which the rules for folders drop
    for name, (side, speed) in MASKS.items():
        (made / "masks" / name).mkdir(parents=True)
        for place, frame in enumerate(square(side, speed)):
            video.write_image(made / "masks" / name / f"{place:03d}.png", frame)
    return made


def test_own_masks_lie_on_the_films_of_their_name_in_slices_of_what_they_measure(folder: Path) -> None:
    (folder / "labels.csv").write_text("subject,name,value\npan 2.mp4,bg_scene_motion_level,high\n")
    build = ("build", "devil", "--sources", "films", "--saved-masks", "masks", "--saved", "polarity=white_is_hole", *SMALL)
    done = run_here(*build, "--labels", "labels.csv", "--out", "own", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert all("had no value on" in line for line in done.stderr.splitlines() if "warning" in line)  # of rules, none of masks
    root = folder / "own" / "exports" / "devil"
    dataset = frozen.load(root)
    rows = {row["item_id"]: row for row in dataset.items}
    sequences = {row["attributes"]["mask.sequence"]: row for row in rows.values()}
    assert set(sequences) == set(MASKS) - {"of nobody"}
    assert [row.name for row in Workspace(folder / "own").table("rejected", Rejection, step="saved_masks")] == ["of%20nobody"]
    expected: dict[str, set[str]] = {"bg_scene_motion-high": {"pan 2_mask"}}
    for name, row in sequences.items():
        hole = frozen.hole_of(root, row)
        assert np.array_equal(hole, square(*MASKS[name]) > 0)
        assert row["source_uri"] == f"{name.partition('_')[0].replace(' ', '%20')}.mp4"
        for label, level in measured_labels(measure(hole), width=WIDTH, height=HEIGHT).items():
            assert row["attributes"][f"{label}_level"] == level
            expected.setdefault(f"{label}-{level}", set()).add(name)
    assert {"size-low", "size-high", "displacement-low", "displacement-high", "pose-low"} < set(expected)
    found = {part.name: {rows[item]["attributes"]["mask.sequence"] for item in part.item_ids} for part in dataset.slices}
    assert {name: members for name, members in found.items() if not name.startswith("camera")} == expected
    assert dataset.left_out["pose-high"] == "no item has pose_level 'high'"

    # Which items a slice takes depends on them alone: less of them is a part of more.
    fewer = run_here(*build, "--labels", "labels.csv", "--out", "own", "--per-slice", "2", "--replace", cwd=folder)
    assert fewer.returncode == 0, fewer.stderr
    for part in frozen.load(root).slices:
        assert len(part.item_ids) == min(2, len(found[part.name]))
        assert {rows[item]["attributes"]["mask.sequence"] for item in part.item_ids} <= found[part.name]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--saved-masks", "masks", "--cut-bars"], "cut_bars: saved masks are of whole frames"),
        (["--saved-masks", "masks", "--fps", "10"], "fps: saved masks are one a frame of their film"),
        (
            ["--saved-masks", "masks", "--normalizer", "contain,width=64,height=64"],
            "normalizer: saved masks are brought to",
        ),
        (["--saved-masks", "nowhere"], "nowhere"),
        (["--saved", "polarity=white_is_hole"], "--saved says how to read masks; say where they lie, too"),
        (["--masks-by-turn"], "--masks-by-turn says how masks are shared out; say where they lie, too"),
        (["--splitter", "shot"], "unknown splitter 'shot', did you mean 'shots'?"),
        (["--normalizer", "cover,width=64,height=64", "--size", "64x64"], "--size is the size of the default normalizer"),
    ],
)
def test_what_does_not_go_together_is_one_sentence_before_there_is_a_folder(folder: Path, options: list[str], said: str) -> None:
    done = run_here("build", "devil", "--sources", "films", *options, "--out", "refused", cwd=folder)
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode in (1, 2), (folder / "refused").exists()) == (True, False)


def test_films_are_divided_and_brought_to_a_rate_as_asked(folder: Path) -> None:
    cut = ("--splitter", "seconds,length_seconds=1.6", "--fps", "12.5")
    done = run_here("build", "devil", "--sources", "films", *cut, "--out", "divided", "--per-slice", "1", *SMALL, cwd=folder)
    assert done.returncode == 0, done.stderr
    dataset = frozen.load(folder / "divided" / "exports" / "devil")
    assert {(row["fps"], row["frames"]) for row in dataset.items} == {(12.5, 20)}
    assert dataset.recipe["splitter"] == {"name": "seconds", "length_seconds": 1.6}


def test_bad_masks_are_refused_by_name_and_the_others_stay(folder: Path) -> None:
    hole, empty = square(16, 0), np.zeros((FRAMES, HEIGHT, WIDTH), np.uint8)
    partly = hole.copy()
    partly[:5] = 0
    made = {"pan 1": partly, "pan 2": hole[:9], "pan 3": hole[:, : HEIGHT // 2], "pan 1_mask1": empty, "pan 1_mask2": empty + 255}
    for name, frames in made.items():
        (folder / "bad" / name).mkdir(parents=True)
        for place, frame in enumerate(frames):
            video.write_image(folder / "bad" / name / f"{place:03d}.png", frame)
    build = ("build", "devil", "--sources", "films", "--saved-masks", "bad", "--saved", "polarity=white_is_hole", *SMALL)
    done = run_here(*build, "--out", "refused masks", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert len(frozen.load(folder / "refused masks" / "exports" / "devil").items) == 1
    rows = Workspace(folder / "refused masks").table("rejected", Rejection)
    told = [row.reason for row in rows if row.step in ("render", "saved_masks", "masks.notes")]
    for sentence in (
        "its mask is empty in 5 frames, which count in no score of a hole",
        f"masks 'pan 2' have 9 frames, the clip {FRAMES}: lengthen them",
        f"masks 'pan 3' are {WIDTH}x{HEIGHT // 2}, but should have the shape of its source",
        f"masks 'pan 1_mask1' are empty: no pixel of {FRAMES} frames is a hole",
        f"masks 'pan 1_mask2' are full: every pixel of {FRAMES} frames is a hole",
    ):
        assert sum(sentence in reason for reason in told) == 1, sentence
    assert len(told) == 5
