"""A published dataset that grows: whatever is added, what was published stays as it was."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from footage import contents, write_sources
from methods_run import run_methods
from pictures_recipe import PicturesRecipe
from program import run_here
from skimage import data

from inpaintbench import frozen, storage, video
from inpaintbench.cli.build.planning import warn_of_few_films
from inpaintbench.errors import InputError, VerifyError
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export import removed
from inpaintbench.export.diff import difference, only_adds
from inpaintbench.export.layout import media_names
from inpaintbench.export.verify import verify
from inpaintbench.frozen import EARLIER
from inpaintbench.manifest import SHOWN
from inpaintbench.recipes import settings
from inpaintbench.recipes.dataset_table import DatasetTable
from inpaintbench.recipes.devil import DevilRecipe, label
from inpaintbench.recipes.merging import merge
from inpaintbench.recipes.own_slices import make_slices
from inpaintbench.recipes.removal import RemovalRecipe
from inpaintbench.recipes.settings import build, corrupt, export, export_apart, own_export, remember
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.recipes.versions import Asked, manifest_folder
from inpaintbench.types import Clip, Dataset, Score
from inpaintbench.workspace import Workspace

pytestmark = pytest.mark.usefixtures("pictures_are_known")

STEPS = (3, 5, 6, 8)
# Step, folder for footage -> recipe and source.
World = Callable[[int, Path], tuple[Any, SourceSpec]]


def films(count: int, folder: Path) -> SourceSpec:
    return SourceSpec("folder", {"folder": str(write_sources(folder / "films", count=count))})


def photographs(count: int, folder: Path) -> SourceSpec:
    (folder / "photographs").mkdir(exist_ok=True)
    for number in range(count):
        picture = (data.coffee(), data.chelsea(), data.astronaut())[number % 3]
        video.write_image(
            folder / "photographs" / f"{number}.png", picture[17 * number : 17 * number + 160, 40 : 200 + 9 * number]
        )
    return SourceSpec("folder", {"folder": str(folder / "photographs"), "media": "image"})


def devil(count: int, folder: Path, **more: Any) -> tuple[Any, SourceSpec]:
    return DevilRecipe(width=96, height=64, per_slice=count - 1, level_share=0.4, **more), films(count, folder)


def as_published(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    return devil(count, folder, behaviour="as-published")


def pictures(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    return PicturesRecipe(second_masks=1, pictures=7), photographs(count, folder)


def removal(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    recipe = RemovalRecipe(frames=4, size=(96, 80))
    return recipe, recipe.rendered(4 * count)


def made(workspace: Path, recipe: Any, source: SourceSpec, *, append: bool = False, **more: Any) -> Dataset:
    opened = Workspace(workspace)
    append_to = own_export(recipe, opened) if append else more.pop("append_to", None)
    with LocalExecutor(opened, workers=0) as executor:
        dataset = build(recipe, [source], executor, opened, append_to=append_to, **more)[1]
    return frozen.load(manifest_folder(opened, dataset.version))  # which stays readable when the dataset is replaced


def hashes(folder: Path, dataset: Dataset) -> dict[str, str]:
    names = {name for row in dataset.items for name in media_names(row)}
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def check_kept(old: Dataset, new: Dataset) -> None:
    """All rows, slices in their order and files of the old version are in the new one."""
    rows = {row["item_id"]: row for row in new.items}
    columns = {name for row in new.items for name in row}
    for row in old.items:
        # Further inputs of a clip show more of its items.
        shown = {SHOWN: row[SHOWN]} if SHOWN in row else {}
        assert rows[row["item_id"]] | shown == dict.fromkeys(columns) | row
    members = {part.name: part.item_ids for part in new.slices}
    for part in old.slices:
        assert members[part.name][: len(part.item_ids)] == part.item_ids
    assert only_adds(difference(old, new))


def devil_imperfect(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    return devil(count, folder, imperfect=("dilate", "drop"))


def removal_imperfect(count: int, folder: Path) -> tuple[Any, SourceSpec]:
    recipe = RemovalRecipe(frames=4, size=(96, 80), imperfect=("dilate", "box"))
    return recipe, recipe.rendered(4 * count)


LIGHT = {"name": "light", "level": "low", "rule": "exposure < 0.45"}


@pytest.fixture(scope="module")
def growing_pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, SourceSpec, Path]:
    folder = tmp_path_factory.mktemp("growing")
    recipe, source = pictures(3, folder)
    made(folder / "workspace", recipe, source)
    return recipe, source, folder / "workspace"


def check_growth(world: World, tmp_path: Path, *, may_stay: bool = False) -> None:
    """Three steps of growth keep every item, hole and truth; with ``may_stay`` a step may find nothing to add."""
    recipe, source = world(STEPS[0], tmp_path)
    workspace = tmp_path / "workspace"
    old = made(workspace, recipe, source)
    folder = workspace / "exports" / recipe.kind
    grown = 0
    for count in STEPS[1:]:
        files, before = hashes(folder, old), len(old.items)
        recipe, source = world(count, tmp_path)
        new = made(workspace, recipe, source, append=True)
        check_kept(old, new)
        assert hashes(folder, new).items() >= files.items()
        grown += len(new.items) > before
        assert new.version == f"1.{grown}.0"
        if len(new.items) == before:
            continue
        assert new.facts[EARLIER][-1]["id"] == frozen.dataset_id(old)
        assert (new.facts[EARLIER][-1]["items"], new.facts[EARLIER][-1]["kept"]) == (before, before)
        assert frozen.load(manifest_folder(Workspace(workspace), old.version)).items == old.items
        old = new
    assert grown == 3 or (may_stay and grown)
    assert verify(folder, decoder=None).problems == []
    again = made(workspace, recipe, source, append=True)
    assert (again.items, again.slices, again.version) == (old.items, old.slices, old.version)


def check_that_changes_are_told(world: World, tmp_path: Path) -> None:
    recipe, source = world(STEPS[1], tmp_path)
    first = made(tmp_path / "workspace", recipe, source)
    folder = tmp_path / "workspace" / "exports" / recipe.kind
    before = hashes(folder, first)
    told: list[Any] = []
    (tmp_path / "fewer").mkdir()
    recipe, source = world(STEPS[0], tmp_path / "fewer")
    change = r"\d+ items? added; .*removed|\d+ items? changed|\d+ items? removed"
    with pytest.raises(InputError, match=rf"@1\.0\.0.* items, version 2\.0\.0\) differs: ({change}).*--append.*--replace"):
        made(tmp_path / "workspace", recipe, source, asked=Asked(say=told.append))
    assert (hashes(folder, frozen.load(folder)), told) == (before, [])
    kept = Asked(replace=True, say=lambda words: told.append((words, frozen.load(folder).version)))
    second = made(tmp_path / "workspace", recipe, source, asked=kept)
    [(words, there)] = told
    assert (second.version, there) == ("2.0.0", "1.0.0")  # said while the former one lay there
    assert re.match(rf"{re.escape(frozen.dataset_id(first))} -> version 2\.0\.0: ({change})", words)


FAST = [pictures]
DEAR = [devil, as_published, removal, devil_imperfect, removal_imperfect]


@pytest.mark.parametrize("world", [*FAST, *(pytest.param(one, marks=pytest.mark.long) for one in DEAR)])
def test_three_steps_of_growth_keep_every_item_hole_and_truth(world: World, tmp_path: Path) -> None:
    check_growth(world, tmp_path)


@pytest.mark.parametrize("world", [*FAST, *(pytest.param(one, marks=pytest.mark.long) for one in DEAR)])
def test_what_a_build_changes_is_told_before_it_does_so(world: World, tmp_path: Path) -> None:
    check_that_changes_are_told(world, tmp_path)


@pytest.mark.parametrize(
    ("was", "asked", "words"),
    [
        ({"design": "paired"}, {"design": "slices"}, "which is paired, not slices; build the other"),
        ({}, {"design": "paired"}, "which is slices, not paired; build the other"),
        ({}, {"axes": ("size",)}, "which has slices of other clips and no axes; leave --axis out"),
    ],
)
def test_who_adds_is_told_of_another_design_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: dict[str, Any], asked: dict[str, Any], words: str
) -> None:
    (tmp_path / "dataset.json").touch()
    monkeypatch.setattr(settings, "MANIFEST", "dataset.json")
    monkeypatch.setattr(settings, "load", lambda _: Dataset("made", was, (), (), {}, {}, {}))
    with pytest.raises(InputError, match=f"--append keeps the design of made.*{words}"):
        settings.kept_by_growth(DevilRecipe, asked, tmp_path)


@pytest.mark.long
def test_an_axis_that_comes_later_is_drawn_for_published_clips_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def source(count: int) -> SourceSpec:
        return SourceSpec("embedded", {"count": count, "width": 96, "height": 64, "frames": 16, "stills_and_pans": True})

    recipe = DevilRecipe(
        width=96, height=64, clip_frames=16, shortest_clip_frames=16, level_share=0.5, per_slice=8, design="paired",
        axes=("size",), sliced_by=("camera_motion",),
    )  # fmt: skip
    first = made(tmp_path / "workspace", recipe, source(6))
    grown = recipe.model_copy(update={"axes": ("size", "pose", "hole_duration")})
    second = made(tmp_path / "workspace", grown, source(8), append=True)
    check_kept(first, second)
    assert [axis["name"] for axis in second.facts["axes"]] == ["size", "pose", "hole_duration"]
    old = {row["item_id"] for row in first.items}
    clips = {row["clip_id"] for row in first.items}
    for axis, levels in (("pose", 2), ("hole_duration", 3)):
        groups: dict[str, list[Any]] = {}
        for row in second.items:
            if group := row["attributes"].get(f"pair.{axis}"):
                groups.setdefault(group, []).append(row)
        assert {len({row["attributes"][f"axis.{axis}"] for row in rows}) for rows in groups.values()} == {levels}
        assert {len(rows) for rows in groups.values()} == {levels}
        assert clips <= {row["clip_id"] for rows in groups.values() for row in rows}
        assert not old & {row["item_id"] for rows in groups.values() for row in rows}
    again = made(tmp_path / "workspace", grown, source(8), append=True)
    assert (again.items, again.slices) == (second.items, second.slices)
    with pytest.raises(InputError, match="axes was"):
        made(tmp_path / "workspace", recipe, source(8), append=True)
    workspace = Workspace(tmp_path / "workspace")
    (step,) = workspace.steps("clips")
    workspace.write_table("clips", step, workspace.table("clips", Clip, step=step)[1:], Clip)
    warn_of_few_films(grown.model_copy(update={"axes": (*grown.axes, "whole_frames")}), workspace)
    said = " ".join(capsys.readouterr().out.split())
    assert said == "whole_frames will be without 1 published clip, whose films are not among the sources"


@pytest.mark.long
def test_slices_are_filled_up_to_their_number_and_levels_are_those_of_the_published_thresholds(tmp_path: Path) -> None:
    recipe, source = devil(4, tmp_path)
    recipe = recipe.model_copy(update={"per_slice": 5})
    first = made(tmp_path / "workspace", recipe, source)
    sizes = {part.name: len(part.item_ids) for part in first.slices}
    assert set(sizes.values()) == {1, 4}  # one clip each is called low and high
    _, source = devil(8, tmp_path)
    second = made(tmp_path / "workspace", recipe, source, append=True)
    members = {part.name: part.item_ids for part in second.slices}
    assert {len(ids) for name, ids in members.items() if not name.startswith("camera_motion")} == {5}
    motion = {row["clip_id"]: row["attributes"]["camera_motion_per_frame"] for row in second.items}
    levels = {row["clip_id"]: row["attributes"].get("camera_motion_level") for row in second.items}
    old = {row["clip_id"] for row in first.items}
    limits = {level: [motion[clip] for clip in old if levels[clip] == level] for level in ("low", "high")}
    new = {clip for clip in motion.keys() - old if motion[clip] is not None}
    assert new
    for clip in new:
        assert levels[clip] == (
            "low" if motion[clip] <= max(limits["low"]) else "high" if motion[clip] >= min(limits["high"]) else None
        )


@pytest.mark.long
def test_a_workspace_of_other_footage_adds_to_a_dataset_that_lies_elsewhere(tmp_path: Path) -> None:
    recipe, source = pictures(4, tmp_path)
    first = made(tmp_path / "one", recipe, source)
    folder = Path(shutil.copytree(tmp_path / "one" / "exports" / "pictures", tmp_path / "fetched"))
    other = tmp_path / "others"
    other.mkdir()
    _, source = pictures(6, other)
    for number in range(4):
        (other / "photographs" / f"{number}.png").unlink()
    second = made(tmp_path / "two", recipe, source, append_to=folder)
    check_kept(first, second)
    assert len({row["source_id"] for row in second.items}) == 6
    assert second.version == "1.1.0"
    assert verify(tmp_path / "two" / "exports" / "pictures", decoder=None).problems == []
    # A file of what is added to has another content by now.
    truth = folder / first.items[0]["truth_file_name"]
    truth.write_bytes(truth.read_bytes() + b"x")
    with pytest.raises(VerifyError, match=r"differs from the manifest; `inpaintbench export verify`"):
        made(tmp_path / "three", recipe, source, append_to=folder)
    assert not (tmp_path / "three" / "exports").exists() or not list((tmp_path / "three" / "exports").iterdir())


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "protocol"),
    [(devil_imperfect, "devil/imperfect"), (removal_imperfect, "removal/paired"), (devil, "devil/corrected")],
)
def test_scores_of_kept_items_are_those_of_a_new_run(world: World, protocol: str, tmp_path: Path) -> None:
    how: dict[str, Any] = {"metrics": ["psnr", "ssim"], "protocol": protocol}
    recipe, source = world(STEPS[0], tmp_path)
    folder, old = tmp_path / "workspace" / "exports" / recipe.kind, made(tmp_path / "workspace", recipe, source)
    before = run_methods(folder, tmp_path / "run", {"telea": "telea"}, **how).table("scores", Score)
    recipe, source = world(STEPS[1], tmp_path)
    new = made(tmp_path / "workspace", recipe, source, append=True)
    ids = {row["item_id"] for row in old.items}
    assert {row.item_id for row in before} == ids < {row["item_id"] for row in new.items}
    grown = run_methods(folder, tmp_path / "run", {"telea": "telea"}, **how).table("scores", Score)
    fresh = run_methods(folder, tmp_path / "fresh", {"telea": "telea", "ns": "navier_stokes"}, **how)
    assert grown == [row for row in fresh.table("scores", Score) if row.method == "telea"]
    values = {(row.item_id, row.metric, row.region): row.value for row in grown}
    assert all(values[row.item_id, row.metric, row.region] == row.value for row in before)


def test_nothing_published_is_replaced_without_a_word(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    first = made(tmp_path / "workspace", recipe, source)
    larger = recipe.model_copy(update={"area_edges": (0.0, 0.3)})
    told: list[str] = []
    with pytest.raises(InputError, match=r"holds Pictures with holes.*6 items removed.*--append.*--replace"):
        made(tmp_path / "workspace", larger, source, asked=Asked(say=told.append))
    folder = tmp_path / "workspace" / "exports" / "pictures"
    assert (frozen.load(folder).items, told) == (first.items, [])
    with pytest.raises(
        InputError,
        match=r"--append keeps the recipe of Pictures.*, and area_edges was \[0.0, 0.2, 0.4\], not \[0.0, 0.3\]",
    ):
        made(tmp_path / "workspace", larger, source, append=True)
    with pytest.raises(InputError, match=r"version 1\.4\.0 is too low: 2.0.0 or more"):
        made(tmp_path / "workspace", larger, source, asked=Asked(version="1.4.0", replace=True))
    second = made(tmp_path / "workspace", larger, source, asked=Asked(replace=True, say=told.append))
    assert second.version == "2.0.0"
    assert told[0].startswith(f"{frozen.dataset_id(first)} -> version 2.0.0: 3 items added; 6 items removed")
    assert second.facts[EARLIER][0]["kept"] == 0
    with pytest.raises(InputError, match=r"there is no published dataset in .* to add to"):
        made(tmp_path / "empty", recipe, source, append=True)


def test_the_public_part_and_the_truth_of_other_content_are_not_replaced_without_a_word(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    made(tmp_path / "workspace", recipe, source)
    workspace, public = Workspace(tmp_path / "workspace"), tmp_path / "challenge"
    how: dict[str, Any] = {"splits": ["test"], "target": public, "allow_exposed": "a rehearsal"}
    for _ in range(2):  # the same again
        (_, shown), _ = export_apart(recipe, workspace, **how)
    removed.remove(workspace, [("source", "0.png")], reason="withdrawn by its author")
    with pytest.raises(
        InputError, match=r"challenge' holds .* would take its place \(4 items, version 2.0.0\) differs: 2 items removed"
    ):
        export_apart(recipe, workspace, **how)
    assert len(frozen.load(public).items) == len(shown.items) == 6
    (_, fewer), _ = export_apart(recipe, workspace, **how, asked=Asked(replace=True))
    assert (len(fewer.items), fewer.version) == (4, "2.0.0")


# Slices of the builder's own


def own_table(*slices: dict[str, str]) -> DatasetTable:
    return DatasetTable(slices=make_slices(slices, where="about.toml"))


def test_slices_by_any_attribute_are_filled_as_the_dataset_grows(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    large = {"name": "large_holes", "rule": 'hole.hole_fraction > 0.2 and generator = "brush_box"'}
    none = {"name": "nobodys", "rule": 'generator = "blobs"'}
    first = made(tmp_path / "workspace", recipe, source, table=own_table(LIGHT, large, none))
    facts = {row["item_id"]: row["attributes"] for row in first.items}
    members = {part.name: set(part.item_ids) for part in first.slices}
    assert members["light-low"] == {item for item, fact in facts.items() if fact["exposure"] < 0.45}
    assert members["large_holes"] == {item for item, fact in facts.items() if fact["hole.hole_fraction"] > 0.2}
    assert 0 < len(members["light-low"]) < len(facts)
    assert next(part.rule for part in first.slices if part.name == "light-low") == LIGHT["rule"]
    assert first.left_out["nobodys"] == 'no item fulfils generator = "blobs"'
    assert verify(tmp_path / "workspace" / "exports" / "pictures", decoder=None).problems == []
    # They go on without being told again, and cannot become others under their names.
    recipe, source = pictures(6, tmp_path)
    second = made(tmp_path / "workspace", recipe, source, append=True)
    check_kept(first, second)
    facts = {row["item_id"]: row["attributes"] for row in second.items}
    light = next(part.item_ids for part in second.slices if part.name == "light-low")
    assert set(light) == {item for item, fact in facts.items() if fact["exposure"] < 0.45} > members["light-low"]
    with pytest.raises(InputError, match=r"the slice 'light-low' is published with the rule 'exposure < 0.45'"):
        made(tmp_path / "workspace", recipe, source, append=True, table=own_table({**LIGHT, "rule": "exposure < 0.5"}))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "kind", "level": "brush", "rule": "exposure < 1"}, "the recipe has a slice 'kind-brush' of its own"),
        ({"name": "x", "rule": "exposur < 1"}, "slice 'x': no item has attribute 'exposur', did you mean 'exposure'"),
        ({"name": "X", "rule": "exposure < 1"}, "about.toml, slice 2: name: 'X' is no name of a slice"),
        ({"name": "x"}, "about.toml, slice 2: it has no rule"),
        ({"name": "x", "rule": "exposure <"}, "about.toml, slice 2: rule: expression 'exposure <' needs a value at its end"),
        ({"name": "x", "rule": "answer:keep_reject = keep"}, "about.toml, slice 2: rule: answers are no facts of items"),
        ({"name": "x", "rule": "exposure < 1", "lvl": "low"}, "about.toml, slice 2: unknown entry 'lvl', did you mean 'level'?"),
        ({"name": "light", "level": "low", "rule": "exposure < 1"}, "about.toml, slice 2: another slice is called 'light-low'"),
    ],
)
def test_a_slice_that_makes_no_sense_is_refused_in_a_sentence(
    fields: dict[str, str], said: str, growing_pictures: tuple[Any, SourceSpec, Path], tmp_path: Path
) -> None:
    recipe, source, workspace = growing_pictures
    with pytest.raises(InputError) as refused:
        made(Path(shutil.copytree(workspace, tmp_path / "workspace")), recipe, source, table=own_table(LIGHT, fields))
    assert said in str(refused.value)


def test_what_is_taken_down_is_gone_from_what_is_added_to(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    workspace = Workspace(tmp_path / "workspace")
    first = made(workspace.path, recipe, source)
    (tmp_path / "photographs" / "0.png").unlink()  # its footage is here no longer
    gone = next(row for row in first.items if row["source_uri"] == "0.png")
    second = made(workspace.path, recipe, source, append=True)
    assert second.items == first.items
    removed.remove(workspace, [("source", "0.png")], reason="withdrawn by its author")
    third = export(recipe, workspace, asked=Asked(replace=True))[1]
    assert third.version == "2.0.0"
    assert {row["source_id"] for row in first.items} - {row["source_id"] for row in third.items} == {gone["source_id"]}
    assert len(third.removed) == 2


def test_workspaces_at_addresses_are_merged_as_those_in_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(storage.CACHE, str(tmp_path / "cache"))
    recipe, _ = pictures(3, tmp_path)
    for number, name in enumerate(("one", "two")):
        folder = tmp_path / f"pictures of {name}"
        folder.mkdir()
        for own in (number, 2):
            shutil.copy(tmp_path / "photographs" / f"{own}.png", folder)
        for out in (str(tmp_path / name), f"memory://bucket/{name}"):
            made(Workspace(out).path, recipe, SourceSpec("folder", {"folder": str(folder), "media": "image"}))
    bucket, own = "memory://bucket", str(tmp_path)
    told = []
    for first, second, out in (
        (own, own, own),
        (bucket, own, bucket),
        (own, bucket, f"{own}/b"),
        (bucket, bucket, f"{bucket}/b"),
    ):
        words = ("curation", "merge", f"{first}/one", f"{second}/two", "--out", f"{out}/both")
        done, again = run_here(*words), run_here(*words)
        assert (done.returncode, again.returncode, again.stdout) == (0, 1, ""), done.stderr
        assert again.stderr == f"inpaintbench: '{out}/both' is there already; choose a new folder for --out\n"
        told.append(" ".join(done.stdout.replace(f"{out}/both", "OUT").replace(f"{first}/one", "FIRST").split()))
        monkeypatch.setenv(storage.CACHE, str(tmp_path / out.replace("/", " ")))  # another machine
        both = Workspace(f"{out}/both", create=False)
        for name in both.blobs.names():
            both.blobs.proved(name)
        assert contents(both.path) == contents(tmp_path / "both")
        assert both.ledger("cut").read().keys() == Workspace(tmp_path / "both").ledger("cut").read().keys()
    assert "FIRST/exports" in told[0]
    assert set(told) == {told[0]}


@pytest.mark.long
def test_two_workspaces_as_one_give_what_one_of_all_footage_gives(tmp_path: Path) -> None:
    recipe, source = devil(6, tmp_path)
    whole = made(tmp_path / "whole", recipe, source)
    halves = []
    for name, gone in (("one", (4, 5)), ("two", (0, 1, 2))):
        folder = Path(shutil.copytree(tmp_path / "films", tmp_path / f"films of {name}"))
        for number in gone:
            (folder / f"pan {number}.mp4").unlink()
        made(tmp_path / name, recipe, SourceSpec("folder", {"folder": str(folder)}))
        halves.append(Workspace(tmp_path / name, create=False))
    done = merge(halves[0], halves[1], tmp_path / "both")
    assert (done.sources, done.clips, done.in_both, done.renamed) == (6, 6, 1, [])
    both = Workspace(tmp_path / "both", create=False)
    before = {path: path.stat().st_mtime_ns for path in (both.path / "blobs").rglob("*.*")}
    with LocalExecutor(both, workers=0) as executor:
        label(recipe, executor, both)
        corrupt(recipe, executor, both)
        _, dataset = export(recipe, both)
    assert (dataset.items, dataset.slices, dataset.left_out) == (whole.items, whole.slices, whole.left_out)
    assert all(path.stat().st_mtime_ns == at for path, at in before.items())
    measured = [len(both.ledger(f"measure.{name}").read()) for name in ("cut_score", "camera_motion_per_frame")]
    assert measured == [6, 6]


def test_what_differs_and_what_has_another_name_of_two_workspaces(tmp_path: Path) -> None:
    recipe, source = pictures(3, tmp_path)
    made(tmp_path / "one", recipe, source)
    other = tmp_path / "others"
    other.mkdir()
    _, source = pictures(1, other)
    video.write_image(other / "photographs" / "0.png", data.rocket()[:200, :200])
    made(tmp_path / "two", recipe, source)
    one, two = (Workspace(tmp_path / name, create=False) for name in ("one", "two"))
    removed.remove(two, [("source", "0.png")], reason="withdrawn by its author")
    done = merge(one, two, tmp_path / "both")
    assert (done.clips, done.renamed) == (4, ["two/0.png"])
    both = Workspace(tmp_path / "both", create=False)
    assert [order.reason for order in removed.orders(both)] == ["withdrawn by its author"]
    with LocalExecutor(both, workers=0) as executor:
        corrupt(recipe, executor, both)
        _, dataset = export(recipe, both)
    assert sorted({row["source_uri"] for row in dataset.items}) == ["0.png", "1.png", "2.png"]
    with pytest.raises(InputError, match="is there already; choose a new folder"):
        merge(one, two, both.path)
    with pytest.raises(InputError, match="is both workspaces"):
        merge(one, one, tmp_path / "third")
    remember(two, recipe.model_copy(update={"size": 96}))
    with pytest.raises(InputError, match="cannot be merged: size is 64 in the first and 96 in the second"):
        merge(one, two, tmp_path / "third")
    assert not (tmp_path / "third").exists()
