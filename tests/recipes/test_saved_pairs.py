"""Saved masks find the films that they were made for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from built import check_published
from pictures_recipe import PicturesRecipe
from pydantic import BaseModel

from inpaintbench import video
from inpaintbench.cli.build.running import SAVED_DEFAULTS, TURN_DEFAULTS
from inpaintbench.errors import InputError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.recipes.saved_pairs import by_name, by_turn
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Clip, Dataset
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("pictures_are_known")

FRAMES, HEIGHT, WIDTH, SIDE = 8, 48, 96, 32
FILMS = {"dogs_jump": 30, "bear": 52, "cow": 40}
"""Name -> column in which its white square begins to move, one pixel a frame."""


def film(column: int, *, ground: int = 90) -> np.ndarray:
    frames = np.full((FRAMES, HEIGHT, WIDTH, 3), ground, np.uint8)
    for place, frame in enumerate(frames):
        frame[12:28, column + place : column + place + 12] = 255
    return frames


def write_films(folder: Path) -> None:
    (folder / "films").mkdir(parents=True)
    for name, column in FILMS.items():
        video.write_lossless(folder / "films" / f"{name}.mkv", film(column), fps=8.0)


def write_masks(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / "masks" / name).mkdir(parents=True)
        for place, frame in enumerate(film(FILMS[name], ground=0)):
            video.write_image(folder / "masks" / name / f"{place}.png", frame)
    return folder / "masks"


def built(
    folder: Path,
    masks: Path,
    *,
    frames: int = FRAMES,
    by_turn: bool = False,
    kind: type[BaseModel] = PicturesRecipe,
    **constants_of_recipe: int,
) -> tuple[Workspace, Path, Dataset]:
    workspace = Workspace(folder / f"workspace{frames}{by_turn}")
    constants = {**(TURN_DEFAULTS if by_turn else SAVED_DEFAULTS), "polarity": "white_is_hole"}
    recipe = kind(
        size=SIDE, preset="medium-256", clip_frames=frames, saved_masks=constants, masks_by_turn=by_turn,
        **{"patch_pixels": 8, "second_masks": 0} | constants_of_recipe,
    )  # fmt: skip
    with LocalExecutor(workspace, workers=0) as executor:
        media = "image" if frames == 1 else "video"
        source = SourceSpec("folder", {"folder": str(folder / "films"), "media": media})
        made, dataset = build(recipe, [source], executor, workspace, masks=masks)
    return workspace, made, dataset


def misses(folder: Path, row: Mapping[str, Any]) -> float:
    """The larger share of two: pixels of the square that the hole leaves, and others that it hides; soft borders do not count."""
    truth, hole = video.read_frames(folder / str(row["truth_file_name"])), video.read_hole(folder / str(row["hole_file_name"]))
    inside, outside = (truth > 240).all(axis=3), (truth < 100).all(axis=3)
    assert inside.any()
    return float(max((~hole & inside).sum() / inside.sum(), (hole & outside).sum() / outside.sum()))


@pytest.mark.long
@pytest.mark.parametrize("frames", [FRAMES, 4])
def test_masks_land_on_the_film_of_their_name_where_its_object_is(tmp_path: Path, frames: int) -> None:
    write_films(tmp_path)
    _, folder, dataset = built(tmp_path, write_masks(tmp_path, *FILMS), frames=frames)
    check_published(folder)
    assert len(dataset.items) == 3 * FRAMES // frames
    for row in dataset.items:
        assert row["source_uri"] == f"{row['attributes']['mask.sequence']}.mkv"
        assert misses(folder, row) == 0


def test_by_turn_only_where_it_is_asked_for(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, "dogs_jump")
    with pytest.raises(InputError) as refused:
        built(tmp_path, masks)
    assert str(refused.value).startswith("2 of 3 sources have no masks of their name ('")
    assert "all masks have a source: name them alike, or take masks in turn with --masks-by-turn" in str(refused.value)
    _, _, dataset = built(tmp_path, masks, by_turn=True)
    assert [row["attributes"]["mask.sequence"] for row in dataset.items] == ["dogs_jump"] * 3


def test_masks_without_a_film_are_refused_by_name(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, *FILMS)
    (tmp_path / "films" / "cow.mkv").unlink()
    workspace, _, dataset = built(tmp_path, masks)
    assert len(dataset.items) == 2
    told = workspace.table("rejected", Rejection, step="saved_masks")
    assert [(row.name, row.reason) for row in told] == [("cow", "no source has the name of these masks")]


def test_masks_beside_each_other_are_of_the_pictures_of_their_numbers(tmp_path: Path) -> None:
    for name, ground in (("films", 90), ("masks", 0)):
        (tmp_path / name).mkdir()
        for number, column in enumerate(FILMS.values()):
            video.write_image(tmp_path / name / f"{number:03d}.png", film(column, ground=ground)[0])
    _, folder, dataset = built(tmp_path, tmp_path / "masks", frames=1)
    assert {row["source_uri"]: row["attributes"]["mask.sequence"] for row in dataset.items} == {
        f"{number:03d}.png": f"{number:03d}" for number in range(3)
    }
    assert [misses(folder, row) for row in dataset.items] == [0, 0, 0]


def test_masks_of_every_fifth_frame_are_not_those_of_the_first_frames(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, *FILMS)
    for path in (masks / "bear").iterdir():
        path.rename(path.with_name(f"{int(path.stem) * 5:05d}.png"))
    assert len(built(tmp_path, masks)[2].items) == 3  # a mask for each frame, however they are numbered
    for number in (35, 30, 25, 20):
        (masks / "bear" / f"{number:05d}.png").unlink()
    # The first clip would have masks enough, of the wrong frames.
    with pytest.raises(InputError, match=r"^masks 'bear' go in steps of 5 \(.*\) and are 4, the frames of their film 8"):
        built(tmp_path, masks, frames=4)


def test_masks_from_the_middle_of_a_film_are_not_those_of_its_beginning(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, *FILMS)

    for number, path in reversed(list(enumerate(video.numbered_images(masks / "bear")))):
        path.unlink() if number > 3 else path.rename(path.with_name(f"{10 + number}.png"))
    # As many as the clip has frames, and not all of its film.
    with pytest.raises(InputError) as refused:
        built(tmp_path, masks, frames=4)
    assert str(refused.value) == (
        "masks 'bear' begin at 10.png and are 4, the frames of their film 8, counted from 0 or 1: "
        "give a mask for each frame, or a film of those frames alone"
    )


def test_masks_as_many_as_the_clip_are_not_all_of_its_film(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, *FILMS)
    for number, path in enumerate(video.numbered_images(masks / "cow")):
        path.unlink() if number > 4 else path.rename(path.with_name(f"{5 * number:05d}.png"))
    # What is left of the film behind its last clip counts too: one clip of five of its eight frames.
    with pytest.raises(InputError, match=r"^masks 'cow' go in steps of 5 \(.*\) and are 5, the frames of their film 8"):
        built(tmp_path, masks, frames=5)


def test_a_film_that_goes_on_without_masks_is_refused(tmp_path: Path) -> None:
    write_films(tmp_path)
    masks = write_masks(tmp_path, *FILMS)
    (masks / "bear" / "7.png").unlink()
    workspace, _, dataset = built(tmp_path, masks)
    assert len(dataset.items) == 2
    told = [row for row in workspace.table("rejected", Rejection) if "bear" in row.name]
    assert [row.reason.partition(":")[0] for row in told] == ["masks 'bear' have 7 frames, the clip 8"]


def clip(source: str) -> Clip:
    return Clip(
        clip_id=f"clip {source}", source_id=source, start_frame=0, end_frame=1, fps=1.0, width=8, height=8, frames=1, blob="",
        yuv_sha256="", rgb_sha256="", encode_crf=0, encode_psnr_db=99.0,
    )  # fmt: skip


def test_names_are_those_of_the_files_in_any_writing() -> None:
    uris = {"1": "a/caf%C3%A9.jpg", "2": "dog.v2.PNG", "3": "embedded:cow", "4": "horse_mask.png"}
    clips = [clip(source) for source in uris]
    masks = ["cafe\u0301_mask000", "cafe\u0301_mask001", "dog.v2_MASK", "cow", "horse_mask", "other"]
    pairs, alone = by_name(clips, masks, uris=uris)
    assert [(found.source_id, mask) for found, mask in pairs] == list(zip("11234", masks, strict=False))
    assert alone == ["other"]


def test_two_sources_of_one_name_and_long_lists() -> None:
    with pytest.raises(InputError, match=r"masks 'dog' may be of 'a/dog.mp4' and 'b/dog.mp4': rename"):
        by_name([clip("1")], ["dog"], uris={"1": "a/dog.mp4", "2": "b/dog.mp4"})
    uris = {str(number): f"{number}.mp4" for number in range(40)}
    with pytest.raises(
        InputError, match=r"^40 of 40 sources .*'4\.mp4' and 35 more\), without a source are the masks 'm0', .* and 25 more"
    ):
        by_name([clip(source) for source in uris], [f"m{number}" for number in range(30)], uris=uris)


def test_masks_are_shared_out_by_the_clips_alone_and_about_evenly() -> None:
    clips = [clip(str(number)) for number in range(90)]
    masks = {one.clip_id: mask for one, mask in by_turn(clips, ["a", "b", "c"], seed=0)}
    assert {one.clip_id: mask for one, mask in by_turn(clips[10:30], ["a", "b", "c"], seed=0)}.items() <= masks.items()
    assert all(15 <= count <= 45 for count in Counter(masks.values()).values())
    assert masks != {one.clip_id: mask for one, mask in by_turn(clips, ["a", "b", "c"], seed=1)}
