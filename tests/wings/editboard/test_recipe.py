"""Clips with prompts, from the material that comes with the program and from folders as others keep them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from built import built, check_same_bytes
from datasets import load_dataset
from PIL import Image
from program import run_here

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.proxies import item_subjects
from inpaintbench.curation.nearer import window
from inpaintbench.curation.normalizers.sizing import Cover
from inpaintbench.errors import InputError, RunError, UndeclaredNeedError, UnknownNameError
from inpaintbench.eval.methods.edits import EditFlicker, EditRecolour, EditShift, EditStyle
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.export.second_decoder import available
from inpaintbench.export.verify import verify
from inpaintbench.recipes.settings import build, corrupt, export
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.recipes.versions import Asked
from inpaintbench.types import EDIT_TASKS, Answer, Attribute, Clip, Dataset, Frames, Hole, Plain
from inpaintbench.wings.editboard.recipe import QUESTION, EditingRecipe, warnings
from inpaintbench.workspace import Workspace

SIDE = 128
DEMO = SourceSpec("embedded_edits", {"count": 2, "side": SIDE, "frames": 4})
RECIPE = EditingRecipe(side=SIDE)


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Path, Dataset]:
    return built(tmp_path_factory.mktemp("editing") / "workspace", RECIPE, DEMO, workers=0)


def row_of(dataset: Dataset, task: str, place: int = 0) -> Plain:
    return [row for row in dataset.items if row["task"] == task][place]


# What is published


def test_every_task_is_a_slice_that_loads_and_verifies(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    _, folder, dataset = benchmark
    # A second decoder that starts quickly will do here: it is about masks and columns, not about the codec.
    result = verify(folder, decoder="ffmpeg" if "ffmpeg" in available() else None)
    assert (result.problems, result.configs, result.largest_difference or 0) == ([], 5, 0)
    assert result.cells == 2 * sum(2 + (row["task"] == "SOSA") for row in dataset.items)
    assert [part.name for part in dataset.slices] == ["all", *(f"task-{task}" for task in EDIT_TASKS)]
    for task in ("SOSA", "SE"):
        rows = load_dataset(str(folder), f"task-{task}", split="test", cache_dir=str(tmp_path))
        assert set(rows["task"]) == {task}
        assert len(rows) == len(set(zip(rows["clip_id"], rows["target_prompt"], strict=True))) == 4
        assert all(rows["source_prompt"])
        masks = rows.cast_column("object_mask", rows.features["object_mask"].__class__(decode=False))["object_mask"]
        assert [mask is not None for mask in masks] == [task == "SOSA"] * 4
    row = dataset.items[0]
    assert row["input_file_name"] == row["truth_file_name"]
    assert not (folder / "inputs").exists()
    assert 0.7 < row["attributes"]["warp_valid_share"] <= 1
    assert row["encode_crf"] == 0


def test_paired_objects_are_shown_as_they_are_and_from_nearer(tmp_path: Path) -> None:
    large = SourceSpec("embedded_edits", {"count": 12, "side": 256, "frames": 4})
    recipe = RECIPE.model_copy(update={"paired": True})
    workspace, folder, dataset = built(tmp_path / "workspace", recipe, large, workers=0)
    (axis,) = dataset.facts["axes"]
    assert (axis["name"], axis["levels"]) == ("object_size", ["small", "large"])
    groups: dict[str, dict[str, Plain]] = {}
    for row in dataset.items:
        if group := row["attributes"].get("pair.object_size"):
            groups.setdefault(group, {})[row["attributes"]["axis.object_size"]] = row
    assert len(groups) >= 2
    slices = {part.name: set(part.item_ids) for part in dataset.slices}
    for level in axis["levels"]:
        assert slices[f"object_size-{level}"] == {of[level]["item_id"] for of in groups.values()}
    films = workspace.table("axis_clips", Clip, step="axis_clips.large")
    masks = {row.subject_id: str(row.blob) for row in workspace.table("attributes", Attribute, step="object_masks.large")}
    for of in groups.values():
        small, near = of["small"], of["large"]
        for same in ("task", "source_prompt", "target_prompt", "source_id", "split", "width", "height", "frames", "fps"):
            assert small[same] == near[same]
        assert near["generator_parameters"]["of_clip"] == small["clip_id"]
        shares = [row["attributes"]["object_fraction"] for row in (small, near)]
        mask = video.read_hole(folder / near["object_mask_file_name"])
        assert mask.mean() == pytest.approx(shares[1])
        assert near["attributes"]["warp_valid_share"] > 0.5
        # A window of the film, which is at least as large as the clip, holds all of the object.
        (film,) = (row for row in films if row.source_id == near["source_id"])
        rows, columns = window(video.read_hole(workspace.blobs.path(masks[film.clip_id])))
        assert 128 <= rows.stop - rows.start == columns.stop - columns.start <= 181
        assert shares[1] == pytest.approx(shares[0] * (256 / (rows.stop - rows.start)) ** 2, rel=0.05)
        whole, seen = (video.read_frames(path) for path in (workspace.blobs.path(film.blob), folder / near["truth_file_name"]))
        for frame, own in zip(whole[:, rows, columns], seen, strict=True):
            assert (Cover(width=128, height=128).apply(frame, pixel_aspect=1.0) == own).all()
    unpaired = built(tmp_path / "unpaired", RECIPE, large, workers=0)[2]
    assert {row["item_id"] for row in unpaired.items} == {row["item_id"] for row in dataset.items} - slices["object_size-large"]
    reasons = {row.reason for row in workspace.table("rejected", Rejection)}
    assert "its object does not stay within half of the area of the frame, so it cannot be shown from nearer" in reasons
    with pytest.raises(ValueError, match="nobody shows them from nearer"):
        EditingRecipe(paired=True, behaviour="as-published")


def test_a_method_sees_the_clip_both_prompts_and_the_mask_if_it_says_so(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    row = row_of(dataset, "SOSA")
    view = frozen.input_view(folder, row)
    np.testing.assert_array_equal(view.input, video.read_frames(folder / row["truth_file_name"]))
    assert view.prompts[:3] == (row["source_prompt"], row["target_prompt"], None)
    assert "instruction" not in row
    assert view.object_mask.shape == view.input.shape[:3]
    assert view.object_mask.mean() == pytest.approx(row["attributes"]["object_fraction"])
    assert not view.has("hole")
    assert not view.has("truth")
    with pytest.raises(UndeclaredNeedError):
        view.declaring("some method", ("input", "prompts")).object_mask  # noqa: B018
    other = frozen.input_view(folder, row_of(dataset, "SE"))
    assert not other.has("object_mask")
    assert other.prompts.target == row_of(dataset, "SE")["target_prompt"]


def test_a_metric_sees_whole_frames_prompts_and_mask(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    _, folder, dataset = benchmark
    row = row_of(dataset, "SOSA")
    edit = EditFlicker(levels=9).inpaint(frozen.input_view(folder, row))
    (view,) = frozen.scoring_views(folder, row, predictions=[lambda: edit])
    np.testing.assert_array_equal(view.composite, edit)
    np.testing.assert_array_equal(view.object_mask, frozen.input_view(folder, row).object_mask)
    assert view.prompts.source == row["source_prompt"]


def test_the_same_bytes_for_any_number_of_workers_and_when_exported_again(
    benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path
) -> None:
    workspace, folder, _ = benchmark
    many, _, _ = built(tmp_path / "many", RECIPE, DEMO, workers=2)
    check_same_bytes(many.path, workspace.path)
    again, _ = export(RECIPE, workspace, target=tmp_path / "again")
    for path in folder.rglob("*"):
        assert path.is_dir() or (again / path.relative_to(folder)).read_bytes() == path.read_bytes()


def test_a_mask_that_was_changed_is_found(benchmark: tuple[Workspace, Path, Dataset], tmp_path: Path) -> None:
    workspace, _, dataset = benchmark
    folder, _ = export(RECIPE, workspace, target=tmp_path / "spoilt")
    name = row_of(dataset, "SOSA")["object_mask_file_name"]
    hole = video.read_hole(folder / name)
    hole[0, 0, 0] ^= True
    video.write_hole(folder / name, hole, fps=30)
    assert f"{name}: decoded object mask differs from the manifest" in verify(folder).problems


# The right ranking of edits that are known


def references(truth: Frames, edit: Frames, mask: Hole | None) -> tuple[float, float | None]:
    """FF-alpha as EditBoard's release has it, and the semantic score, straight from their definitions."""
    grey = [cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY) for frame in truth]
    rows, columns = np.mgrid[: truth.shape[1], : truth.shape[2]].astype(np.float32)
    scores = []
    for place in range(len(truth) - 1):
        still = np.zeros((*grey[0].shape, 2), np.float32)
        flow = cv2.calcOpticalFlowFarneback(grey[place], grey[place + 1], still, 0.5, 3, 15, 3, 5, 1.2, 0)
        maps = columns - flow[..., 0], rows - flow[..., 1]
        source, edited = (cv2.remap(one[place], *maps, cv2.INTER_LINEAR) for one in (truth, edit))
        left = np.abs(truth[place + 1].astype(int) - source).astype(np.uint8)
        valid = cv2.cvtColor(left, cv2.COLOR_RGB2GRAY) <= 5
        scores.append(np.abs(edit[place + 1].astype(int) - edited).max(axis=2)[valid].mean())
    changed = np.abs(edit.astype(int) - truth).max(axis=3)
    outside = None if mask is None else float(np.mean([one[~where].mean() for one, where in zip(changed, mask, strict=True)]))
    return float(np.mean(scores)), outside


