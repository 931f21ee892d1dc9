"""The main job: interruption, worker counts, embedded footage, real videos."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from footage import build_command as command
from footage import contents, write_labels, write_sources

from inpaintbench import frozen, video
from inpaintbench.cli.build.planning import warn_of_few_films
from inpaintbench.curation import measuring
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.sources.folder import FolderSource
from inpaintbench.eval.protocols import usual
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.growing import Published
from inpaintbench.export.verify import verify
from inpaintbench.recipes import devil, sliced
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.tables import to_columns, to_records
from inpaintbench.types import Attribute, Clip, Corruption, Dataset, Item, Slice, Source
from inpaintbench.workspace import Workspace


@pytest.mark.long
def test_killed_runs_and_other_worker_counts_give_the_same_bytes(benchmark: Path, tmp_path: Path) -> None:
    write_sources(tmp_path / "sources")
    write_labels(tmp_path / "labels.csv")
    expected = contents(benchmark)  # built with two workers, elsewhere
    assert len(expected) > 40
    begun = time.monotonic()
    subprocess.run(command(tmp_path, "four", workers=4), check=True, capture_output=True)
    seconds = time.monotonic() - begun
    assert contents(tmp_path / "four") == expected
    chance = random.Random(7)
    killed = 0
    for _ in range(3):  # the same workspace, killed again and again at later moments
        run = subprocess.Popen(command(tmp_path, "killed", workers=2), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 0.5) * seconds)
        killed += run.poll() is None
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    assert killed
    subprocess.run(command(tmp_path, "killed", workers=2), check=True, capture_output=True)
    assert contents(tmp_path / "killed") == expected
    assert not list((tmp_path / "killed" / "scratch").iterdir())


def test_a_second_run_does_nothing_and_changes_nothing(benchmark: Path, tmp_path: Path) -> None:
    built = Path(shutil.copytree(benchmark.parent, tmp_path / "copy")) / benchmark.name
    before = {path: path.stat().st_mtime_ns for path in (built / "blobs").rglob("*")}
    ledgers = {path: path.read_bytes() for path in (built / "ledger").iterdir()}
    expected = contents(built)
    subprocess.run(command(built.parent, built.name, workers=1), check=True, capture_output=True)
    assert contents(built) == expected
    assert {path: path.stat().st_mtime_ns for path in (built / "blobs").rglob("*")} == before
    assert {path: path.read_bytes() for path in (built / "ledger").iterdir()} == ledgers


def test_no_path_of_this_machine_is_published(benchmark: Path) -> None:
    for path in (benchmark / "exports").rglob("*"):
        if path.is_file():
            assert str(benchmark.parent).encode() not in path.read_bytes(), path.name


@pytest.fixture(scope="module")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A benchmark from embedded footage with all ten slices."""
    workspace = Workspace(tmp_path_factory.mktemp("embedded") / "workspace")
    recipe = devil.DevilRecipe(width=208, height=120, per_slice=2)
    source = SourceSpec("embedded", {"count": 8, "width": 208, "height": 120})
    with LocalExecutor(workspace, workers=0) as executor:
        build(recipe, [source], executor, workspace)
    return workspace


def test_embedded_footage_gives_all_ten_slices_with_known_labels(embedded: Workspace) -> None:
    slices = {part.name: part for part in embedded.table("slices", Slice)}
    assert len(slices) == 10
    items = {item.item_id: item for item in embedded.table("items", Item)}
    attributes = embedded.table("attributes", Attribute)
    facts = {(row.subject_id, row.name): row for row in attributes}
    clips = {clip.clip_id: clip for clip in embedded.table("clips", Clip)}
    for level in ("low", "high"):
        for item_id in slices[f"bg_scene_motion-{level}"].item_ids:
            clip = clips[items[item_id].clip_id]
            row = facts[(clip.clip_id, "bg_scene_motion_level")]
            assert (row.value, row.producer) == (level, "known")
            share = facts[(clip.source_id, "bg_scene_motion")].value
            assert (share > 0.3) == (level == "high")
        for item_id in slices[f"camera_motion-{level}"].item_ids:
            assert facts[(items[item_id].clip_id, "camera_motion_level")].value == level
    low, high = (
        [facts[(items[item].clip_id, "camera_motion_per_frame")].value for item in slices[f"camera_motion-{level}"].item_ids]
        for level in ("low", "high")
    )
    assert max(low) < min(high)


