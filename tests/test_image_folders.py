"""The one rule for folders of numbered images."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench import video
from inpaintbench.errors import MediaError


def fill(folder: Path, names: Iterable[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    "names",
    [
        [f"{number}.png" for number in range(12)],
        [f"{number:05d}.jpg" for number in range(71, 79)],
        [f"frame_{number}.webp" for number in range(1, 11)],
        [f"clip_2_{number:04d}_480p.jpeg" for number in range(98, 102)],
        ["9.TIF", "10.tiff", "11.bmp"],
        ["the only one.png"],
        ["caf\u00e9_1.png", "cafe\u0301_2.png"],
    ],
    ids=["unpadded", "from 71", "from 1", "other numbers beside", "several endings", "alone", "accents"],
)
def test_frames_are_ordered_by_their_number(tmp_path: Path, names: list[str]) -> None:
    folder = fill(tmp_path / "bear", [*reversed(names), ".DS_Store", "._0.png", "Thumbs.db", "info.json"])
    (folder / "5.png.parts").mkdir()
    assert [path.name for path in video.numbered_images(folder)] == names


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (
            [f"{number}.png" for number in range(12) if number != 5],
            r"6\.png follows 4\.png, but every number counts: .*\(\.\.\. 1\.png, 2\.png, 3\.png, 4\.png, 6\.png, .* \.\.\.\)$",
        ),
        (
            ["0.png", "1.png", "01.png", "2.png"],
            r"01\.png and 1\.png have the same number, .* \(0\.png, 01\.png, 1\.png, 2\.png\)$",
        ),
        (["0.png", "1.png", "1.jpg"], r"1\.jpg and 1\.png have the same number"),
        (["0.png", "1.PNG", "1.png"], r"1\.PNG and 1\.png have the same number"),
        (["0.png", "1.png", "preview.jpg"], r"preview\.jpg has no number: take it out"),
        (["left.png", "right.png"], r"left\.png has no number"),
        (["a_1.png", "a_2.png", "b_3.png"], r"b_3\.png is not named like a_1\.png: keep one series"),
        (["caf\u00e9_1.png", "cafe\u0301_1.png"], ".* have the same number"),
        (["s1_1.png", "s2_2.png"], r"more than one number differs between s1_1\.png and s2_2\.png"),
        (["0.png", "5.png", "10.png"], r"5\.png follows 0\.png"),
    ],
)
def test_what_gives_no_clear_order_is_refused_and_the_order_shown(tmp_path: Path, names: list[str], reason: str) -> None:
    folder = fill(tmp_path / "bear", names)
    with pytest.raises(MediaError, match=f"^bear: the order of its images is not clear: {reason}"):
        video.numbered_images(folder)


def test_even_steps_are_no_gaps_where_the_layout_has_them(tmp_path: Path) -> None:
    names = [f"{number:05d}.png" for number in range(15, 45, 5)]
    folder = fill(tmp_path / "bear", names)
    found = video.numbered_images(folder, even_steps=True)
    assert ([path.name for path in found], video.step_of(found)) == (names, 5)
    (folder / "00025.png").unlink()
    with pytest.raises(MediaError, match=r"00030\.png follows 00020\.png, but numbers go in steps of 5"):
        video.numbered_images(folder, even_steps=True)


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [
        (range(12), range(12), True), (range(12), range(1, 13), True), (range(30, 42), range(30, 36), True),
        (range(12), range(0, 60, 5), False), (range(12), range(7, 19), False), (range(0, 60, 5), range(0, 60, 5), True),
        (range(2), range(7, 8), True), (range(0), range(3), True), (range(0, 60, 5), range(1, 61, 5), True),
    ],
)  # fmt: skip
def test_series_of_images_belong_together_by_their_numbers(first: range, second: range, alike: bool) -> None:
    one, other = ([Path(f"clip_2_{number:03d}.png") for number in numbers] for numbers in (first, second))
    assert video.count_alike(one, other) == video.count_alike(other, one) == alike


@pytest.mark.parametrize(
    ("numbers", "frames", "theirs"),
    [
        (range(4), 30, True), (range(1, 5), 30, True), (range(2, 6), 30, False), (range(2, 32), 30, True),
        (range(0, 20, 5), 30, False), (range(0, 20, 5), 4, True), (range(40), 30, True), (range(9, 10), 30, True),
    ],
)  # fmt: skip
def test_images_are_of_the_first_frames_of_a_film_or_of_all(numbers: range, frames: int, theirs: bool) -> None:
    assert video.begin_a_film([Path(f"{number}.png") for number in numbers], frames=frames) == theirs


@settings(max_examples=60, deadline=None)
@given(
    first=st.integers(0, 10**6), count=st.integers(2, 40), step=st.integers(1, 9), width=st.integers(1, 7),
    before=st.sampled_from(["", "frame_", "v2_", "s01e02-"]), after=st.sampled_from(["", "_x4", "@2x"]), data=st.data(),
)  # fmt: skip
def test_any_order_of_names_gives_the_order_of_numbers_or_a_refusal(
    first: int, count: int, step: int, width: int, before: str, after: str, data: st.DataObject
) -> None:
    ordered = [Path(f"{before}{first + step * place:0{width}d}{after}.png") for place in range(count)]
    given = data.draw(st.permutations(ordered))
    assert video.by_number(given, name="bear", even_steps=True) == tuple(ordered)
    dropped = data.draw(st.integers(1, count - 2)) if count > 3 else None
    if dropped is not None:
        with pytest.raises(MediaError, match="not clear"):
            video.by_number([path for path in given if path != ordered[dropped]], name="bear", even_steps=True)
    with pytest.raises(MediaError, match="have the same number"):
        video.by_number([*given, given[0].with_suffix(".jpg")], name="bear", even_steps=True)


def test_a_broken_link_holds_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "bear"
    folder.mkdir()
    for place in range(3):
        video.write_image(folder / f"{place}.png", np.full((4, 4), place, np.uint8))
    os.symlink("gone.png", folder / "3.png")
    with pytest.raises(MediaError, match=r"3\.png cannot be opened"):
        video.read_image_folder(folder)


def test_frames_are_read_in_order_from_any_kind_of_image(tmp_path: Path) -> None:
    from PIL import Image

    folder = tmp_path / "bear"
    folder.mkdir()
    for place in range(11):
        Image.new("L", (4, 4), 20 * place).save(folder / f"{place}.{('bmp', 'webp', 'tif')[place % 3]}", lossless=True)
    assert video.read_image_folder(folder)[:, 0, 0, 0].tolist() == [20 * place for place in range(11)]


@pytest.mark.long
def test_a_folder_of_a_hundred_thousand_names_is_ordered() -> None:
    names = [Path(f"frame_{number}.png") for number in range(100_000)]
    assert video.by_number(names[::-1], name="bear") == tuple(names)