@pytest.mark.parametrize("place", [0, 2])
def test_fidelity_ranks_known_edits_as_they_are(benchmark: tuple[Workspace, Path, Dataset], place: int) -> None:
    _, folder, dataset = benchmark
    view = frozen.input_view(folder, row_of(dataset, "SOSA", place))

    def scores(method: Any) -> tuple[float, float]:
        alpha, semantic = references(view.input, method.inpaint(view), view.object_mask)
        assert semantic is not None
        return alpha, semantic

    flicker = [scores(EditFlicker(levels=levels)) for levels in (0, 3, 8, 20)]
    assert [alpha for alpha, _ in flicker] == sorted({alpha for alpha, _ in flicker})
    assert [semantic for _, semantic in flicker] == sorted({semantic for _, semantic in flicker})
    assert flicker[0][1] == 0
    recolour, shift, far, style = (
        scores(method)[1] for method in (EditRecolour(), EditShift(pixels=2), EditShift(pixels=8), EditStyle())
    )
    assert 0 == recolour < shift < far < style
    # A colour that stays is steady; the same amount of change that comes and goes is not.
    assert scores(EditRecolour())[0] < flicker[2][0]


# Import


def square_clip(root: Path, name: str, *, height: int = 40, width: int = 60, dark: int = 90) -> None:
    """A white square that moves on grey noise, darker below, and its mask, which is dark grey."""
    rng = np.random.default_rng(7)
    for place in range(3):
        frame = rng.integers(90, 110, (height, width, 3), np.uint8)
        frame[height // 2 :] = rng.integers(dark, 110, (height - height // 2, width, 3), np.uint8)
        mask = np.zeros((height, width, 3), np.uint8)
        frame[8:30, 20 + place : 40 + place], mask[8:30, 20 + place : 40 + place] = 255, 40
        for folder, picture in ((name, frame), (f"{name}_mask", mask)):
            (root / folder).mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).save(root / folder / f"{place}.png")