@pytest.mark.long
def test_what_raters_answered_decides_the_scene_motion_slices(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=4)
    workspace = Workspace(tmp_path / "workspace")
    recipe = devil.DevilRecipe(width=96, height=64, per_slice=1)
    spec = SourceSpec("folder", {"folder": str(tmp_path / "sources")})
    with LocalExecutor(workspace, workers=0) as executor:
        clips = devil.curate(recipe, [spec], executor, workspace)
        values = [0.5, None, 0.05, 0.25]
        rows = [
            Attribute(
                clip.clip_id, "bg_scene_motion", value, None if value is not None else "raters were unsure", "annotate", "1"
            )
            for clip, value in zip(clips, values, strict=True)
        ]
        workspace.write_table("attributes", "annotate.water", rows, Attribute)
        folder, dataset = build(recipe, [spec], executor, workspace)
    clip_of = {row["item_id"]: row["clip_id"] for row in dataset.items}
    members = {part.name: {clip_of[item] for item in part.item_ids} for part in dataset.slices}
    assert members["bg_scene_motion-low"] == {clips[2].clip_id}
    assert members["bg_scene_motion-high"] == {clips[0].clip_id}
    published = {row["clip_id"]: row["attributes"].get("bg_scene_motion") for row in dataset.items}
    assert published[clips[0].clip_id] == 0.5
    assert verify(folder).problems == []


@pytest.mark.long
def test_imperfect_masks_show_as_missing_what_they_leave_out(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=4)
    recipe = devil.DevilRecipe(width=96, height=64, per_slice=1, imperfect=("erode", "dilate"))
    plain = devil.DevilRecipe(width=96, height=64, per_slice=1)
    spec = SourceSpec("folder", {"folder": str(tmp_path / "sources")})
    made = {}
    for name, one in (("spoilt", recipe), ("plain", plain)):
        with LocalExecutor(Workspace(tmp_path / name), workers=0) as executor:
            made[name] = build(one, [spec], executor, executor.workspace)
    folder, dataset = made["spoilt"]
    assert verify(folder).problems == []
    assert usual(dataset) == "devil/imperfect"
    assert "imperfect" not in made["plain"][1].recipe  # what was published before keeps its identity
    exact = {row["item_id"]: row for row in dataset.items if "parent" not in row["generator_parameters"]}
    assert exact.keys() == {row["item_id"] for row in made["plain"][1].items}
    slices = {part.name: set(part.item_ids) for part in dataset.slices}
    assert slices["mask-exact"] == exact.keys()
    assert {part.name: set(part.item_ids) for part in made["plain"][1].slices}.items() <= slices.items()
    assert slices["mask-erode"]
    for item in sorted(slices["mask-erode"] | slices["mask-dilate"]):
        row = next(row for row in dataset.items if row["item_id"] == item)
        truth, seen = (video.read_frames(folder / row[f"{part}_file_name"]) for part in ("truth", "input"))
        hole, thing = (video.read_hole(folder / row[f"{part}_file_name"]) for part in ("hole", "object_mask"))
        assert not seen[thing].any()
        assert (seen[~thing] == truth[~thing]).all()
        assert (hole & ~thing).any() == (item in slices["mask-dilate"])
        assert row["attributes"]["mask.mask_iou"] < 1


