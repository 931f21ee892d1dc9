from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inpaintbench import frozen, video
from inpaintbench.compute import Compute
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import usual
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import score_all
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.verify import verify
from inpaintbench.masks.axes import AXES
from inpaintbench.recipes import paired
from inpaintbench.recipes.devil import DevilRecipe
from inpaintbench.recipes.settings import build
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.steps import AXES_OF_ITEMS
from inpaintbench.types import Dataset, Prediction, Score
from inpaintbench.workspace import Workspace

FILMS = SourceSpec("embedded", {"count": 12, "width": 96, "height": 64, "frames": 12, "stills_and_pans": True})
RECIPE = DevilRecipe(
    width=96, height=64, clip_frames=12, shortest_clip_frames=12, level_share=0.5, per_slice=6, masks_per_clip=1, design="paired",
    sliced_by=("camera_motion", "size", "pose"),
)  # fmt: skip


def built(out: Path, recipe: DevilRecipe = RECIPE, *, source: SourceSpec = FILMS, workers: int = 1) -> tuple[Path, Dataset]:
    workspace = Workspace(out)
    with LocalExecutor(workspace, workers=workers) as executor:
        return build(recipe, [source], executor, workspace)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Dataset]:
    return built(tmp_path_factory.mktemp("paired") / "workspace")


def groups_of(dataset: Dataset, axis: str) -> dict[str, dict[str, Any]]:
    """Group -> level -> the row of its item."""
    found: dict[str, dict[str, Any]] = {}
    for row in dataset.items:
        if group := row["attributes"].get(f"pair.{axis}"):
            level = row["attributes"][f"axis.{axis}"]
            assert level not in found.setdefault(group, {})
            found[group][level] = row
    return found


def test_versions_of_a_clip_differ_in_one_attribute_of_the_hole(benchmark: tuple[Path, Dataset]) -> None:
    root, dataset = benchmark
    assert [axis["name"] for axis in dataset.facts["axes"]] == ["size", "pose"]
    slices = {part.name: set(part.item_ids) for part in dataset.slices}
    for axis, other in (("size", "pose"), ("pose", "size")):
        found = groups_of(dataset, axis)
        assert len(found) == 6
        for group, versions in found.items():
            low, high = versions["low"], versions["high"]
            assert low["truth_rgb_sha256"] == high["truth_rgb_sha256"]
            assert group in {low["item_id"], high["item_id"]}  # the unchanged item is one of them
            named = [row["generator_parameters"] for row in (low, high)]
            assert {key for key in named[0] if named[0][key] != named[1][key]} == {"preset"}
            attributes = [row["attributes"] for row in (low, high)]
            for name in (other, "displacement"):
                assert len({one[f"{name}_level"] for one in attributes}) == 1
            assert [one[f"{axis}_level"] for one in attributes] == ["low", "high"]
        for level in ("low", "high"):
            assert slices[f"{axis}-{level}"] == {versions[level]["item_id"] for versions in found.values()}
    sizes = [[video.read_hole(frozen.proved(root, row, "hole").path).mean() for row in pair.values()]
             for pair in groups_of(dataset, "size").values()]  # fmt: skip
    assert all(max(pair) > 2 * min(pair) for pair in sizes)


def test_slices_of_what_films_show_hold_each_clip_once_and_unchanged(benchmark: tuple[Path, Dataset]) -> None:
    _, dataset = benchmark
    rows = {row["item_id"]: row for row in dataset.items}
    for level in ("low", "high"):
        (part,) = (part for part in dataset.slices if part.name == f"camera_motion-{level}")
        assert len({rows[item]["clip_id"] for item in part.item_ids}) == len(part.item_ids) in (5, 6)
        assert {rows[item]["attributes"]["camera_motion_level"] for item in part.item_ids} == {level}
        for item in part.item_ids:
            own = rows[item]["attributes"]
            assert {value for name, value in own.items() if name.startswith("pair.")} <= {item}


def test_unchanged_items_are_shared_by_axes_and_slices(benchmark: tuple[Path, Dataset]) -> None:
    root, dataset = benchmark
    assert "| `pose` | low, high | change of the hole's shape | the clip |" in (root / "README.md").read_text()
    labelled = sum(len(part.item_ids) for part in dataset.slices if part.name.startswith("camera_motion-"))
    # One version more for each of two axes of six of these clips.
    assert len(dataset.items) == labelled + 6 + 6


# Quarters of embedded films are too small for the axis of resolutions.
EVERY_OTHER = tuple(name for name in AXES if AXES.get(name).changes != "preset" and name != "resolution")


