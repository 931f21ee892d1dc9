"""What a method may keep of one item for another of its clip."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from skimage import data

from inpaintbench import frozen, video
from inpaintbench.eval.scoring.effort import Repeat, kept, to_repeat
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.run_folder import BETWEEN, remembered
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.steps import repeat_step
from inpaintbench.types import Dataset, Frames, Prediction
from inpaintbench.workspace import Workspace

FRAMES, HEIGHT, WIDTH = 6, 64, 80
PICTURES = (data.coffee, data.astronaut, data.chelsea)
TESTS = str(Path(__file__).parents[2])


@pytest.fixture(autouse=True)
def _methods_are_importable(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(TESTS)
    yield
    sys.modules.pop("remembering", None)


def benchmark(root: Path, *, items_of_a_clip: int) -> Dataset:
    """Three clips, each with holes side by side, of which every input shows the others'."""
    root.mkdir()
    rows: list[dict[str, Any]] = []
    for clip, picture in enumerate(PICTURES):
        truth = np.stack([picture()[100 : 100 + HEIGHT, 50 + 2 * t : 50 + 2 * t + WIDTH] for t in range(FRAMES)])
        video.write_lossless(root / f"truth{clip}.mp4", truth, fps=25.0)
        yuv, rgb = video.decoded_hashes(root / f"truth{clip}.mp4")
        for place in range(items_of_a_clip):
            hole = np.zeros(truth.shape[:3], bool)
            hole[:, 20:40, 4 + 18 * place : 18 + 18 * place] = True
            video.write_hole(root / f"hole{clip}{place}.mp4", hole, fps=25.0)
            rows.append({
                "item_id": f"item{place}{clip}", "clip_id": f"clip{clip}", "source_id": f"source{clip}", "split": "test",
                "start_frame": 0, "end_frame": FRAMES, "fps": 25.0, "frames": FRAMES, "height": HEIGHT, "width": WIDTH,
                "truth_file_name": f"truth{clip}.mp4", "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb,
                "hole_file_name": f"hole{clip}{place}.mp4", "hole_sha256": f"hole{place}", "input_sha256": None, "fill": 0,
                "hole_is_given": True, "attributes": {},
            })  # fmt: skip
    return Dataset("test", {}, tuple(sorted(rows, key=lambda row: row["item_id"])), (), {}, {}, {})


def exposed(dataset: Dataset, share: float = 1.0) -> Dataset:
    """The dataset with the share of its holes that inputs of others show."""
    return replace(dataset, items=tuple({**row, frozen.SHOWN: share} for row in dataset.items))


def predicted(run: Path, dataset: Dataset, root: Path, name: str, *, workers: int = 1) -> dict[str, Frames]:
    """Item -> what a method of ``remembering`` gave."""
    workspace = Workspace(run)
    with LocalExecutor(workspace, workers=workers) as executor:
        spec = MethodSpec(name, "python_callable", {"address": f"remembering:{name}"})
        rows: list[Prediction] = predict(executor, dataset, root=root, method=spec).records
    assert not workspace.table("rejected", Rejection)
    return {row.item_id: video.read_frames(workspace.blobs.path(row.blob)) for row in rows}


def decibels(dataset: Dataset, root: Path, made: dict[str, Frames]) -> float:
    """Mean PSNR in the hole."""
    values = []
    for row in dataset.items:
        truth, hole = frozen.truth_and_hole(root, row)
        error = (made[row["item_id"]][hole].astype(float) - truth[hole]) ** 2
        values.append(10 * np.log10(255**2 / max(float(error.mean()), 1e-9)))
    return float(np.mean(values))