def test_clips_that_no_rater_was_asked_about_keep_the_labels_of_their_footage(workspace: Workspace) -> None:
    names = ("c0", "c1", "c2", "c3", "c4", "c5")
    clips = [Clip(name, f"s{name}", 0, 9, 25.0, 64, 48, 9, "blob", "y", "r", 0, 99.0) for name in names]
    level, share = "bg_scene_motion_level", "bg_scene_motion"
    known = [Attribute(f"s{name}", level, "high", None, "known", "1") for name in names if name != "c5"]
    workspace.write_table("attributes", "known", known, Attribute)
    answers = {"c0": 0.1, "c1": 0.5, "c2": None}
    rows = [Attribute(name, share, value, None if value else "unclear", "annotate", "1") for name, value in answers.items()]
    workspace.write_table("attributes", "annotate.x", rows, Attribute)
    found = to_records(devil._scene_motion_levels(devil.DevilRecipe(), workspace, to_columns(clips, Clip)), Attribute)
    assert {row.subject_id: (row.value, row.producer) for row in found} == {
        "c0": ("low", "rank"), "c1": ("high", "rank"), "c2": (None, "rank"), "c3": ("high", "known"), "c4": ("high", "known"),
    }  # fmt: skip


def test_clips_whose_camera_is_not_sure_get_no_label(workspace: Workspace) -> None:
    sure = {"c0": 1.0, "c1": 0.2, "c2": 0.5, "c3": None, "c4": 0.1}
    rows = [Attribute(name, devil.CONFIDENCE, value, None if value else "cut", "x", "1") for name, value in sure.items()]
    workspace.write_table("attributes", measuring.step_of(devil.CONFIDENCE), rows, Attribute)
    values = {"c0": 0.1, "c1": 0.2, "c2": 0.3, "c3": None, "c4": 0.5, "c5": 0.6}
    motion = [Attribute(name, "motion", value, None if value else "cut", "x", "1") for name, value in values.items()]
    left = to_records(devil._sure(to_columns(motion, Attribute), workspace), Attribute)
    assert {row.subject_id: row.value for row in left} == values | {"c1": None, "c4": None}
    assert [row.reason for row in left] == [
        None, "camera_motion_confidence is 0.2, below 0.5", None, "cut", "camera_motion_confidence is 0.1, below 0.5", None,
    ]  # fmt: skip


def test_pairs_whose_holes_are_there_ask_for_nothing(embedded: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sliced.Requests, "__getitem__", lambda *_: pytest.fail("made a request"))
    tables = {path: path.read_bytes() for path in (embedded.path / "tables").rglob("*.parquet")}
    with LocalExecutor(embedded, workers=0) as executor:
        devil.corrupt(devil.DevilRecipe(width=208, height=120, per_slice=2), executor, embedded)
    assert {path: path.read_bytes() for path in (embedded.path / "tables").rglob("*.parquet")} == tables