@pytest.mark.long
def test_every_axis_gives_items_that_verify_and_score(tmp_path: Path) -> None:
    films = SourceSpec("embedded", {"count": 4, "width": 160, "height": 96, "frames": 48, "stills_and_pans": True})
    recipe = DevilRecipe(
        width=160, height=96, clip_frames=48, shortest_clip_frames=48, level_share=0.5, per_slice=2, design="paired",
        axes=EVERY_OTHER, sliced_by=("camera_motion",),
    )  # fmt: skip
    root, dataset = built(tmp_path / "workspace", recipe, source=films)
    assert not verify(root).problems
    for axis in EVERY_OTHER:
        levels, found = AXES.get(axis).levels, groups_of(dataset, axis)
        assert {tuple(sorted(group)) for group in found.values()} == {tuple(sorted(levels))}
        truths = [{row["truth_rgb_sha256"] for row in versions.values()} for versions in found.values()]
        assert {len(group) for group in truths} == {len(levels) if AXES.get(axis).changes == "clip" else 1}
        assert len(found) == 2
    with LocalExecutor(Workspace(tmp_path / "run"), workers=1) as executor:
        predict(executor, dataset, root=root, method=MethodSpec("telea", "telea"))
        score_all(executor, dataset, root, ["telea"], "devil/corrected", ["psnr"], Compute())
        scores = executor.workspace.table("scores", Score)
    values = {(one.item_id, one.metric): one.value for one in scores if one.region == "hole"}
    assert {item for item, metric in values if metric == "psnr"} == {row["item_id"] for row in dataset.items}
    assert all(values[row["item_id"], "psnr"] is not None for row in dataset.items)


def test_masks_that_are_not_exact_are_scored_where_the_exact_hole_is(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"axes": ("mask_error",), "sliced_by": ("camera_motion",)})
    root, dataset = built(tmp_path / "workspace", recipe)
    assert usual(dataset) == "devil/mask_error"
    with LocalExecutor(Workspace(tmp_path / "run"), workers=0) as executor:
        predict(executor, dataset, root=root, method=MethodSpec("telea", "telea"))
        score_all(executor, dataset, root, ["telea"], usual(dataset), ["psnr"], Compute())
        scores = executor.workspace.table("scores", Score)
    values = {(one.item_id, one.region): one.value for one in scores}
    pairs = groups_of(dataset, "mask_error")
    assert len(pairs) >= 2
    for levels in pairs.values():
        exact, eroded = (levels[name]["item_id"] for name in ("exact", "eroded"))
        assert values[exact, "object"] == values[exact, "hole"] is not None
        # Black stays in its rim, which is not in the given mask.
        assert values[eroded, "object"] < values[eroded, "hole"]
        assert values[eroded, "object"] < values[exact, "object"]


@pytest.mark.parametrize("workers", [pytest.param(2, marks=pytest.mark.long)])
def test_worker_counts_leave_the_same_files(tmp_path: Path, workers: int) -> None:
    one, other = (built(tmp_path / str(count), workers=count)[1] for count in (1, workers))
    assert dict(one.files) == dict(other.files)


def test_another_design_in_the_same_workspace_leaves_nothing_of_the_first(tmp_path: Path) -> None:
    small = SourceSpec("embedded", {**FILMS.constants, "count": 4})
    recipe = RECIPE.model_copy(update={"per_slice": 2})
    built(tmp_path / "both", recipe, source=small)
    for what in ("exports", "published"):
        shutil.rmtree(tmp_path / "both" / what)
    (tmp_path / "both" / "export.json").unlink()  # which version that was
    slices = recipe.model_copy(update={"design": "slices"})
    both, fresh = (built(tmp_path / name, slices, source=small)[1] for name in ("both", "fresh"))
    assert both.files == fresh.files
    assert "axes" not in fresh.facts
    assert not any(name.startswith(("axis.", "pair.")) for row in fresh.items for name in row["attributes"])


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"design": "slices", "axes": ("size",)}, "--design paired"),
        ({"behaviour": "as-published"}, "a paired design is corrected"),
        ({"imperfect": ("hull",)}, "--axis mask_error"),
        ({"axes": ("siez",)}, "did you mean 'size'"),
        ({"design": "slices", "masks_per_clip": 2}, "give --design paired"),
        ({"axes": ("resolution",), "width": 240, "height": 136}, "a quarter of 240x136 is 60x34, and sides of 64 are asked for"),
    ],
)
def test_what_does_not_go_together_is_refused(choices: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, InputError), match=words):
        DevilRecipe(**{"design": "paired", **choices})


