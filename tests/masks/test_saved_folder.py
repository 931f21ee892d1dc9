"""The polarity of a whole folder of masks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from inpaintbench import video
from inpaintbench.errors import Rejected
from inpaintbench.masks.saved_folder import SAMPLE, folder_polarity, sequence_files

SQUARE = np.zeros((20, 30), np.uint8)
SQUARE[6:12, 10:18] = 255
HALF = np.zeros((20, 30), np.uint8)
HALF[:, 15:] = 255
KINDS = {
    "white": SQUARE,
    "black": 255 - SQUARE,
    "unclear": HALF,
    "empty": np.zeros_like(SQUARE),
    "full": np.full_like(SQUARE, 255),
    "objects": SQUARE // 255,
}


def write(folder: Path, kinds: Sequence[str]) -> Path:
    for number, kind in enumerate(kinds):
        save(folder / f"{number:03d}_{kind}.png", KINDS[kind])
    return folder


def save(path: Path, values: npt.NDArray[np.uint8]) -> None:
    Image.fromarray(values).save(path)


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        (["white"], "white_is_hole"),
        (["black"], "black_is_hole"),
        (["black", "unclear"], "black_is_hole"),
        (["black", "unclear", "unclear"], "unclear"),
        (["white", *["full", "empty", "objects"] * 5], "white_is_hole"),
        (["unclear"], "unclear"),
        (["empty", "full"], "unclear"),
        (["objects"], "unclear"),
    ],
)
def test_at_least_half_of_the_masks_must_tell_it(tmp_path: Path, kinds: list[str], told: str) -> None:
    assert folder_polarity(sequence_files(write(tmp_path, kinds))) == told


@settings(max_examples=15, deadline=None)
@given(kinds=st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=9))
def test_a_folder_in_negative_tells_the_contrary(tmp_path_factory: pytest.TempPathFactory, kinds: list[str]) -> None:
    contrary = {"white": "black", "black": "white", "full": "empty", "empty": "full"}
    said = [saying(write(tmp_path_factory.mktemp("masks"), [turn.get(kind, kind) for kind in kinds])) for turn in ({}, contrary)]
    turned = {"white_is_hole": "black_is_hole", "black_is_hole": "white_is_hole"}
    assert said[1] == turned.get(said[0], said[0])
    assert (said[0] == "contradiction") == ({"white", "black"} <= set(kinds))


def saying(folder: Path) -> str:
    try:
        return folder_polarity(sequence_files(folder, layout="images"))
    except Rejected:
        return "contradiction"


def test_a_contradiction_names_both_sides(tmp_path: Path) -> None:
    folder = write(tmp_path, ["unclear", "black", "white", "white"])
    with pytest.raises(Rejected, match=r"masks '002_white' look .* white were the hole, but '001_black' .*: state `polarity`"):
        folder_polarity(sequence_files(folder))


def test_frames_of_a_sequence_count_together(tmp_path: Path) -> None:
    close = np.full((20, 30), 255, np.uint8)  # an object that fills the picture but for its middle
    close[8:10, 12:14] = 0
    for number, frame in enumerate([SQUARE] * 30 + [close]):
        save(tmp_path / f"{number:05d}.png", frame)
    assert folder_polarity(sequence_files(tmp_path)) == "white_is_hole"


def test_unreadable_files_do_not_count_and_changed_ones_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"no image")
    save(tmp_path / "b.png", SQUARE)
    assert folder_polarity(sequence_files(tmp_path)) == "white_is_hole"
    (tmp_path / "b.png").unlink()
    save(tmp_path / "b.png", np.pad(255 - SQUARE, 1, constant_values=255))
    assert folder_polarity(sequence_files(tmp_path)) == "black_is_hole"


def test_no_more_than_a_sample_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ["white"] * 120)
    read: list[Path] = []
    real = video.read_index_image

    def recorded(path: Path) -> npt.NDArray[np.uint8]:
        read.append(path)
        return real(path)

    monkeypatch.setattr(video, "read_index_image", recorded)
    assert folder_polarity(sequence_files(tmp_path, layout="images")) == "white_is_hole"
    assert len(read) == SAMPLE
    assert read == sorted(read)
    assert folder_polarity(sequence_files(tmp_path, layout="images")) == "white_is_hole"
    assert len(read) == SAMPLE


def test_the_threshold_says_what_is_white(tmp_path: Path) -> None:
    save(tmp_path / "a.png", np.where(SQUARE > 0, 100, 3).astype(np.uint8))
    files = sequence_files(tmp_path)
    assert folder_polarity(files) == "unclear"
    assert folder_polarity(files, threshold=50) == "white_is_hole"


@pytest.mark.real
def test_folders_of_other_projects(assets: Path) -> None:
    examples = assets / "photos/images-migan-places512/examples"
    assert folder_polarity(sequence_files(examples / "places2_512_object/masks")) == "white_is_hole"
    assert folder_polarity(sequence_files(examples / "places2_512_freeform/masks")) == "unclear"
    devil = assets / "results/scenery-devil-sample/devkit/sample-inpainting-inputs"
    assert folder_polarity(sequence_files(devil)) == "black_is_hole"