@pytest.mark.parametrize(
    ("name", "workers"),
    [
        ("remembering", 2),
        *(pytest.param(name, workers, marks=pytest.mark.long) for name, workers in (("remembering", 0), ("Remembering", 1))),
    ],
)
def test_who_remembers_inputs_gains_nothing(tmp_path: Path, name: str, workers: int) -> None:
    root, run = tmp_path / "dataset", tmp_path / "run"
    dataset = benchmark(root, items_of_a_clip=3)
    honest, cunning = (predicted(run, dataset, root, one, workers=workers) for one in ("fallback", name))
    assert decibels(dataset, root, cunning) <= decibels(dataset, root, honest) + 0.2
    assert all(np.array_equal(cunning[item], honest[item]) for item in honest)
    assert remembered(Workspace(run), BETWEEN) == {"fallback": "apart", name: "apart"}
    assert not Workspace(run).table("repeats", Repeat)


@pytest.mark.parametrize(
    ("workers", "items_of_a_clip"), [(1, 2), *(pytest.param(2, items, marks=pytest.mark.long) for items in (2, 4))]
)
def test_who_says_to_keep_nothing_and_remembers_is_named(tmp_path: Path, workers: int, items_of_a_clip: int) -> None:
    root, run = tmp_path / "dataset", tmp_path / "run"
    dataset = benchmark(root, items_of_a_clip=items_of_a_clip)
    for name in ("keeps_nothing", "said"):
        made = predicted(run, dataset, root, name, workers=workers)
    if workers == 1:  # what the word would have hidden
        assert decibels(dataset, root, made) > decibels(dataset, root, predicted(run, dataset, root, "fallback")) + 10
    words = remembered(Workspace(run), BETWEEN)
    assert (words["keeps_nothing"], words["said"]) == ("stateless", "depends")
    repeats = Workspace(run).table("repeats", Repeat)
    assert {one.largest_change for one in repeats if one.method == "keeps_nothing"} == {0}
    assert max(one.largest_change for one in repeats if one.method == "said") > 0


@pytest.mark.parametrize("name", ["noisy", "noisy_by_process"])
def test_noise_is_told_from_memory(tmp_path: Path, name: str) -> None:
    dataset = benchmark(tmp_path / "dataset", items_of_a_clip=2)
    predicted(tmp_path / "run", dataset, tmp_path / "dataset", name)
    assert remembered(Workspace(tmp_path / "run"), BETWEEN) == {name: "noisy"}


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.long)])
def test_who_writes_inputs_down_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    root, run = tmp_path / "dataset", tmp_path / "run"
    dataset = exposed(benchmark(root, items_of_a_clip=2))
    (tmp_path / "remembered").mkdir()
    monkeypatch.setenv("REMEMBERED", str(tmp_path / "remembered"))
    honest, cunning = (predicted(run, dataset, root, name, workers=workers) for name in ("fallback", "on_disk"))
    assert decibels(dataset, root, cunning) > decibels(dataset, root, honest) + 10
    assert remembered(Workspace(run), BETWEEN) == {"fallback": "apart", "on_disk": "depends"}
    names = ("fallback", "on_disk")
    repeats = {name: Workspace(run).table("repeats", Repeat, step=repeat_step(name)) for name in names}
    assert [(one.item_id, one.largest_change) for one in repeats["fallback"]] == [("item00", 0), ("item10", 0)]
    first, last = repeats["on_disk"]
    assert {first.largest_change_at_once, last.largest_change_at_once} == {0}
    if workers == 1:
        assert first.largest_change > 0 == last.largest_change  # the last one had seen the first
    else:  # two processes may take them in either order, or at the same time, when neither has seen the other
        assert max(first.largest_change, last.largest_change) > 0


def test_a_program_that_writes_inputs_down_is_named(tmp_path: Path) -> None:
    root, workspace = tmp_path / "dataset", Workspace(tmp_path / "run")
    dataset = exposed(benchmark(root, items_of_a_clip=2))
    (tmp_path / "remembered").mkdir()
    (tmp_path / "keeps.py").write_text(
        "import pathlib, shutil, sys, uuid\nsource, target = map(pathlib.Path, sys.argv[1:])\n"
        f"kept = pathlib.Path({str(tmp_path / 'remembered')!r})\n"
        "for frame in source.glob('frame_*.png'):\n"
        "    shutil.copy(frame, kept / f'{uuid.uuid4().hex}{frame.name}')\n"
        "    shutil.copy(min(kept.glob(f'*{frame.name}'), key=pathlib.Path.read_bytes), target / frame.name)\n"
    )
    command = shlex.join([sys.executable, "-S", str(tmp_path / "keeps.py")])
    with LocalExecutor(workspace, workers=0) as executor:
        predict(executor, dataset, root=root, method=MethodSpec("keeps", "command", {"command": command}))
    assert remembered(workspace, BETWEEN) == {"keeps": "depends"}