def test_further_masks_fill_up_what_clips_lack_and_no_clip_has_more_than_asked() -> None:
    clips = ["a", "b", "c"]
    for wanted in (-1, 2, 3):
        assert paired.under_masks(clips, most=4, wanted=wanted) == [("a", 0), ("b", 0), ("c", 0)]
    assert paired.under_masks(clips, most=4, wanted=5) == [("a", 0), ("b", 0), ("c", 0), ("a", 1), ("b", 1)]
    assert Counter(clip for clip, _ in paired.under_masks(clips, most=2, wanted=150)) == dict.fromkeys(clips, 2)


@given(
    counts=st.lists(st.integers(1, 12), min_size=1, max_size=12), most=st.integers(0, 60), seed=st.integers(0, 3),
)  # fmt: skip
def test_no_film_has_more_than_an_even_share_and_one_more(counts: list[int], most: int, seed: int) -> None:
    sources = {f"{film}-{clip}": str(film) for film, count in enumerate(counts) for clip in range(count)}
    taken = paired.in_turn(list(sources), sources, most, key=(seed,))
    assert len(set(taken)) == len(taken) <= most
    of_film = Counter(sources[clip] for clip in taken)
    assert len(of_film) == min(len(counts), most)
    if taken:
        assert max(of_film.values()) <= len(taken) / min(len(counts), len(taken)) + 1


def test_what_is_drawn_already_comes_first_of_its_film() -> None:
    sources = {f"{film}-{clip}": film for film in "abc" for clip in range(5)}
    taken = paired.in_turn(list(sources), sources, 3, key=(0,), first={"a-3", "b-1"})
    assert {"a-3", "b-1"} < set(taken)


def test_an_axis_that_no_clip_allows_is_left_out_with_the_reason(tmp_path: Path) -> None:
    small = SourceSpec("embedded", {**FILMS.constants, "count": 2})
    _, dataset = built(tmp_path, RECIPE.model_copy(update={"per_slice": 1, "axes": ("size", "resolution")}), source=small)
    assert set(dataset.left_out) == {"resolution-full", "resolution-half", "resolution-quarter"}
    assert set(dataset.left_out.values()) == {"a quarter of 96x64 is 24x16, and sides of 64 are asked for"}
    assert [part.name for part in dataset.slices if not part.name.startswith("camera_motion")] == ["size-low", "size-high"]
    assert [axis["name"] for axis in dataset.facts["axes"]] == ["size"]


def test_a_clip_that_an_axis_refuses_is_replaced_by_the_next_in_turn(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"axes": ("mask_error",), "sliced_by": (), "per_slice": 4})
    root, dataset = built(tmp_path / "workspace", recipe)
    workspace = Workspace(root.parents[1])
    refused = paired.refusals(workspace, "mask_error")
    assert refused
    assert all("IoU" in why for why in refused)
    assert len(groups_of(dataset, "mask_error")) == 4


def test_what_is_published_of_a_film_has_had_its_turns() -> None:
    sources = {f"{film}-{clip}": film for film in "abcd" for clip in range(6)}
    there = [f"a-{clip}" for clip in range(4)]
    more = paired.in_turn(list(sources), sources, 10, key=(0,), there=there)
    assert Counter(sources[clip] for clip in more) == {"b": 2, "c": 2, "d": 2}
    assert not paired.in_turn(list(sources), sources, 4, key=(0,), there=there)


def test_axes_of_still_clips_take_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AXES.get("pose"), "needs_still_camera", True)
    sources = {"a": "a", "b": "b", "c": "c"}
    drawn = paired.draw(
        {}, every=list(sources), still={"b"}, sources=sources, axes=["pose", "size"], per_slice=2, seed=0, members={}
    )
    assert drawn.axes["pose"] == ["b"]
    assert set(drawn.axes["size"]) < set(sources)
    assert "b" in drawn.axes["size"]
    none = paired.draw({}, every=["a"], still=set(), sources=sources, axes=["pose"], per_slice=2, seed=0, members={})
    assert none.left_out == {f"pose-{level}": "no clip has a still camera" for level in AXES.get("pose").levels}


def confirmed(dataset: Dataset) -> list[bool]:
    """Of each item on an axis, whether the hole is measured as the axis has it."""
    return [
        row["attributes"][f"{axis}_level_measured"] == level
        for axis in ("size", "pose")
        for group in groups_of(dataset, axis).values()
        for level, row in group.items()
    ]


