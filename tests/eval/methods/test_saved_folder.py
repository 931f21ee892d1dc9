from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.eval.methods.contract import inpaint, wandering_hole, world

from inpaintbench import video
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.methods.brought import SavedFolder
from inpaintbench.types import Frames
from inpaintbench.view import ItemView


def save_images(folder: Path, frames: Frames) -> None:
    folder.mkdir()
    for index, frame in enumerate(frames):
        video.write_image(folder / f"{index:05d}.png", frame)


def read(folder: Path) -> Frames:
    return inpaint(SavedFolder(folder=str(folder)), np.zeros_like(world()), wandering_hole())


def test_states_its_facts() -> None:
    leaf = METHODS.get("saved_folder")
    assert (leaf.name, leaf.divisor) == ("saved_folder", 1)
    assert leaf.version
    assert set(leaf.needs) <= {"input", "hole"}


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
def test_reads_a_video(tmp_path: Path, suffix: str) -> None:
    video.write_lossless(tmp_path / f"item{suffix}", world(), fps=25)
    np.testing.assert_array_equal(read(tmp_path), world())


def test_reads_images_by_their_numbers_and_nothing_else(tmp_path: Path) -> None:
    frames = np.concatenate([world(), world()[::-1]])
    (tmp_path / "item").mkdir()
    for index, frame in enumerate(frames):
        video.write_image(tmp_path / "item" / f"{index}.png", frame)
    (tmp_path / "item" / "notes.txt").write_text("not a frame")
    hole = np.concatenate([wandering_hole()] * 2)
    method = SavedFolder(folder=str(tmp_path))
    np.testing.assert_array_equal(inpaint(method, np.zeros_like(frames), hole), frames)
    (tmp_path / "item" / "preview.jpg").touch()
    with pytest.raises(NotMeasurable, match=r"^prediction 'item' cannot be read: the order .*: preview\.jpg has no number"):
        inpaint(method, np.zeros_like(frames), hole)


def test_a_folder_of_jpegs_is_read(tmp_path: Path) -> None:
    (tmp_path / "item").mkdir()
    for index, frame in enumerate(world()):
        Image.fromarray(frame).save(tmp_path / "item" / f"{index}.jpg", quality=100, subsampling=0)
    assert np.abs(read(tmp_path).astype(int) - world()).max() < 8
    assert "3.jpg" in SavedFolder(folder=str(tmp_path)).content("item")


def test_two_predictions_of_one_item_are_refused_by_name(tmp_path: Path) -> None:
    save_images(tmp_path / "item", 255 - world())
    video.write_lossless(tmp_path / "item.mp4", world(), fps=25)
    with pytest.raises(NotMeasurable, match=r"^item 'item' has 2 predictions in .*, 'item\.mp4' and 'item': keep one$"):
        read(tmp_path)


def test_reads_a_still_image(tmp_path: Path) -> None:
    save_images(tmp_path / "item", world()[:1])
    found = inpaint(SavedFolder(folder=str(tmp_path)), np.zeros_like(world()[:1]), wandering_hole()[:1])
    np.testing.assert_array_equal(found, world()[:1])


@pytest.mark.parametrize("suffix", [".jpg", ".jpeg", ".bmp", ".png", ".webp", ".tif", ".tiff"])
def test_reads_a_still_image_of_any_kind_as_pillow_does(tmp_path: Path, suffix: str) -> None:
    Image.fromarray(world()[0]).save(tmp_path / f"item{suffix}")
    found = inpaint(SavedFolder(folder=str(tmp_path)), np.zeros_like(world()[:1]), wandering_hole()[:1])
    np.testing.assert_array_equal(found[0], np.asarray(Image.open(tmp_path / f"item{suffix}").convert("RGB")))
    assert SavedFolder(folder=str(tmp_path)).content("item")


def test_a_grey_image_has_three_equal_channels(tmp_path: Path) -> None:
    Image.fromarray(world()[0, ..., 1]).save(tmp_path / "item.bmp")
    found = inpaint(SavedFolder(folder=str(tmp_path)), np.zeros_like(world()[:1]), wandering_hole()[:1])
    np.testing.assert_array_equal(found[0], np.repeat(world()[0, ..., 1:2], 3, axis=2))


def test_another_size_is_passed_on_where_whole_frames_are_judged(tmp_path: Path) -> None:
    video.write_image(tmp_path / "item.png", world()[0, :20, :30])
    view = ItemView.of_arrays(item_id="item", input=world()[:1])
    method = SavedFolder(folder=str(tmp_path))
    assert method.inpaint(view.declaring(method.name, (*method.needs, *method.uses))).shape == (1, 20, 30, 3)
    save_images(tmp_path / "clip", world()[:2])
    clip = ItemView.of_arrays(item_id="clip", input=world()[:1])
    with pytest.raises(NotMeasurable, match="prediction 'clip' is"):
        method.inpaint(clip.declaring(method.name, (*method.needs, *method.uses)))