def test_who_writes_inputs_down_is_named_whichever_item_came_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "dataset"
    dataset = exposed(benchmark(root, items_of_a_clip=2))
    (tmp_path / "remembered").mkdir()
    monkeypatch.setenv("REMEMBERED", str(tmp_path / "remembered"))
    spec = MethodSpec("on_disk", "python_callable", {"address": "remembering:on_disk"})
    with LocalExecutor(Workspace(tmp_path / "run"), workers=1) as executor:
        for only in ("item10", "item00"):  # in the dataset the other one is first
            executor.only = {only}
            predict(executor, dataset, root=root, method=spec)
            assert executor.only == {only}
    assert remembered(Workspace(tmp_path / "run"), BETWEEN) == {"on_disk": "depends"}


def test_nothing_is_run_again_where_others_show_next_to_nothing(tmp_path: Path) -> None:
    dataset = exposed(benchmark(tmp_path / "dataset", items_of_a_clip=2), share=0.04)
    predicted(tmp_path / "run", dataset, tmp_path / "dataset", "fallback")
    assert remembered(Workspace(tmp_path / "run"), BETWEEN) == {"fallback": "apart"}
    assert not Workspace(tmp_path / "run").table("repeats", Repeat)


@pytest.mark.parametrize(("once_more", "word"), [("aaa", "depends"), ("aab", "noisy"), ("baa", "noisy")])
def test_one_result_of_two_that_a_process_draws_is_no_memory(once_more: str, word: str) -> None:
    def repeats(sha256: str) -> list[Repeat]:
        return [Repeat("mine", "item", largest_change=9, largest_change_at_once=0, sha256=sha256)]

    assert kept(repeats("a"), failed=False, clean="apart", once_more=lambda number: repeats(once_more[number - 2])) == word


def test_where_no_clip_is_shared_one_process_does_all_and_the_word_is_tried_all_the_same(tmp_path: Path) -> None:
    dataset = benchmark(tmp_path / "dataset", items_of_a_clip=1)
    for name in ("fallback", "keeps_nothing"):
        predicted(tmp_path / "run", dataset, tmp_path / "dataset", name)
    assert remembered(Workspace(tmp_path / "run"), BETWEEN) == {"fallback": "apart", "keeps_nothing": "stateless"}
    assert len(Workspace(tmp_path / "run").table("repeats", Repeat)) == 3


def test_a_second_run_tries_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = benchmark(tmp_path / "dataset", items_of_a_clip=2)
    predicted(tmp_path / "run", dataset, tmp_path / "dataset", "said")
    monkeypatch.setattr("inpaintbench.executors.local.Children", None)
    predicted(tmp_path / "run", dataset, tmp_path / "dataset", "said")
    assert remembered(Workspace(tmp_path / "run"), BETWEEN) == {"said": "depends"}


def test_a_damaged_prediction_says_nothing_of_its_method(tmp_path: Path) -> None:
    root, run = tmp_path / "dataset", tmp_path / "run"
    dataset = benchmark(root, items_of_a_clip=2)
    predicted(run, dataset, root, "keeps_nothing")
    workspace = Workspace(run)
    first, other, *_ = (workspace.blobs.path(row.blob) for row in workspace.table("predictions", Prediction))
    shutil.copyfile(other, first)
    for path in (run / "ledger").glob("repeat*"):  # as if the run had ended before
        path.unlink()
    with LocalExecutor(workspace, workers=1) as executor:
        predict(
            executor, dataset, root=root,
            method=MethodSpec("keeps_nothing", "python_callable", {"address": "remembering:keeps_nothing"}),
        )  # fmt: skip
        assert any(f"{first.name}' is damaged" in sentence for sentence in executor.damaged)
    assert remembered(workspace, BETWEEN) == {"keeps_nothing": "unproved"}