def test_a_pair_is_measured_as_its_levels_say(benchmark: tuple[Path, Dataset]) -> None:
    # Of blobs in 12 frames a third are not as limber or stiff as their presets; they are drawn again.
    assert all(confirmed(benchmark[1]))
    assert len(confirmed(benchmark[1])) == 2 * 2 * 6


@pytest.mark.long
def test_a_pair_that_no_draw_gives_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "_DRAWS", 1)
    small = SourceSpec("embedded", {**FILMS.constants, "count": 8})
    root, once = built(tmp_path / "workspace", source=small)
    assert all(confirmed(once))
    refused = Counter(row.reason for row in Workspace(root.parents[1]).table("rejected", Rejection, step=AXES_OF_ITEMS))
    why = {axis: f"in 1 draws the {AXES.get(axis).property} is not measured as low and high" for axis in ("size", "pose")}
    assert refused.keys() <= set(why.values())
    assert refused[why["pose"]]
    assert len({refused[reason] + len(groups_of(once, axis)) for axis, reason in why.items()}) == 1


@pytest.mark.long
def test_who_remembers_what_other_items_show_gains_nothing(
    benchmark: tuple[Path, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, dataset = benchmark
    shown = [row[frozen.SHOWN] for row in dataset.items]
    assert sum(share > frozen.MOST_SHOWN for share in shown if share is not None) > len(shown) / 2
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    scores: dict[str, list[float]] = {}
    with LocalExecutor(Workspace(tmp_path), workers=1) as executor:
        for name in ("fallback", "remembering"):
            method = MethodSpec(name, "python_callable", {"address": f"remembering:{name}"})
            predict(executor, dataset, root=root, method=method)
            score_all(executor, dataset, root, [name], "devil/corrected", ["psnr"], Compute())
        for one in executor.workspace.table("scores", Score):
            if one.region == "hole":
                scores.setdefault(one.method, []).append(float(one.value or 0.0))
    assert len(scores["fallback"]) == len(dataset.items)
    assert sum(scores["remembering"]) / len(dataset.items) <= sum(scores["fallback"]) / len(dataset.items) + 0.2


def test_further_blobs_of_a_clip_are_pairs_of_their_own(tmp_path: Path) -> None:
    small = SourceSpec("embedded", {**FILMS.constants, "count": 4})
    one, more = (
        built(tmp_path / str(masks), RECIPE.model_copy(update={"masks_per_clip": masks}), source=small)[1] for masks in (1, 2)
    )
    assert {row["item_id"] for row in one.items} < {row["item_id"] for row in more.items}
    for axis in ("size", "pose"):
        assert (len(groups_of(one, axis)), len(groups_of(more, axis))) == (4, 6)
        for versions in groups_of(more, axis).values():
            assert len({row["generator_parameters"]["index"] for row in versions.values()}) == 1
    members = [{part.name: set(part.item_ids) for part in dataset.slices} for dataset in (one, more)]
    assert members[0]["camera_motion-low"] == members[1]["camera_motion-low"]  # each clip once
    bases = [row["generator_parameters"]["preset"] for row in more.items if row["item_id"] in groups_of(more, "size")]
    assert len(set(bases)) > len(
        {row["generator_parameters"]["preset"] for row in one.items if row["item_id"] in groups_of(one, "size")}
    )


def test_items_of_a_clip_decode_it_once(benchmark: tuple[Path, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, dataset = benchmark
    truths = {row["truth_file_name"] for row in dataset.items}
    read: Counter[str] = Counter()
    read_frames = video.read_frames

    def counted(path: Path, **how: Any) -> Any:
        read[path.name] += 1
        return read_frames(path, **how)

    monkeypatch.setattr(video, "read_frames", counted)
    with LocalExecutor(Workspace(tmp_path), workers=0) as executor:
        for begin in (
            lambda: predict(executor, dataset, root=root, method=MethodSpec("blank", "blank")),
            lambda: score_all(executor, dataset, root, ["blank"], "devil/corrected", ["mse"], Compute()),
        ):
            read.clear()
            begin()
            of_truths = {name: count for name, count in read.items() if name in {Path(one).name for one in truths}}
            assert set(of_truths.values()) == {1}
            assert len(of_truths) in (len(truths), len(truths) - 1)  # the last one of before is still there
        assert len(truths) < len(dataset.items)
        order = [row.item_id for row in executor.workspace.table("predictions", Prediction)]
    assert order == sorted(order)  # whoever was predicted first