def spec(root: Path, *rows: str, **constants: Any) -> SourceSpec:
    path = root.parent / "prompts.csv"
    path.write_text("\n".join(["clip,source_prompt,task,target_prompt,object", *rows]) + "\n")
    return SourceSpec("edit_clips", {"folder": str(root), "prompts": str(path), **constants})


BOTH = ("a,a square,SOSA,a red square,", "a,a square,SOSA,a blue square,")


@pytest.mark.parametrize("behaviour", ["corrected", "as-published"])
def test_frames_and_masks_are_cropped_or_squashed_alike(behaviour: Any, tmp_path: Path) -> None:
    square_clip(tmp_path / "clips", "a")
    recipe = EditingRecipe(side=80, behaviour=behaviour)
    _, folder, dataset = built(tmp_path / "workspace", recipe, spec(tmp_path / "clips", *BOTH), workers=0)
    view = frozen.input_view(folder, dataset.items[0])
    assert view.input.shape == (3, 80, 80, 3)
    np.testing.assert_array_equal(view.object_mask, view.input.mean(axis=3) > 177)  # between grey and white
    ys, xs = np.nonzero(view.object_mask[0])
    shape = (int(np.ptp(ys)) + 1) / (int(np.ptp(xs)) + 1)
    assert shape == pytest.approx(22 / 20 if behaviour == "corrected" else 22 / 20 * 60 / 40, rel=0.04)


