"""What run folders give, and what of it can be shown."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from study_world import few_items, pictures, predicted, run_by_hand

from inpaintbench import frozen, video
from inpaintbench.annotate.preparing.pictures import frames_of, hole_of
from inpaintbench.annotate.preparing.proxies import Candidates, item_subjects, read_runs, showable
from inpaintbench.errors import InputError, MediaError, UnknownNameError, VerifyError
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256
from inpaintbench.workspace import Workspace


@pytest.fixture(scope="module")
def root(benchmark: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return few_items(benchmark, tmp_path_factory.mktemp("candidates") / "dataset", sources=1)


@pytest.fixture(scope="module")
def run(root: Path) -> Path:
    return predicted(root, root.parent / "run", ("blank", "telea"))


def read(*runs: Path, methods: tuple[str, ...] = (), manifest: str = "any") -> Candidates:
    return read_runs([str(run) for run in runs], methods=methods, dataset_sha256=manifest)


@pytest.mark.long
def test_streams_give_what_reading_whole_files_gives(root: Path, run: Path) -> None:
    row = frozen.load(root).items[0]
    shape = (row["frames"], row["height"], row["width"])
    truth, hole = root / row["truth_file_name"], root / row["hole_file_name"]
    assert (np.stack(list(frames_of(truth, shape=shape))) == video.read_frames(truth)).all()
    assert (np.stack(list(hole_of(hole, shape=shape))) == video.read_hole(hole)).all()
    for path in (run / "blobs").glob("*/*"):
        assert (np.stack(list(frames_of(path, shape=shape))) == video.read_frames(path)).all()


def test_raters_may_read_the_texts_of_an_edit(root: Path) -> None:
    dataset = frozen.load(root)
    texts = {"source_prompt": "a cat", "target_prompt": "a blue cat"}
    edits = replace(dataset, items=({**dataset.items[0], **texts}, {**dataset.items[1], **texts, "source_prompt": None}))
    assert [one.prompt for one in item_subjects(edits, root=root, slices=(), prompt="prompts")] == [
        "a cat → a blue cat",
        "a blue cat",
    ]
    assert [one.prompt for one in item_subjects(edits, root=root, slices=(), prompt="source_prompt")] == ["a cat", ""]
    with pytest.raises(InputError, match="none of the 2 subjects has an attribute 'prompts' for raters to read"):
        item_subjects(replace(dataset, items=dataset.items[:2]), root=root, slices=(), prompt="prompts")


def test_items_without_a_truth_to_compare_with_are_not_asked_about(root: Path) -> None:
    dataset = frozen.load(root)
    hidden = replace(dataset, items=({**dataset.items[0], "truth_file_name": None}, *dataset.items[1:]))
    with pytest.raises(InputError, match="holds the truth of 1 items back"):
        item_subjects(hidden, root=root, slices=())


@pytest.mark.parametrize(("width", "height"), [(37, 51), (64, 48)])
def test_streamed_holes_may_have_odd_sides(tmp_path: Path, width: int, height: int) -> None:
    hole = np.random.default_rng(1).random((5, height, width)) < 0.5
    video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    assert (np.stack(list(hole_of(tmp_path / "hole.mp4", shape=hole.shape))) == hole).all()


@pytest.mark.parametrize(
    ("shape", "told"),
    [((5, 48, 66), "it is 64x48, not 66x48"), ((4, 48, 64), "more than 4 frames"), ((6, 48, 64), "it has 5 frames, not 6")],
)
def test_streams_of_another_shape_end_with_a_sentence(tmp_path: Path, shape: tuple[int, int, int], told: str) -> None:
    video.write_lossless(tmp_path / "clip.mp4", np.zeros((5, 48, 64, 3), np.uint8), fps=25.0)
    with pytest.raises(MediaError, match=told):
        list(frames_of(tmp_path / "clip.mp4", shape=shape))


def test_all_methods_of_all_runs_are_candidates_unless_some_are_named(root: Path, run: Path, tmp_path: Path) -> None:
    other = predicted(root, tmp_path / "other", ("median",), items=1)
    items = [row["item_id"] for row in frozen.load(root).items]
    found = read(run, other)
    assert found.methods == ("blank", "median", "telea")
    assert set(found.found) == {(item, "blank") for item in items} | {(item, "telea") for item in items} | {(items[0], "median")}
    assert found.why_not(items[0], found.methods) is None
    assert found.why_not(items[1], ("blank", "median")) == "median has no prediction of it"
    assert read(other, run, methods=("telea",)).methods == ("telea",)
    assert read(run, run).methods == ("blank", "telea")


def test_runs_that_cannot_be_used_are_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"run folder '.*nowhere' cannot be used: '.*nowhere' is not a workspace"):
        read(tmp_path / "nowhere")
    Workspace(tmp_path / "empty")
    with pytest.raises(InputError, match="holds no predictions; make them with `inpaintbench eval run`"):
        read(tmp_path / "empty")
    shutil.copytree(run, tmp_path / "copy")
    with pytest.raises(InputError, match=r"the runs '.*' and '.*copy' both have a method '(blank|telea)'"):
        read(run, tmp_path / "copy")
    with pytest.raises(UnknownNameError, match="unknown method 'tela', did you mean 'telea'"):
        read(run, methods=("tela",))


def test_a_run_on_another_dataset_is_refused(root: Path, run: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(run, tmp_path / "copy"))
    manifest = file_sha256(root / frozen.MANIFEST)
    (copy / "dataset.sha256").write_text(manifest + "\n")
    assert read(copy, manifest=manifest).methods == ("blank", "telea")
    with pytest.raises(InputError, match=r"run folder '.*copy' holds predictions for another dataset"):
        read(copy, manifest="0" * 64)


def test_predictions_that_failed_are_damaged_gone_or_of_another_size_are_left_out_with_the_reason(tmp_path: Path) -> None:
    root = pictures(tmp_path / "dataset")
    coffee, chelsea = "item-coffee", "item-chelsea"
    fine = {coffee: np.zeros((1, 75, 101, 3), np.uint8), chelsea: np.zeros((1, 81, 91, 3), np.uint8)}
    made = {
        ("fine", coffee): fine[coffee], ("fine", chelsea): fine[chelsea],
        ("small", coffee): fine[coffee][:, :74, :100], ("small", chelsea): fine[chelsea],
        ("moving", coffee): fine[coffee].repeat(3, axis=0), ("damaged", coffee): fine[coffee] + 1,
        ("gone", coffee): fine[coffee] + 2, ("failed", chelsea): fine[chelsea],
    }  # fmt: skip
    run = run_by_hand(tmp_path / "run", made, full=True)
    workspace = Workspace(run)
    refused = [Rejection(coffee, "predict.failed", "failed/item", "a bug in the method")]
    workspace.write_table("rejected", "predict.failed", refused, Rejection)
    found = read(run)
    Path(found.found[coffee, "gone"].path).unlink()
    Path(found.found[coffee, "damaged"].path).write_bytes(b"no picture")
    subjects = item_subjects(frozen.load(root), root=root, slices=())
    with LocalExecutor(Workspace(tmp_path / "making"), workers=0) as executor:
        with pytest.raises(VerifyError, match=r"what damaged predicted for item 'item-coffee': the blob '.*' is damaged"):
            showable(executor, found, subjects)
        name = f"{hashlib.sha256(b'no picture').hexdigest()}.png"
        undecodable = run / "blobs" / name[:2] / name
        undecodable.parent.mkdir(exist_ok=True)
        undecodable.write_bytes(b"no picture")
        found.found[coffee, "damaged"] = replace(found.found[coffee, "damaged"], path=str(undecodable))
        left = showable(executor, found, subjects)
    assert set(left.found) == {(coffee, "fine"), (chelsea, "fine"), (chelsea, "small"), (chelsea, "failed")}
    reasons = {method: left.why_not(coffee, (method,)) for method in left.methods}
    assert reasons.pop("fine") is None
    assert reasons.pop("small") == "what small predicted cannot be shown: it is 100x74, not 101x75"
    assert reasons.pop("moving") == "what moving predicted cannot be shown: it has more than 1 frame"
    assert reasons.pop("gone") == "what gone predicted cannot be shown: its file is gone"
    assert reasons.pop("failed") == "failed failed on it: a bug in the method"
    assert str(reasons.pop("damaged")).endswith(".png cannot be opened as an image: it is no image that Pillow knows")
    assert not reasons
    assert left.why_not(chelsea, ("damaged", "fine")) == "damaged has no prediction of it"