def test_a_missing_item_is_a_reason(tmp_path: Path) -> None:
    video.write_lossless(tmp_path / "item2.mp4", world(), fps=25)
    with pytest.raises(NotMeasurable, match=f"no prediction for item 'item' in '{tmp_path}'"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (np.s_[:5], "is 5 frames, the item is 7 frames"),
        (np.s_[:1], "is 1 frame, the item is 7 frames"),
        (np.s_[:, :40], "is 64x40, the item is 64x48"),
        (np.s_[:, :, :32], "is 32x48, the item is 64x48"),
        (np.s_[:5, :40], "is 5 frames of 64x40, the item is 7 frames of 64x48"),
    ],
)
def test_another_shape_is_a_reason_that_names_both(tmp_path: Path, part: object, words: str) -> None:
    save_images(tmp_path / "item", world()[part])
    with pytest.raises(NotMeasurable, match=f"^prediction 'item' {words}$"):
        read(tmp_path)


@pytest.mark.parametrize("suffix", [".JPG", ".Jpeg", ".PNG", ".bMP"])
def test_a_suffix_may_be_in_capitals(tmp_path: Path, suffix: str) -> None:
    Image.new("L", (64, 48), 77).save(tmp_path / f"item{suffix}", format=suffix[1:].upper().replace("JPG", "JPEG"))
    method = SavedFolder(folder=str(tmp_path))
    assert method.content("item")
    assert (inpaint(method, np.zeros_like(world()[:1]), wandering_hole()[:1]) == 77).all()


@pytest.mark.parametrize("names", [("item.jpg", "item.PNG"), ("item.png", "item.PNG")])
def test_two_pictures_of_one_item_are_refused_in_capitals_too(tmp_path: Path, names: tuple[str, str]) -> None:
    for level, name in enumerate(names):
        Image.new("L", (64, 48), level).save(tmp_path / name)
    with pytest.raises(NotMeasurable, match="has 2 predictions in"):
        inpaint(SavedFolder(folder=str(tmp_path)), np.zeros_like(world()[:1]), wandering_hole()[:1])


def test_images_of_a_folder_may_be_in_capitals(tmp_path: Path) -> None:
    save_images(tmp_path / "item", world())
    for path in list((tmp_path / "item").iterdir()):
        path.rename(path.with_suffix(".PNG"))
    np.testing.assert_array_equal(read(tmp_path), world())
    assert "00002.PNG" in SavedFolder(folder=str(tmp_path)).content("item")


def test_unreadable_predictions_are_reasons(tmp_path: Path) -> None:
    video.write_lossless(tmp_path / "whole.mp4", world(), fps=25)
    (tmp_path / "item.mp4").write_bytes((tmp_path / "whole.mp4").read_bytes()[:300])
    with pytest.raises(NotMeasurable, match=r"^prediction 'item.mp4' cannot be read: (?!.*(item|cannot)).+"):
        read(tmp_path)


def test_a_reason_says_everything_once(tmp_path: Path) -> None:
    (tmp_path / "item.jpg").write_bytes(b"no picture")
    with pytest.raises(NotMeasurable) as refused:
        read(tmp_path)
    assert str(refused.value) == "prediction 'item.jpg' cannot be read: it is no image that Pillow knows"
    (tmp_path / "item.jpg").unlink()
    (tmp_path / "item").mkdir()
    with pytest.raises(NotMeasurable, match=r"^prediction 'item' cannot be read: it holds no images$"):
        read(tmp_path)


def test_images_of_several_sizes_and_none_at_all_are_reasons(tmp_path: Path) -> None:
    save_images(tmp_path / "item", world())
    video.write_image(tmp_path / "item" / "00003.png", world()[0, :20])
    with pytest.raises(NotMeasurable, match="images of 2 different sizes"):
        read(tmp_path)
    for path in (tmp_path / "item").iterdir():
        path.unlink()
    with pytest.raises(NotMeasurable, match="holds no images"):
        read(tmp_path)


def test_a_missing_folder_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no folder '.*nowhere'"):
        SavedFolder(folder=str(tmp_path / "nowhere"))


def test_content_follows_the_files(tmp_path: Path) -> None:
    method = SavedFolder(folder=str(tmp_path))
    assert method.content("item") == ""
    save_images(tmp_path / "item", world())
    images = method.content("item")
    assert images == method.content("item") != ""
    os.utime(tmp_path / "item" / "00002.png", ns=(1, 1))
    touched = method.content("item")
    video.write_lossless(tmp_path / "item.mp4", world(), fps=25)
    assert len({images, touched, method.content("item")}) == 3