def test_frames_may_keep_their_size_and_every_level_of_a_mask_counts(tmp_path: Path) -> None:
    """As FiVE's evaluation reads the masks, which are coded as JPEG: whatever is not 0."""
    square_clip(tmp_path / "clips", "a")
    frames = [np.asarray(Image.open(tmp_path / "clips/a" / f"{place}.png")) for place in range(3)]
    for place in range(3):
        with Image.open(tmp_path / "clips/a_mask" / f"{place}.png") as mask:
            mask.convert("L").save(tmp_path / "clips/a_mask" / f"{place}.jpg", quality=60)
        (tmp_path / "clips/a_mask" / f"{place}.png").unlink()
    masks = [np.asarray(Image.open(tmp_path / "clips/a_mask" / f"{place}.jpg")) > 0 for place in range(3)]
    edits = spec(tmp_path / "clips", "a,a square,SOSA,a [red] square,", fewest_prompts=1)
    _, folder, dataset = built(tmp_path / "workspace", EditingRecipe(fit="none"), edits, workers=0)
    view = frozen.input_view(folder, dataset.items[0])
    np.testing.assert_array_equal(view.input, frames)
    np.testing.assert_array_equal(view.object_mask, masks)
    assert np.count_nonzero(masks) > 3 * 22 * 20  # what JPEG rings around the square
    assert view.prompts.target == "a red square"
    assert "fit" not in EditingRecipe().model_dump()
    for other in ({"paired": True}, {"behaviour": "as-published"}, {"side": 512}):
        with pytest.raises(ValueError, match="frames that keep their size"):
            EditingRecipe(fit="none", **other)


def test_what_a_clip_shows_is_told_by_the_file_else_by_raters_else_by_a_captioner(tmp_path: Path) -> None:
    for name in "abc":
        square_clip(tmp_path / "clips", name, width=60 + ord(name) % 8, dark=0)
    rows = [f"{name},{'a square' if name == 'a' else ''},SE,{style}," for name in "abc" for style in ("oil", "pencil")]
    workspace, source = Workspace(tmp_path / "workspace"), spec(tmp_path / "clips", *rows)

    def told(recipe: EditingRecipe) -> dict[str, set[str | None]]:
        with LocalExecutor(workspace, workers=0) as executor:
            _, dataset = build(recipe, [source], executor, workspace, asked=Asked(replace=True))
        unsaid = any(row["source_prompt"] is None for row in dataset.items)
        assert any(warning.startswith("nobody says what") for warning in warnings(dataset.items)) == unsaid
        return {name: {row["source_prompt"] for row in dataset.items if row["source_uri"] == name} for name in "abc"}

    plain = EditingRecipe(side=32)
    assert told(plain) == {"a": {"a square"}, "b": {None}, "c": {None}}
    clips = {row.clip_id: row for row in workspace.table("clips", Clip)}
    sources = {row["clip_id"]: row["source_uri"] for row in frozen.load(workspace.path / "exports" / "editing").items}
    answers = [
        Answer(clip, QUESTION, answer, None, 2, 1.0)
        for clip in clips
        if (answer := {"a": "not asked", "b": "a moving square", "c": None}[sources[clip]]) or sources[clip] == "c"
    ]
    workspace.write_table("answers", "import", answers, Answer)
    assert told(plain) == {"a": {"a square"}, "b": {"a moving square"}, "c": {None}}
    # Any attribute that gives text can be the captioner.
    hashed = told(EditingRecipe(side=32, captioner="perceptual_hash"))
    assert (hashed["a"], hashed["b"]) == ({"a square"}, {"a moving square"})
    ((caption,),) = [hashed["c"]]
    assert caption
    with pytest.raises(UnknownNameError, match="did you mean 'perceptual_hash'"):
        told(EditingRecipe(captioner="perceptual_has"))


