"""Nothing is in two splits: sources, clips, truths, groups, and copies that somebody made of a picture or film."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
import pytest
from program import run_here
from splits_world import copy_of, divide, make

from inpaintbench import frozen, video
from inpaintbench.curation.split import assign, together
from inpaintbench.errors import InputError
from inpaintbench.recipes import evidence, leakage, look_alikes
from inpaintbench.recipes.settings import export, recall
from inpaintbench.recipes.versions import Asked
from inpaintbench.tables import to_columns
from inpaintbench.types import Attribute, Clip, Frames, Item, Source
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("pictures_are_known")


@pytest.fixture(scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("splits") / "workspace").path


@pytest.fixture
def world(_made: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(_made, tmp_path / "workspace")), create=False)


def encoded(frames: Frames, *, quality: int) -> Frames:
    _, data = cv2.imencode(".jpg", frames[0][..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])
    return cv2.imdecode(data, cv2.IMREAD_COLOR)[None, ..., ::-1]


def resized(frames: Frames, scale: float) -> Frames:
    there = cv2.resize(frames[0], None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.resize(there, frames.shape[2:0:-1], interpolation=cv2.INTER_CUBIC)[None]


def cropped(frames: Frames, share: float) -> Frames:
    height, width = frames.shape[1:3]
    top, left = round(height * share / 2), round(width * share / 2)
    return cv2.resize(frames[0, top : height - top, left : width - left], (width, height))[None]


COPIES: dict[str, Callable[[Frames], Frames]] = {
    "re-encoded": lambda frames: encoded(frames, quality=30),
    "resized": lambda frames: resized(frames, 0.5),
    "cropped": lambda frames: cropped(frames, 0.03),
    "brighter": lambda frames: np.clip(frames.astype(int) + 12, 0, 255).astype(np.uint8),
    "mirrored": lambda frames: frames[:, :, ::-1],
    "mirrored and re-encoded": lambda frames: encoded(np.ascontiguousarray(frames[:, :, ::-1]), quality=50),
}


def test_different_pictures_in_different_splits_pass_and_the_dataset_says_so(world: Workspace) -> None:
    clips = divide(world, train=2)
    folder, dataset = export(recall(world), world, asked=Asked(replace=True))
    told = dict(dataset.facts["leakage"])
    assert told.pop("method").startswith("perceptual_hash 1 of every clip")
    assert told == {"checked": len(clips), "pairs": 0, "without_hash": 0}
    assert frozen.load(folder).facts["leakage"]["checked"] == 4
    # What was measured is kept, and never published.
    stored = [row for leaf in look_alikes.LEAVES for row in world.table("attributes", Attribute, step=f"measure.{leaf}")]
    assert Counter(row.name for row in stored) == dict.fromkeys(look_alikes.LEAVES, len(world.table("clips", Clip)))
    assert not any("hash" in name for row in dataset.items for name in row["attributes"])


def test_a_dataset_of_one_split_is_not_looked_at(world: Workspace) -> None:
    _, dataset = export(recall(world), world, asked=Asked(replace=True))
    assert "leakage" not in dataset.facts
    assert world.table("attributes", Attribute, step=look_alikes.STEP) == []


def test_copies_in_another_split_fail_with_a_list_and_may_stay_for_a_reason(world: Workspace) -> None:
    clips = divide(world, train=1)
    names = {copy_of(world, clips[0], f"{name}.png", change, split="test") for name, change in COPIES.items()}
    before = sorted(path.name for path in (world.path / "exports").rglob("*"))
    with pytest.raises(InputError, match="near-duplicates are in different splits") as caught:
        export(recall(world), world, asked=Asked(replace=True))
    said = str(caught.value)
    for name in COPIES:
        assert f"{name}.png (test)" in said
    assert said.count("is the mirror image of") == 2
    assert "export remove --clip ID" in said
    assert "--allow-near-duplicates" in said
    assert sorted(path.name for path in (world.path / "exports").rglob("*")) == before  # nothing was written
    done = run_here("export", "freeze", world.path, "--replace", "--allow-near-duplicates", "the copies are what is measured")
    assert done.returncode == 0, done.stderr
    told = frozen.load(world.path / "exports" / "pictures").facts["leakage"]
    assert told["allowed"] == "the copies are what is measured"
    assert told["pairs"] == len(COPIES)
    assert {clip for pair in told["alike"] for clip in pair} == names | {clips[0]}
    with pytest.raises(InputError, match="near-duplicates"):  # a reason counts once
        export(recall(world), world, asked=Asked(replace=True))


def test_among_very_many_clips_only_plain_hashes_are_compared_and_that_is_told(
    world: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    clips = divide(world, train=1)
    mirrored, encoded_again = (
        copy_of(world, clips[0], f"{name}.png", COPIES[name], split="test") for name in ("mirrored", "re-encoded")
    )
    assert leakage.not_looked_for(world) is None
    monkeypatch.setattr(look_alikes, "MOST_FOR_COPIES", 5)
    count = len(world.table("clips", Clip))
    words = "Mirror images and crops were not looked for among {} clips: of more than 5 that takes hours."
    assert leakage.not_looked_for(world) == words.format(count)
    assert evidence.copies(world) == {"not_looked_for": words.format(count)}
    told = leakage.check(world, world.table("items", Item), allowed="they are what is measured")
    assert told["not_looked_for"] == words.format(6)
    assert [set(pair) for pair in told["alike"]] == [{clips[0], encoded_again}]
    monkeypatch.setattr(look_alikes, "MOST_FOR_COPIES", 6)
    told = leakage.check(world, world.table("items", Item), allowed="they are what is measured")
    assert "not_looked_for" not in told
    assert {frozenset(pair) for pair in told["alike"]} == {frozenset((clips[0], copy)) for copy in (mirrored, encoded_again)}


def test_copies_in_one_split_are_nobodys_business(world: Workspace) -> None:
    clips = divide(world, train=1)
    copy_of(world, clips[0], "copy.png", COPIES["re-encoded"], split="train")
    assert export(recall(world), world, asked=Asked(replace=True))[1].facts["leakage"]["pairs"] == 0


def test_a_chain_of_copies_is_found_though_its_ends_are_not_alike(world: Workspace) -> None:
    """The best earlier original of each clip would be in its own split; every pair across splits counts."""
    clips = divide(world, train=1)
    copy_of(world, clips[0], "a.png", COPIES["re-encoded"], split="train")
    copy_of(world, clips[0], "b.png", COPIES["resized"], split="train")
    copy_of(world, clips[0], "c.png", COPIES["brighter"], split="test")
    with pytest.raises(InputError) as caught:
        export(recall(world), world, asked=Asked(replace=True))
    assert str(caught.value).count("c.png (test)") == 3


def test_one_thing_in_two_splits_fails(world: Workspace) -> None:
    clips = divide(world, train=2)
    items = world.table("items", Item)
    moved = [replace(item, split="test") if place == 0 else item for place, item in enumerate(items)]
    moved = moved if {row.split for row in moved if row.clip_id == items[0].clip_id} == {"train", "test"} else [
        replace(items[0], split="train"), *items[1:]
    ]  # fmt: skip
    world.write_table("items", "pair", moved, Item)
    with pytest.raises(InputError, match=r"the source '.*' is in the splits test and train; the clip '.*' is in the splits"):
        export(recall(world), world, asked=Asked(replace=True))
    clips = divide(world, train=1)
    copy_of(world, clips[0], "same.png", lambda frames: frames, split="test")
    with pytest.raises(InputError, match=r"^the truth '[0-9a-f]{64}' is in the splits test and train; take one of the two out"):
        export(recall(world), world, asked=Asked(replace=True))


def test_one_group_in_two_splits_fails(world: Workspace) -> None:
    clips = divide(world, train=1)
    sources = {clip.clip_id: clip.source_id for clip in world.table("clips", Clip)}
    rows = [Attribute(sources[clip], frozen.GROUP, "one person", None, "test", "1") for clip in clips[:2]]
    items = world.table("items", Item)
    with pytest.raises(InputError, match="the group 'one person' is in the splits test and train"):
        leakage.check(world, items, attributes=rows)
    assert leakage.check(world, items, attributes=rows[:1])["pairs"] == 0


def test_pictures_that_are_drawn_are_not_compared_and_the_dataset_says_why(world: Workspace) -> None:
    clips = divide(world, train=1)
    copy_of(world, clips[0], "copy.png", COPIES["re-encoded"], split="test")
    for step in world.steps("sources"):
        rows = [replace(row, origin="drawn_people") for row in world.table("sources", Source, step=step)]
        world.write_table("sources", step, rows, Source)
    told = leakage.check(world, world.table("items", Item))
    assert (told["checked"], told["pairs"]) == (0, 0)
    assert "drawn from a number" in told["exempt"]["drawn_people"]


def test_groups_with_copies_in_common_are_dealt_as_one(world: Workspace) -> None:
    clips = divide(world, train=1)
    one = copy_of(world, clips[0], "one.png", COPIES["re-encoded"], split="test")
    two = copy_of(world, clips[0], "two.png", COPIES["mirrored"], split="test")
    groups = {clip: f"of {clip}" for clip in [*clips, one, two]}
    merged = leakage.together(world, groups)
    assert merged[one] == merged[two] == merged[clips[0]]
    assert len(set(merged.values())) == len(clips)
    for seed in range(8):
        split_of = assign(merged, {"train": 0.5, "test": 0.5}, seed=seed)
        assert split_of[one] == split_of[two] == split_of[clips[0]]


def test_groups_merge_through_chains_in_any_order() -> None:
    groups = {"a": "g1", "b": "g2", "c": "g3", "d": "g4", "e": "g1"}
    pairs = [("b", "c"), ("c", "e"), ("x", "a")]
    merged = together(groups, pairs)
    assert merged == {"a": "g1", "b": "g1", "c": "g1", "d": "g4", "e": "g1"}
    assert together(dict(reversed(groups.items())), pairs[::-1]) == merged
    assert together(groups, []) == groups


def test_films_that_others_cut_and_encode_are_found_and_other_films_are_not(tmp_path: Path) -> None:
    """Moving pictures: windows of one pan against a late, slower encoded copy of it, and against other films."""
    from footage import write_sources

    folder = write_sources(tmp_path / "films", count=4, frames=50)
    workspace = Workspace(tmp_path / "workspace")
    (workspace.path / "scratch").mkdir()
    clips = []
    for place, path in enumerate(sorted(folder.glob("*.mp4"))):
        frames = video.read_frames(path)
        versions = [frames] if place else [frames, np.stack([resized(frame[None], 0.6)[0] for frame in frames[8:]])]
        for number, shown in enumerate(versions):
            blob, _ = workspace.blobs.put(".mp4", lambda where, shown=shown: video.write_clip(where, shown, fps=25.0))
            yuv, rgb = video.decoded_hashes(workspace.blobs.path(blob))
            name = f"{place}{'a' if number else ''}"
            clips.append(Clip(name, name, 0, len(shown), 25.0, 128, 80, len(shown), blob, yuv, rgb, 18, 45.0))
    hashed = look_alikes.hashes(workspace, to_columns(clips, Clip))
    found = look_alikes.pairs(hashed, hashed.clips["clip_id"].to_pylist(), workspace.blobs)
    assert [(pair.clip_id, pair.other_id, pair.mirrored) for pair in found] == [("0", "0a", False)]


@pytest.mark.real
def test_real_photographs_of_different_things_are_never_alike_and_their_copies_are(assets: Path, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "workspace")
    (workspace.path / "scratch").mkdir()
    paths = [path for path in sorted((assets / "photos" / "images-migan-places512").rglob("images/*")) if path.is_file()]
    paths += sorted((assets / "photos" / "images-nipponjo-deepfillv2").rglob("case?.png"))

    def clip(name: str, frames: Frames) -> Clip:
        small = cv2.resize(frames[0], (160, 160), interpolation=cv2.INTER_AREA)
        blob, _ = workspace.blobs.put(".png", lambda where: video.write_image(where, small))
        return Clip(name, name, 0, 1, 1.0, 160, 160, 1, blob, name, name, 0, 99.0)

    clips = [clip(str(place), video.read_frames(path)) for place, path in enumerate(paths)]
    assert len(clips) >= 25
    clips += [clip(f"{place}'", encoded(video.read_frames(path), quality=40)[:, :, ::-1]) for place, path in enumerate(paths)]
    hashed = look_alikes.hashes(workspace, to_columns(clips, Clip))
    found = look_alikes.pairs(hashed, hashed.clips["clip_id"].to_pylist(), workspace.blobs)
    assert {(pair.clip_id, pair.other_id) for pair in found} == {(str(place), f"{place}'") for place in range(len(paths))}
    assert len(list(combinations(clips, 2))) > 1000
