"""Copies of a film are one source before anything is labelled, drawn or split; rules without a value are told or refused."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from footage import HEIGHT, WIDTH, write_sources
from pictures_recipe import PicturesRecipe

from inpaintbench import frozen, video
from inpaintbench.cli.build.running import summarise
from inpaintbench.curation.rules import Rule
from inpaintbench.errors import InputError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import weights
from inpaintbench.recipes import devil, leakage, look_alikes, settings
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import ALIKE, KNOWN, LABELS, LEVELS
from inpaintbench.types import Attribute, Clip, Frames, Item, Source
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("pictures_are_known")

FILMS = 3
WATER = devil.SLICE_LEVELS[devil.SCENE_MOTION]


def cropped(frames: Frames) -> Frames:
    kept = frames[:, : round(0.9 * HEIGHT), round(0.1 * WIDTH) :]
    return np.stack([cv2.resize(frame, (WIDTH, HEIGHT), interpolation=cv2.INTER_AREA) for frame in kept])


COPIES: Mapping[str, Callable[[Frames], Frames]] = {
    "encoded": lambda frames: frames, "mirrored": lambda frames: frames[:, :, ::-1], "cropped": cropped
}  # fmt: skip


def write_films(folder: Path, *, copies: Sequence[str]) -> Path:
    """Three films, each with copies: encoded again, mirrored, cropped."""
    write_sources(folder, count=FILMS)
    for path in sorted(folder.glob("*.mp4")):
        for kind in copies:
            shown = np.ascontiguousarray(COPIES[kind](video.read_frames(path)))
            video.write_clip(folder / f"{path.stem} {kind}.mp4", shown, fps=25.0)
    return folder


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """``write_films``; a rule has no weights, and of each film a copy alone is called water by a file."""
    folder = write_films(tmp_path_factory.mktemp("films") / "films", copies=list(COPIES))
    workspace = Workspace(folder.parent / "workspace")
    text = Rule(attribute="text_overlay_fraction", at_most=0.01, flag=True, name="text")
    recipe = devil.DevilRecipe(
        width=WIDTH, height=HEIGHT, level_share=0.5, per_slice=20, rules=(text,), splits={"train": 0.5, "test": 0.5}
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patched, LocalExecutor(workspace, workers=0) as executor:
        patched.setattr(weights, "path_of", lambda name: (_ for _ in ()).throw(weights.NotMeasurable(f"{name} is not here")))
        devil.curate(recipe, [SourceSpec("folder", {"folder": str(folder)})], executor, workspace)
        names = {row.source_id: row.uri for row in workspace.table("sources", Source)}
        water = [
            Attribute(clip.source_id, WATER, "high", None, LABELS, "1")
            for clip in workspace.table("clips", Clip)
            if "mirrored" in names[clip.source_id] or "cropped" in names[clip.source_id]
        ]
        workspace.write_table("attributes", LABELS, water, Attribute)
        devil.label(recipe, executor, workspace)
        devil.corrupt(recipe, executor, workspace)
        with pytest.raises(
            InputError, match=r"^the rule 'text' had no value on 12 of 12 clips: .*; --strict-rules allows no clip"
        ):
            devil.label(recipe.model_copy(update={"strict_rules": True}), executor, workspace)
        assert workspace.table("attributes", Attribute, step=devil.LEVELS) == []
        devil.label(recipe, executor, workspace)
        with pytest.raises(InputError, match="text_overlay_fraction cannot be measured"):
            devil.check(recipe.model_copy(update={"strict_rules": True}))
        devil.check(recipe)
    return workspace


def films(workspace: Workspace) -> dict[str, str]:
    """Clip id -> its film."""
    uri = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    return {clip.clip_id: uri[clip.source_id].removesuffix(".mp4")[: len("pan%200")] for clip in workspace.table("clips", Clip)}


def test_copies_are_grouped_with_their_film_and_films_are_not(labelled: Workspace) -> None:
    of, groups = films(labelled), leakage.groups_of(labelled)
    source = {clip.clip_id: groups.get(clip.clip_id, clip.source_id) for clip in labelled.table("clips", Clip)}
    assert Counter(of.values()) == dict.fromkeys(sorted(set(of.values())), 4)
    together = defaultdict(set)
    for clip, group in source.items():
        together[of[clip]].add(group)
    assert [len(some) for some in together.values()] == [1] * FILMS
    assert len(set(source.values())) == FILMS
    rows = labelled.table("attributes", Attribute, step=ALIKE)
    assert {row.name for row in rows} == {frozen.GROUP, leakage.SAME_AS}
    assert all(of[str(row.value)] == of[row.subject_id] for row in rows if row.name == leakage.SAME_AS)


def test_groups_are_found_again_only_where_what_they_depend_on_changed(
    labelled: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = Workspace(Path(shutil.copytree(labelled.path, tmp_path / "workspace")), create=False)
    table = world.path / "tables" / "attributes" / f"{ALIKE}.parquet"
    before, found = table.read_bytes(), []
    real = look_alikes.pairs
    monkeypatch.setattr(look_alikes, "pairs", lambda *given: found.append(len(given)) or real(*given))

    def looks_again() -> bool:
        found.clear()
        leakage.group(world)
        return bool(found)

    assert not looks_again()
    assert table.read_bytes() == before
    # Whoever deals clips to splits takes the groups that are known; they are those that looking again gives.
    own = {clip.clip_id: clip.source_id for clip in world.table("clips", Clip)}
    dealt = leakage.together(world, own)
    assert not found
    table.with_suffix(".json").unlink()
    assert leakage.together(world, own) == dealt
    assert found
    assert looks_again()
    assert not looks_again()
    assert table.read_bytes() == before
    table.unlink()
    assert looks_again()
    assert table.read_bytes() == before
    monkeypatch.setattr(leakage, "METHOD", "another")
    assert looks_again()
    sources = {row.uri: row.source_id for row in world.table("sources", Source)}
    known = [Attribute(source, frozen.GROUP, "one film", None, "test", "1") for source in sources.values()]
    world.write_table("attributes", KNOWN, known, Attribute)
    assert looks_again()
    assert leakage.groups_of(world) == {}
    world.write_table("attributes", KNOWN, [], Attribute)
    assert looks_again()
    assert table.read_bytes() == before
    clips = world.table("clips", Clip, step="cut")
    world.write_table("clips", "cut", clips[:-1], Clip)
    assert looks_again()


def test_a_film_takes_one_label_and_is_drawn_once_and_lies_in_one_split(labelled: Workspace) -> None:
    of = films(labelled)
    levels = [row for row in labelled.table("attributes", Attribute, step=LEVELS) if row.value is not None]
    for name in ("camera_motion_level", WATER):
        assert max(Counter(of[row.subject_id] for row in levels if row.name == name).values()) == 1
    assert {of[row.subject_id] for row in levels if row.name == WATER} == set(of.values())
    items = labelled.table("items", Item)
    assert len({item.clip_id for item in items}) == len({of[item.clip_id] for item in items}) == FILMS
    # A copy that comes later by another way still lies where its film does.
    source_of = {clip.clip_id: clip.source_id for clip in labelled.table("clips", Clip)}
    split_of = leakage.assign(labelled, source_of, {"train": 0.5, "test": 0.5}, seed=0)
    assert all(len({split_of[clip] for clip, film in of.items() if film == one}) == 1 for one in set(of.values()))
    assert set(split_of.values()) == {"train", "test"}


DRAWING: dict[str, tuple[Any, int]] = {
    "drawn holes": (PicturesRecipe(clip_frames=40, area_edges=(0.1, 0.3)), FILMS),
    "saved masks in turn": (
        devil.DevilRecipe(
            width=WIDTH, height=HEIGHT, level_share=0.5, saved_masks={"polarity": "white_is_hole"}, masks_by_turn=True
        ), FILMS,
    ),
    "saved masks by name": (
        devil.DevilRecipe(
            width=WIDTH, height=HEIGHT, level_share=0.5, saved_masks={"polarity": "white_is_hole", "resize": "cover"}
        ), 3 * FILMS,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def films_with_copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    write_films(folder / "films", copies=("encoded", "mirrored"))
    hole = np.zeros((50, HEIGHT, WIDTH), np.uint8)
    hole[:, 20:50, 40:80] = 255
    for path in (folder / "films").glob("*.mp4"):
        for place, frame in enumerate(hole):
            target = folder / "masks" / path.stem / f"{place:03d}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            video.write_image(target, frame)
    return folder


@pytest.mark.parametrize("name", DRAWING)
def test_what_draws_takes_a_film_once_and_what_people_gave_stays(
    name: str, films_with_copies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, expected = DRAWING[name]
    check_drawing(recipe, expected, films_with_copies, tmp_path, capsys)


def check_drawing(
    recipe: Any, expected: int, films_with_copies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace(tmp_path / "workspace")
    source = SourceSpec("folder", {"folder": str(films_with_copies / "films")})
    masks = {"masks": films_with_copies / "masks"} if getattr(recipe, "saved_masks", None) else {}
    with LocalExecutor(workspace, workers=0) as executor:
        _, dataset = settings.build(recipe, [source], executor, workspace, **masks)
    assert len({row["clip_id"] for row in dataset.items}) == expected
    assert len({frozen.source_of(row) for row in dataset.items}) == FILMS
    summarise(workspace, dataset)
    told = " ".join(capsys.readouterr().out.split())
    assert "6 clips of the workspace show what a clip of another file shows, as a copy, a crop or a mirror image; " in told
    assert f"of {len(dataset.items)} items, {expected - FILMS} are of them, and count as one source" in told