def test_an_object_that_is_cropped_away_is_told(tmp_path: Path) -> None:
    square_clip(tmp_path / "clips", "a", width=200)  # the square lies left of the middle
    source = spec(tmp_path / "clips", *BOTH, "a,,SE,oil,", "a,,SE,pencil,")
    workspace, _, dataset = built(tmp_path / "workspace", EditingRecipe(side=40), source, workers=0)
    assert {row["task"] for row in dataset.items} == {"SE"}
    assert dataset.left_out == {f"task-{task}": f"no item has task '{task}'" for task in ("SOSA", "SOMA", "MOA")}
    reasons = {row.step: row.reason for row in workspace.table("rejected", Rejection) if row.step != "pair"}
    assert reasons == {
        "object_masks": "its object covers nothing of the clip, once scaled and cropped",
        "edits": "has no object mask, which SOSA needs",
    }
    with pytest.raises(RunError, match="not one edit can be asked for"):
        built(tmp_path / "other", EditingRecipe(side=40), spec(tmp_path / "clips", *BOTH), workers=0)


def test_one_object_of_several_and_only_the_first_frames(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    square_clip(root, "a")
    for place in range(3):
        values = np.zeros((40, 60), np.uint8)
        values[:20, 25:35], values[20:, 20:40] = 1, 2
        video.write_image(root / "a_mask" / f"{place}.png", values)
    rows = [f"a,a square,{task},{number} {task},{number}" for task in ("SOSA", "SOMA") for number in (1, 2)]
    recipe = EditingRecipe(side=40, frames=2, mask_tasks=("SOSA", "SOMA"))
    source = spec(root, *rows, fewest_prompts=1, mask_tasks=["SOSA", "SOMA"])
    _, folder, dataset = built(tmp_path / "workspace", recipe, source, workers=0)
    assert len(dataset.items) == 4
    for row in dataset.items:
        mask = frozen.input_view(folder, row).object_mask
        expected = np.zeros((2, 40, 40), np.bool_)
        rows_, columns = (slice(0, 20), slice(15, 25)) if row["target_prompt"].startswith("1") else (slice(20, 40), slice(10, 30))
        expected[:, rows_, columns] = True
        np.testing.assert_array_equal(mask, expected)
        assert row["generator_parameters"]["object"] == int(row["target_prompt"][0])


def test_instructions_and_tasks_of_ones_own_travel_with_their_items(tmp_path: Path) -> None:
    root = tmp_path / "clips"
    square_clip(root, "a")
    rows = (
        {"task": "swap", "target_prompt": "a red square", "instruction": "make it red", "object": 40},
        {"task": "swap", "instruction": "make it blue", "source_prompt": "a square"},
        {"task": "global_style", "target_prompt": "a square in oil", "source_prompt": "a square"},
    )
    (tmp_path / "prompts.json").write_text(json.dumps({"a": rows}))
    constants = {"folder": str(root), "prompts": str(tmp_path / "prompts.json"), "fewest_prompts": 1}
    _, folder, dataset = built(tmp_path / "workspace", EditingRecipe(side=40), SourceSpec("edit_clips", constants), workers=0)
    assert [part.name for part in dataset.slices] == ["all", "task-global_style", "task-swap"]
    assert dataset.left_out == {}
    by_words = {row["instruction"] or row["target_prompt"]: row for row in dataset.items}
    red, blue, oil = (by_words[words] for words in ("make it red", "make it blue", "a square in oil"))
    assert frozen.input_view(folder, red).prompts[:3] == (None, "a red square", "make it red")
    assert frozen.input_view(folder, blue).prompts[:3] == ("a square", "", "make it blue")
    assert frozen.input_view(folder, oil).prompts[:3] == ("a square", "a square in oil", None)
    assert [frozen.input_view(folder, row).has("object_mask") for row in (red, blue, oil)] == [True, False, False]
    assert blue["target_prompt"] is None
    assert [frozen.asked_of_edit(row) for row in (red, blue, oil)] == ["a red square", "make it blue", "a square in oil"]
    subjects = {one.subject_id: one.prompt for one in item_subjects(dataset, root=folder, slices=(), prompt="prompts")}
    assert subjects[blue["item_id"]] == "a square → make it blue"
    assert all(map(frozen.is_edit, dataset.items))
    rows_read = load_dataset(str(folder), "task-swap", split="test", cache_dir=str(tmp_path))
    assert set(rows_read["instruction"]) == {"make it red", "make it blue"}
    assert verify(folder, decoder="ffmpeg" if "ffmpeg" in available() else None).problems == []
    card = (folder / "README.md").read_text()
    assert "others are the builder's own" in card
    assert "- `instruction`: what is to be done to it." in card
    told = warnings(dataset.items)
    assert not any("of the paper" in warning for warning in told)
    assert (
        "1 of 3 items have an instruction alone, where clip_similarity and success_rate have no value: add target_prompt to the"
        " prompts"
    ) in told


def test_columns_of_others_are_named_on_the_command_line(tmp_path: Path) -> None:
    square_clip(tmp_path / "clips", "a")
    table, out = tmp_path / "edits.csv", tmp_path / "workspace"
    table.write_text("video_name,edit_prompt\na,make it red\n")
    command = ("build", "editing", "--out", out, "--workers", "0", "--side", "40", "--fewest-prompts", "1")
    own = (*command, "--clips", tmp_path / "clips", "--prompts", table)
    done = run_here(*own)
    assert (done.returncode, out.exists()) == (1, False)
    mapping = "clip=video_name,target_prompt=edit_prompt"
    assert f"add --columns {mapping}" in " ".join(done.stderr.split())
    done = run_here(*own, "--columns", mapping)
    assert done.returncode == 0, done.stderr
    (row,) = frozen.load(out / "exports" / "editing").items
    assert (row["task"], row["target_prompt"]) == ("edit", "make it red")
    for options, words in (
        (("--clips", tmp_path, "--prompts", table, "--columns", "clip"), "'clip' is not OURS=THEIRS"),
        (("--demo", "--columns", mapping), "say which table: --prompts FILE"),
    ):
        wrong = run_here(*command, *options)
        assert wrong.returncode == 2
        assert words in " ".join(wrong.stderr.split())


# What the builder is told


def facts(**changed: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {"task": "SE", "clip_id": str(clip), "source_prompt": "a bear", "attributes": {"warp_valid_share": 0.3 + 0.05 * clip}}
        for clip in range(10)
    ]
    return [row | changed for row in rows]


def test_an_upright_clip_in_which_nothing_moves_is_a_clip_like_others(tmp_path: Path) -> None:
    (tmp_path / "clips" / "tall").mkdir(parents=True)
    for place in range(3):
        picture = np.random.default_rng(5).integers(0, 256, (64, 48, 3), np.uint8)
        video.write_image(tmp_path / "clips" / "tall" / f"{place}.png", picture)
    given = spec(tmp_path / "clips", "tall,a wall,SE,a wall in oil,", "tall,a wall,SE,a pencil drawing of a wall,")
    _, folder, dataset = built(tmp_path / "workspace", EditingRecipe(side=40), given, workers=0)
    truth = video.read_frames(folder / dataset.items[0]["truth_file_name"])
    assert truth.shape == (3, 40, 40, 3)
    assert (truth == truth[0]).all()
    assert dataset.items[0]["attributes"]["warp_valid_share"] > 0.9


def test_warnings() -> None:
    assert warnings(facts()) == []  # the last clip has 0.75
    assert warnings(facts()[:8]) == [
        "SE has 8 clips, fewer than the 10 of the paper: its means will be unsure",
        "no clip reaches a valid share of 0.70; the best has 0.65: FF-alpha will have no value, only FF-beta",
    ]
    assert warnings(facts(source_prompt=None))[0].startswith("nobody says what the clip shows for 10 of 10 items")
    assert "no clip reaches a valid share of 0.70: FF-alpha" in warnings(facts(attributes={"warp_valid_share": None}))[0]
    with pytest.raises(ValueError, match="did you mean 'SOSA'"):
        EditingRecipe(mask_tasks=("SOS",))


def test_the_command_tells_faults_before_there_is_a_folder_and_warnings_at_the_end(tmp_path: Path) -> None:
    square_clip(tmp_path / "clips", "a")
    (tmp_path / "clips" / "a_mask" / "2.png").unlink()
    constants = spec(tmp_path / "clips", *BOTH, "b,,SE,oil,").constants
    out = tmp_path / "workspace"
    command = ("build", "editing", "--out", out, "--workers", "0", "--side", "40")
    own = (*command, "--clips", constants["folder"], "--prompts", constants["prompts"])
    done = run_here(*own)
    assert done.returncode == 1
    for words in ("3 things are wrong", "3 frames but 2 masks", "1 target prompt in SE", "no folder of frames and no video"):
        assert words in " ".join(done.stderr.split())
    assert not out.exists()
    square_clip(tmp_path / "clips", "a")
    spec(tmp_path / "clips", *BOTH)
    done = run_here(*own)
    assert done.returncode == 0, done.stderr
    assert "warning: SOSA has 1 clip, fewer than the 10 of the paper" in done.stderr
    for options, words in (
        ((), "give either --clips FOLDER or --demo"),
        (("--demo", "--prompts", constants["prompts"]), "the demo has prompts and masks of its own"),
        (("--clips", constants["folder"]), "--prompts FILE"),
    ):
        assert words in " ".join(run_here(*command, *options).stderr.split())


def test_clips_without_prompts_are_no_benchmark(tmp_path: Path) -> None:
    source = SourceSpec("embedded", {"count": 1, "width": 96, "height": 96, "frames": 3})
    with pytest.raises(InputError, match="come without prompts"):
        built(tmp_path / "workspace", RECIPE, source, workers=0)


@pytest.mark.long
@pytest.mark.real
def test_the_sample_of_editboard_keeps_its_numbers(assets: Path, tmp_path: Path) -> None:
    sample = assets / "edited" / "edited-editboard-bear" / "sample"
    rows = [{"clip": "bear/", "task": "SOSA", "source_prompt": "a bear", "target_prompt": one} for one in ("white", "panda")]
    (tmp_path / "prompts.jsonl").write_text("\n".join(map(json.dumps, rows)))
    source = SourceSpec("edit_clips", {"folder": str(sample), "prompts": str(tmp_path / "prompts.jsonl")})
    _, folder, dataset = built(tmp_path / "workspace", EditingRecipe(), source, workers=0)
    row = dataset.items[0]
    assert row["attributes"]["warp_valid_share"] == pytest.approx(0.7898, abs=0.001)
    view, white = frozen.input_view(folder, row), video.read_image_folder(sample / "bear_white")
    alpha, semantic = references(view.input, white, view.object_mask)
    assert semantic == pytest.approx(34.8610, abs=1e-4)
    assert alpha == pytest.approx(15.5556, abs=0.01)
    assert references(view.input, view.input, view.object_mask)[1] == 0


def test_items_are_made_again_when_answers_came_later(benchmark: tuple[Workspace, Path, Dataset]) -> None:
    workspace, _, dataset = benchmark
    with LocalExecutor(workspace, workers=0) as executor:
        corrupt(RECIPE, executor, workspace)
        with pytest.raises(InputError, match="takes no masks"):
            corrupt(RECIPE, executor, workspace, masks=Path())
    assert [row["item_id"] for row in export(RECIPE, workspace)[1].items] == [row["item_id"] for row in dataset.items]
