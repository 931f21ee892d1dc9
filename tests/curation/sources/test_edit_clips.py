"""Folders of frames and masks as EditBoard, DAVIS and TGVE keep them."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from inpaintbench import video
from inpaintbench.curation.sources.base import PARTS
from inpaintbench.curation.sources.edit_folders import EditClips
from inpaintbench.errors import InputError, Rejected

SHAPE = (24, 32)


def frames(folder: Path, *, count: int = 3, seed: int = 0, shape: tuple[int, int] = SHAPE, names: str = "{:05d}.png") -> Path:
    folder.mkdir(parents=True)
    for place, picture in enumerate(np.random.default_rng(seed).integers(0, 256, (count, *shape, 3), np.uint8)):
        video.write_image(folder / names.format(place), picture)
    return folder


def masks(folder: Path, *, count: int = 3, values: tuple[int, ...] = (0, 1, 2), shape: tuple[int, int] = SHAPE) -> Path:
    """Numbers of objects, in bands from the top to the bottom."""
    folder.mkdir(parents=True)
    bands = np.array(values, np.uint8)[np.arange(shape[0]) * len(values) // shape[0]]
    for place in range(count):
        image = Image.fromarray(np.repeat(bands[:, None], shape[1], axis=1))
        image.putpalette([*range(0, 250, 50), *range(7)])
        image.save(folder / f"{place:05d}.png")
    return folder


def source(folder: Path, rows: list[str], **constants: Any) -> EditClips:
    path = folder.parent / f"{folder.name}.csv"
    path.write_text("\n".join(["clip,task,target_prompt,object", *rows]) + "\n")
    return EditClips(folder=str(folder), prompts=str(path), **{"fewest_prompts": 1, **constants})


def faults(leaf: EditClips) -> str:
    with pytest.raises(InputError) as caught:
        leaf.checked()
    return str(caught.value)


def test_davis_gives_frames_and_numbers_of_objects_without_loss(tmp_path: Path) -> None:
    root = tmp_path / "davis"
    frames(root / "JPEGImages" / "480p" / "bear", seed=3)
    masks(root / "Annotations" / "480p" / "bear")
    leaf = source(root, ["bear,SOSA,a white bear,2", "bear,SE,a bear in oil,"], fps=12.0, licence="CC-BY-4.0")
    (piece,) = leaf.footage()
    assert (piece.name, piece.uri, piece.licence) == ("bear", "bear", "CC-BY-4.0")
    assert [(edit["task"], edit["object"]) for edit in piece.data["edits"]] == [("SOSA", 2), ("SE", None)]
    film = leaf.obtain(piece.payload, str(tmp_path))
    np.testing.assert_array_equal(video.read_frames(film), np.random.default_rng(3).integers(0, 256, (3, *SHAPE, 3), np.uint8))
    assert video.probe(film).fps == 12
    levels = video.read_levels(tmp_path / PARTS / "object_mask.mp4")
    np.testing.assert_array_equal(np.unique(levels), [0, 1, 2])
    assert levels.shape == (3, *SHAPE)
    assert (levels[:, -1] == 2).all()


def test_a_video_of_tgve_stays_where_it_lies(tmp_path: Path) -> None:
    folder = tmp_path / "tgve" / "videvo_480p" / "480p_videos"
    folder.mkdir(parents=True)
    video.write_lossless(folder / "a ship.mp4", np.zeros((4, 32, 32, 3), np.uint8), fps=8)
    leaf = source(tmp_path / "tgve", ["a ship,SE,a ship in oil,", "a ship,MOA,two planes,"])
    (piece,) = leaf.footage()
    assert leaf.obtain(piece.payload, str(tmp_path)) == str(folder / "a ship.mp4")
    assert not (tmp_path / PARTS).exists()
    assert "'a ship' has no masks" in faults(source(tmp_path / "tgve", ["a ship,SOSA,a red ship,"]))


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    for name in ("good", "none", "short", "empty", "full", "size", "still", "number"):
        frames(root / name, count=1 if name == "still" else 3)
    masks(root / "good_mask")
    masks(root / "short_mask", count=2)
    masks(root / "empty_mask", values=(0,))
    masks(root / "full_mask", values=(1, 2))
    masks(root / "size_mask", shape=(12, 16))
    masks(root / "number_mask")
    (root / "again").symlink_to(root / "good")
    for other in ("a", "b"):
        frames(root / other / "twin")
    names = ["good", "again/", "none", "short", "empty", "full", "size", "still", "twin", "nowhere"]
    text = faults(source(root, [*(f"{name},SOSA,x," for name in names), "number,SOSA,x,7", "number,SOS,x,"]))
    for sentence in (
        "11 things are wrong: ",
        "unknown task 'SOS', did you mean 'SOSA'?",
        "clip 'again' is the same folder as clip 'good': call it by one name",
        "clip 'none' has no masks, which its task needs; put them into 'none_mask' beside it",
        "clip 'short' has 3 frames but 2 masks",
        "clip 'empty' has empty masks",
        "clip 'full' has full masks",
        "clip 'size' has masks of 16x12, its frames are 32x24",
        "clip 'still' has 1 frame, at least 2 are needed",
        "clip 'twin' may be a/twin and b/twin: name the folder too",
        "has no folder of frames and no video of that name",
        "clip 'number': its masks have no object 7, they hold 0, 1, 2",
    ):
        assert sentence in text
    assert [clip.name for clip in source(root, ["a/twin,SE,x,", "none,SE,x,"]).checked()[1]] == ["a/twin", "none"]


def test_files_are_found_by_the_names_that_tables_of_others_give_them(tmp_path: Path) -> None:
    root = tmp_path / "videos"
    (root / "short").mkdir(parents=True)
    for path in (root / "a.mp4", root / "short" / "b.mp4"):
        video.write_lossless(path, np.zeros((3, *SHAPE, 3), np.uint8), fps=8)
    names = ["a", "videos/short/b.mp4"]
    assert [clip.path.name for clip in source(root, [f"{name},SE,x," for name in names]).checked()[1]] == ["a.mp4", "b.mp4"]
    assert source(root, ["b.mp4,SE,x,"]).checked()[1][0].path == root / "short" / "b.mp4"
    assert "no folder of frames and no video" in faults(source(root, ["other/a.mp4,SE,x,"]))


def test_edits_of_ones_own_tasks_have_a_mask_where_they_name_an_object(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "bear"), masks(root / "bear_mask"), frames(root / "bus")
    assert "its masks have no object 7" in faults(source(root, ["bear,swap,x,7", "bus,swap,x,"]))
    with_mask, without = source(root, ["bear,swap,x,2", "bus,swap,x,"]).footage()
    assert (len(with_mask.payload["masks"]), len(without.payload["masks"])) == (3, 0)
    assert "'bus' has no masks" in faults(source(root, ["bus,swap,x,1"]))


def test_frames_of_videos_are_counted_before_any_work(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    root.mkdir()
    for name, count in (("fits", 4), ("few", 6), ("many", 3), ("one", 1)):
        video.write_lossless(root / f"{name}.mkv", np.zeros((count, *SHAPE, 3), np.uint8), fps=8)
        masks(root / f"{name}_mask", count=4)
    text = faults(source(root, [f"{name},SOSA,x," for name in ("fits", "few", "many", "one")]))
    for sentence in (
        "3 things are wrong: ",
        "clip 'few' has 6 frames but 4 masks",
        "clip 'many' has 3 frames but 4 masks",
        "clip 'one' has 1 frame, at least 2 are needed",
    ):
        assert sentence in text
    assert "clip 'one' has 1 frame" in faults(source(root, ["one,SE,x,"]))
    assert [clip.name for clip in source(root, ["few,SE,x,"]).checked()[1]] == ["few"]


def test_frames_are_taken_in_numeric_order_and_it_is_told_who_would_not(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "long", count=12, names="frame_{}.png")
    frames(root / "padded", count=12, seed=1)
    leaf = source(root, ["long,SE,x,", "padded,SE,x,"])
    long, _ = leaf.footage()
    expected = np.random.default_rng(0).integers(0, 256, (12, *SHAPE, 3), np.uint8)
    np.testing.assert_array_equal(video.read_frames(leaf.obtain(long.payload, str(tmp_path))), expected)
    ((name, note),) = leaf.notes()
    assert name == "long"
    assert note.endswith("take frame_10.png for frame_2.png")


def test_folders_that_are_read_only_serve_and_stay_as_they_are(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "bear"), masks(root / "bear_mask")
    leaf = source(root, ["bear,SOSA,a white bear,"])
    before = {path: path.stat().st_mtime_ns for path in sorted(root.rglob("*"))}
    for path in (root, *before):
        path.chmod(stat.S_IREAD | (stat.S_IEXEC if path.is_dir() else 0))
    (tmp_path / "scratch").mkdir()
    (piece,) = leaf.footage()
    assert Path(leaf.obtain(piece.payload, str(tmp_path / "scratch"))).parent == tmp_path / "scratch"
    for path in (root, *before):
        path.chmod(0o755)
    assert {path: path.stat().st_mtime_ns for path in sorted(root.rglob("*"))} == before


def test_masks_of_other_frames_are_other_footage(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "bear"), masks(tmp_path / "own" / "bear")
    leaf = source(root, ["bear,SOSA,a white bear,"], masks=str(tmp_path / "own"))
    (piece,) = leaf.footage()
    shutil.rmtree(tmp_path / "own")
    masks(tmp_path / "own" / "bear", values=(0, 3))
    assert next(leaf.footage()).content != piece.content
    video.write_image(root / "bear" / "00001.png", np.zeros((8, 8, 3), np.uint8))
    with pytest.raises(Rejected, match="is 8x8, the frames before it are 32x24"):
        leaf.obtain(piece.payload, str(tmp_path))


def test_a_black_mask_is_a_frame_without_the_object_and_soft_colours_are_grey(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "bear")
    (root / "bear_mask").mkdir()
    pictures = np.zeros((3, *SHAPE, 3), np.uint8)
    pictures[1, 4:9, 5:12], pictures[2, 4:9, 5:12] = 255, (200, 90, 10)
    for place, picture in enumerate(pictures):
        video.write_image(root / "bear_mask" / f"{place}.png", picture)
    leaf = source(root, ["bear,SOSA,a white bear,"])
    (piece,) = leaf.footage()
    leaf.obtain(piece.payload, str(tmp_path))
    levels = video.read_levels(tmp_path / PARTS / "object_mask.mp4")
    np.testing.assert_array_equal(levels > 0, pictures.max(axis=3) > 0)
    assert levels[2].max() == round(0.299 * 200 + 0.587 * 90 + 0.114 * 10)


def test_numbers_and_folders_that_cannot_be_used(tmp_path: Path) -> None:
    frames(tmp_path / "clips" / "bear")
    with pytest.raises(InputError, match="fps is 0"):
        source(tmp_path / "clips", ["bear,SE,x,"], fps=0)
    with pytest.raises(InputError, match="fewest_prompts is 0"):
        source(tmp_path / "clips", ["bear,SE,x,"], fewest_prompts=0)
    assert "does not exist or is not a folder" in faults(source(tmp_path / "nowhere", ["bear,SE,x,"]))
    assert "folder of masks" in faults(source(tmp_path / "clips", ["bear,SE,x,"], masks=str(tmp_path / "nowhere")))


def test_frames_and_masks_without_a_clear_order_or_of_other_frames_are_told(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    for name in ("gap", "double", "sparse", "masked", "moved", "later"):
        frames(root / name)
        masks(root / f"{name}_mask")
    (root / "gap" / "00001.png").rename(root / "gap" / "00007.png")
    shutil.copy(root / "double" / "00001.png", root / "double" / "1.png")
    (root / "masked_mask" / "00001.png").rename(root / "masked_mask" / "preview.png")
    for place in (2, 1, 0):
        (root / "later_mask" / f"{place:05d}.png").rename(root / "later_mask" / f"{place + 2:05d}.png")
    for place in (2, 1):  # every fifth frame, as YouTube-VOS has it
        (root / "moved_mask" / f"{place:05d}.png").rename(root / "moved_mask" / f"{5 * place:05d}.png")
        for folder in ("sparse", "sparse_mask"):
            (root / folder / f"{place:05d}.png").rename(root / folder / f"{5 * place:05d}.png")
    text = faults(source(root, [f"{name},SOSA,x," for name in ("gap", "double", "sparse", "masked", "moved", "later")]))
    for sentence in (
        "5 things are wrong: ",
        "clip 'gap': gap: the order of its images is not clear: 00007.png follows 00002.png",
        "clip 'double': double: the order of its images is not clear: 00001.png and 1.png have the same number",
        "clip 'masked': masked_mask: the order of its images is not clear: preview.png has no number",
        "clip 'moved' has frames 00000.png, 00001.png ... but masks 00000.png, 00005.png ...",
        "clip 'later' has frames 00000.png, 00001.png ... but masks 00002.png, 00003.png ...",
    ):
        assert sentence in text
    assert len(source(root, ["sparse,SOSA,x,"]).checked()[1][0].masks) == 3


def test_masks_in_two_places_are_told(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    frames(root / "bear"), masks(tmp_path / "own" / "bear"), masks(tmp_path / "own" / "bear_mask")
    assert "clip 'bear': masks lie in" in faults(source(root, ["bear,SOSA,x,"], masks=str(tmp_path / "own")))