def test_which_clips_a_slice_holds_is_known_before_it_is_rendered(
    embedded: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = devil.DevilRecipe(width=208, height=120, per_slice=2)
    drawn, clip_of = devil.draw(recipe, embedded), {item.item_id: item.clip_id for item in embedded.table("items", Item)}
    slices = {part.name: [clip_of[item] for item in part.item_ids] for part in embedded.table("slices", Slice)}
    assert drawn.labelled == slices
    assert {drawn.films[clip] for clips in slices.values() for clip in clips} <= {
        row.source_id for row in embedded.table("sources", Source)
    }
    warn_of_few_films(recipe, embedded)
    few = (
        "warning: --per-slice 2 gives no slice or axis more than 2 sources: an interval, rank or lead needs at least 6; give more"
    )
    assert " ".join(capsys.readouterr().err.split()) == few
    warn_of_few_films(recipe.model_copy(update={"per_slice": 20}), embedded)
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("warning: camera_motion-low will tell nothing: 1 of 8 films has clips for it") == 1
    assert "size-low" not in said


def test_promised_mask_labels_are_what_the_masks_measure(embedded: Workspace) -> None:
    facts = {(row.subject_id, row.name): row.value for row in embedded.table("attributes", Attribute)}
    holes = embedded.table("corruptions", Corruption)
    agree = [facts[(row.corruption_id, f"{name}_level")] == facts[(row.corruption_id, f"{name}_level_measured")]
             for row in holes for name in ("size", "pose", "displacement")]  # fmt: skip
    assert len(holes) >= 16
    assert sum(agree) / len(agree) > 0.85
    assert all(facts[(row.corruption_id, "hole.empty_frames")] == 0 for row in holes)


def test_own_footage_has_rules_that_can_be_switched_off_one_by_one() -> None:
    every = devil.OWN_FOOTAGE_RULES
    assert devil.rules_of_footage([]) == tuple(every.values())
    assert [name for name, rule in every.items() if rule.flag] == ["text", "logo", "letterbox"]
    assert every["still"] not in devil.rules_of_footage([], without=["still"])
    assert devil.rules_of_footage([], without=list(every)) == ()
    own = Rule(attribute="still_fraction", at_most=1)
    assert [rule for rule in devil.rules_of_footage([own]) if rule.attribute == "still_fraction"] == [own]
    kept = devil.in_place(devil.DevilRecipe(rules=(*every.values(), Rule(attribute="letterbox", below=1))), [own])
    assert kept == (
        *(rule for rule in every.values() if rule.attribute != "still_fraction"),
        own,
    )  # the user's former one is gone
    of_flickr = devil.rules_of_footage([], least=(1920, 1080))
    assert not set(of_flickr) & set(every.values())


def test_motion_counts_a_second_where_rates_differ() -> None:
    recipe, published = devil.DevilRecipe(), devil.DevilRecipe(behaviour="as-published")
    assert recipe.motion_attribute([29.97, 30.0]) == "camera_motion_per_frame"
    assert recipe.motion_attribute([12.5, 50.0]) == "camera_motion_per_second"
    assert published.motion_attribute([12.5, 50.0]) == "camera_motion"
    assert not published.spread_levels


@pytest.mark.parametrize(
    ("behaviour", "measured"),
    [
        ("as-published", {"camera_motion": {"fallback": False}}),
        ("corrected", {"camera_motion_per_frame": {}, "camera_motion_confidence": {}}),
    ],
)
def test_as_published_clips_whose_features_agree_on_no_camera_stay_without_a_label(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, behaviour: str, measured: dict[str, object]
) -> None:
    asked: dict[str, dict[str, object]] = {}

    def measure_together(executor: object, clips: object, *, leaves: dict[str, dict[str, object]]) -> dict[str, SimpleNamespace]:
        asked.update(leaves)
        return {name: SimpleNamespace(columns=lambda *_: None) for name in leaves}

    monkeypatch.setattr(measuring, "measure_together", measure_together)
    devil._measured(devil.DevilRecipe(behaviour=behaviour), None, Workspace(tmp_path))
    assert {name: constants for name, constants in asked.items() if name.startswith("camera_motion")} == measured


@pytest.mark.long
def test_the_published_behaviour_builds_too(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=4)
    workspace = Workspace(tmp_path / "workspace")
    recipe = devil.DevilRecipe(width=128, height=80, per_slice=1, behaviour="as-published")
    with LocalExecutor(workspace, workers=0) as executor:
        folder, dataset = build(recipe, [SourceSpec("folder", {"folder": str(tmp_path / "sources")})], executor, workspace)
    assert dataset.left_out == {
        f"bg_scene_motion-{level}": f"no clip is labelled bg_scene_motion_level '{level}'" for level in ("low", "high")
    }
    by_id = {row["item_id"]: row for row in dataset.items}
    first = {part.name: by_id[part.item_ids[0]]["generator_parameters"] for part in dataset.slices}
    assert (first["size-low"]["index"], first["size-low"]["reverse"]) == (230, True)
    assert first["pose-high"]["index"] == 230
    assert verify(folder).problems == []


@pytest.mark.long
def test_other_options_in_one_workspace_give_what_a_fresh_build_gives(tmp_path: Path) -> None:
    """And the workspace may lie among the sources: what we made is not footage."""
    sources = write_sources(tmp_path / "sources", count=3)
    source = SourceSpec("folder", {"folder": str(sources)})
    made = {}
    for name, behaviours in (("sources/inside", ("corrected", "as-published")), ("fresh", ("as-published",))):
        for behaviour in behaviours:
            workspace = Workspace(tmp_path / name)
            recipe = devil.DevilRecipe(width=64, height=48, per_slice=1, behaviour=behaviour)  # type: ignore[arg-type]
            with LocalExecutor(workspace, workers=0) as executor:
                for what in ("exports", "published"):
                    shutil.rmtree(workspace.path / what, ignore_errors=True)
                (workspace.path / "export.json").unlink(missing_ok=True)  # which version that was
                folder, _ = build(recipe, [source], executor, workspace)
        made[name] = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert made["sources/inside"] == made["fresh"]


def test_two_clips_give_one_low_and_one_high(tmp_path: Path) -> None:
    write_sources(tmp_path / "sources", count=2)
    workspace = Workspace(tmp_path / "workspace")
    with LocalExecutor(workspace, workers=0) as executor:
        _, dataset = build(
            devil.DevilRecipe(width=64, height=48, per_slice=3),
            [SourceSpec("folder", {"folder": str(tmp_path / "sources")})],
            executor,
            workspace,
        )
    members = {part.name: part.item_ids for part in dataset.slices}
    assert len(members["camera_motion-low"]) == len(members["camera_motion-high"]) == 1
    assert members["camera_motion-low"] != members["camera_motion-high"]
    assert len(members["size-low"]) == 2


@pytest.mark.real
@pytest.mark.long
def test_real_videos_all_go_through_a_build(assets: Path, tmp_path: Path) -> None:
    """The smallest file of each folder, none above 1.6 megabytes; bench/real_videos.py takes all."""
    videos, workspace = tmp_path / "videos", Workspace(tmp_path / "workspace")
    folders: dict[Path, list[Path]] = {}
    for path in (path for path in sorted((assets / "videos").rglob("*.*")) if path.stat().st_size < 1_600_000):
        folders.setdefault(path.parent, []).append(path)
    for some in folders.values():
        smallest = min(some, key=lambda path: path.stat().st_size)
        (videos / smallest.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(smallest, videos / smallest.parent.name)
    recipe = devil.DevilRecipe(width=208, height=120, per_slice=2)
    source = SourceSpec("folder", {"folder": str(videos)})
    with LocalExecutor(workspace, workers=2) as executor:
        folder, dataset = build(recipe, [source], executor, workspace)
    found = {piece.uri for piece in FolderSource(folder=str(videos)).footage()}
    sources = {row.source_id: row.uri for row in workspace.table("sources", Source)}
    with_clips = {sources[clip.source_id] for clip in workspace.table("clips", Clip)}
    refused = {row.name for row in workspace.table("rejected", Rejection) if row.step != "pair"}
    assert with_clips | refused == found
    assert len(with_clips) >= 5
    probed = workspace.table("attributes", Attribute, step="probe")
    frames = {row.subject_id: row.value for row in probed if row.name == "probe.frames"}
    assert all(clip.end_frame <= frames[clip.source_id] for clip in workspace.table("clips", Clip))
    assert len(dataset.slices) == 8
    row = frozen.load(folder).items[0]
    assert video.read_frames(folder / row["truth_file_name"]).shape == (row["frames"], 120, 208, 3)


def test_slices_without_labels_of_people_tell_how_they_get_them(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    left_out = {f"bg_scene_motion-{level}": "no clip is labelled" for level in ("low", "high")}
    made = Dataset("n", {}, (), (), left_out, {}, {})
    assert devil.scene_motion_words(workspace, replace(made, left_out={"size-low": "no mask"})) is None
    assert "write it into a CSV for --labels, or ask raters" in str(devil.scene_motion_words(workspace, made))
    answer = Attribute("c", "bg_scene_motion", 0.25, None, "annotate", "1")
    workspace.write_table("attributes", "annotate.study", [answer], Attribute)
    words = str(devil.scene_motion_words(workspace, made))
    assert "raters' answers give a share for 1 clip of the workspace, and low and high need two" in words
    assert words.endswith("ask about more of them or add films, and run the same command again with --replace")


def test_a_dataset_that_is_added_to_is_never_to_be_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Dataset("n", {}, (), (), {"bg_scene_motion-low": "no clip is labelled"}, {}, {})
    monkeypatch.setattr(devil, "appended", lambda workspace: Published(tmp_path, made))
    words = str(devil.scene_motion_words(Workspace(tmp_path / "w"), made))
    assert words.endswith("ask raters (inpaintbench annotate new devil_labels), and run the same command again")