def test_nobody_says_of_a_program_that_it_keeps_nothing(tmp_path: Path) -> None:
    """It begins anew with each item, and may still have written down what it saw."""
    root, workspace = tmp_path / "dataset", Workspace(tmp_path / "run")
    dataset = benchmark(root, items_of_a_clip=2)
    (tmp_path / "copies.py").write_text(
        "import pathlib, shutil, sys\nsource, target = map(pathlib.Path, sys.argv[1:])\n"
        "[shutil.copy(path, target / path.name) for path in source.glob('frame_*.png')]\n"
    )
    command = shlex.join([sys.executable, "-S", str(tmp_path / "copies.py")])
    with LocalExecutor(workspace, workers=0) as executor:
        predict(executor, dataset, root=root, method=MethodSpec("copies", "command", {"command": command}))
    assert not workspace.table("rejected", Rejection)
    assert remembered(workspace, BETWEEN) == {"copies": "apart"}


def test_our_own_methods_and_what_nobody_can_watch(tmp_path: Path) -> None:
    root, workspace = tmp_path / "dataset", Workspace(tmp_path / "run")
    dataset = benchmark(root, items_of_a_clip=2)
    (tmp_path / "saved").mkdir()
    for row in dataset.items:
        video.write_lossless(tmp_path / "saved" / f"{row['item_id']}.mp4", frozen.truth_and_hole(root, row)[0], fps=25.0)
    with LocalExecutor(workspace, workers=0) as executor:
        predict(executor, dataset, root=root, method=MethodSpec("telea", "telea"))
        predict(executor, dataset, root=root, method=MethodSpec("mine", "saved_folder", {"folder": str(tmp_path / "saved")}))
    assert remembered(workspace, BETWEEN) == {"telea": "stateless", "mine": "unwatched"}


def test_what_is_run_again_and_in_which_order(tmp_path: Path) -> None:
    dataset = benchmark(tmp_path / "dataset", items_of_a_clip=4)
    ids = [row["item_id"] for row in dataset.items]
    chosen = [[ids[place] for place in places] for places in to_repeat(dataset, ids)]
    assert chosen == [[f"item3{clip}", f"item2{clip}", f"item0{clip}"] for clip in range(3)]
    assert [[ids[at] for at in places] for places in to_repeat(dataset, ids[:4])] == [["item10", "item00"]]
    assert to_repeat(dataset, ids[:1]) == []


def test_footage_is_shared_by_clips_that_overlap_or_have_equal_truths() -> None:
    columns = {
        "source_id": ["a", "a", "a", "b", "c", None, None],
        "start_frame": [0, 50, 90, 0, 0, None, None],
        "end_frame": [60, 90, 120, 60, 60, None, None],
        "fps": [30.0, 30.0, 30.0, 30.0, 15.0, 30.0, 30.0],
        "clip_id": ["1", "2", "3", "4", "5", "6", "6"],
        "truth_rgb_sha256": ["x", "y", "z", "q", "z", None, None],
    }
    first, second, third, other, equal, hidden, same = frozen.footage_of(columns.__getitem__).tolist()
    assert first == second != third == equal
    assert len({first, third, other, hidden}) == 4
    assert hidden == same
    retimed = {**columns, "start_frame": [0, 50, 90, 0, 0, None, None], "fps": [30.0, 60.0, 30.0, 30.0, 15.0, 30.0, 30.0]}
    assert frozen.footage_of(retimed.__getitem__)[0] == frozen.footage_of(retimed.__getitem__)[1]
    assert len(frozen.footage_of({name: [None, None] for name in columns}.__getitem__)) == 2
