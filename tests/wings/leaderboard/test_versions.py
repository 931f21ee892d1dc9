"""Scores on an earlier version of a dataset: they stand for the items that stayed, in a run folder and on a leaderboard."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from methods_run import METHODS, PROTOCOL, predicted, run_methods
from tests.wings.leaderboard.made import COUNT, submit, write_dataset

from inpaintbench import frozen
from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.run_folder import bind
from inpaintbench.eval.scoring.score import score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.files import file_sha256
from inpaintbench.steps import score_step
from inpaintbench.types import Dataset, Score, SliceScore
from inpaintbench.wings.leaderboard.board import Board
from inpaintbench.wings.leaderboard.checking import read_submission
from inpaintbench.wings.leaderboard.pack import Sample, common_part, gather, within
from inpaintbench.wings.leaderboard.write import board_json, write_site
from inpaintbench.workspace import Workspace

OLD = 8
CHOSEN = PROTOCOLS.get(PROTOCOL)
TITLE = "small <pictures>"


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``old`` with eight items, ``new`` with four more, and submissions: ``telea`` on the old, ``ns`` on the new one."""
    folder = tmp_path_factory.mktemp("versions")
    old = write_dataset(folder / "old", count=OLD)
    step = {"id": frozen.dataset_id(old), "version": "1.0.0", "manifest_sha256": file_sha256(folder / "old" / frozen.MANIFEST)}
    write_dataset(folder / "new", version="1.1.0", facts={frozen.EARLIER: [{**step, "items": OLD, "kept": OLD}]})
    for label, data in (("telea", "old"), ("ns", "new")):
        workspace = run_methods(folder / data, folder / f"run-{data}", {label: METHODS[label]})
        submit(workspace, folder / data, label, folder / "submissions" / f"{label}.zip", predictions=True)
    return folder


def board_of(versions: Path, *, earlier: bool = True, sample: Sample | None = None) -> Board:
    return gather(
        versions / "submissions",
        root=versions / "new",
        protocol=CHOSEN,
        earlier=[versions / "old"] if earlier else (),
        sample=sample,
        trusted=True,
    )


def test_kept_items_are_neither_predicted_nor_scored_again_and_their_scores_are_those_of_a_new_run(
    versions: Path, tmp_path: Path
) -> None:
    run_methods(versions / "old", tmp_path / "run", {"telea": "telea"})
    workspace = Workspace(tmp_path / "run", create=False)
    steps = {name: len(workspace.ledger(name).read()) for name in ("predict.telea", score_step(PROTOCOL, "telea"))}
    assert set(steps.values()) == {OLD}
    run_methods(versions / "new", tmp_path / "run", {"telea": "telea"})
    for name in steps:
        assert len(workspace.ledger(name).read()) == COUNT
    fresh = run_methods(versions / "new", tmp_path / "fresh", {"telea": "telea"})
    grown = workspace.table("scores", Score)
    assert len({row.item_id for row in grown}) == COUNT
    assert grown == fresh.table("scores", Score)
    # The way back, and to a dataset that is no version of it, stay closed.
    with pytest.raises(InputError, match="holds results on another dataset"):
        bind(workspace, versions / "old")
    write_dataset(tmp_path / "stranger", count=COUNT - 1)
    with pytest.raises(InputError, match="holds results on another dataset"):
        bind(workspace, tmp_path / "stranger")


def test_scores_of_a_new_version_are_asked_for_before_they_are_shown(versions: Path, tmp_path: Path) -> None:
    workspace = run_methods(versions / "old", tmp_path / "run", {"telea": "telea"})
    bind(workspace, versions / "new")
    new = frozen.load(versions / "new")
    with LocalExecutor(workspace, workers=0) as executor:
        score(executor, new, root=versions / "new", methods=[predicted(workspace, "telea")], protocol=PROTOCOL, metrics=["psnr"])
    rows = workspace.table("scores", Score)
    assert {row.item_id for row in rows if row.value is None} == {f"item{number:02d}" for number in range(OLD, COUNT)}


def test_a_leaderboard_compares_on_the_items_in_common_and_says_so(versions: Path, tmp_path: Path) -> None:
    board = board_of(versions, sample=Sample(3, 1, workers=0))
    inside = {f"item{number:02d}" for number in range(OLD)}
    assert {row["item_id"] for row in board.results.dataset.items} == inside
    assert {row.item_id for row in board.results.scores} == inside
    told = {entry.label: entry.version for entry in board.entries}
    assert {label: version.partition("+")[0] for label, version in told.items()} == {
        "telea": f"{TITLE}@1.0.0",
        "ns": f"{TITLE}@1.1.0",
    }
    assert all(entry.verdict and entry.verdict.agrees for entry in board.entries)
    assert [len(part.item_ids) for part in board.slices] == [OLD, OLD // 2, OLD // 2]
    page = write_site(tmp_path / "site", board).read_text()
    words = page.replace("<wbr>", "").replace("&lt;", "<").replace("&gt;", ">")
    assert f"compared on the {OLD} of {COUNT} items that these versions have in common" in words
    whole = json.loads(board_json(board, title="x"))
    assert whole["dataset_versions"] == list(told.values())
    assert {one["method"]: one["dataset"] for one in whole["submissions"]} == told


def test_without_the_earlier_manifest_a_submission_on_it_is_left_out_with_the_way_in(versions: Path) -> None:
    board = board_of(versions, earlier=False)
    assert [entry.label for entry in board.entries] == ["ns"]
    [refused] = board.refused
    assert refused.name == "telea.zip"
    assert f"it is of {TITLE}@1.0.0+" in refused.reason
    assert refused.reason.endswith("an earlier version; give the folder with that manifest as --earlier")
    assert len(board.results.dataset.items) == COUNT


def changed(dataset: Dataset, item: str, **columns: str) -> Dataset:
    return dataclasses.replace(
        dataset, items=tuple({**row, **columns} if row["item_id"] == item else row for row in dataset.items)
    )


@pytest.mark.parametrize("column", ["truth_rgb_sha256", "hole_sha256"])
def test_an_item_whose_truth_or_hole_is_another_is_not_in_common(versions: Path, column: str) -> None:
    old, new = (frozen.load(versions / name) for name in ("old", "new"))
    assert len(common_part(new, [old]).items) == OLD
    found = common_part(new, [changed(old, "item03", **{column: "other"})])
    assert len(found.items) == OLD - 1
    assert "item03" not in {item for part in found.slices for item in part.item_ids}
    with pytest.raises(InputError, match="have no item in common"):
        common_part(new, [dataclasses.replace(old, items=())])


def test_numbers_of_sets_stay_where_the_set_is_the_same(versions: Path) -> None:
    old, new = (frozen.load(versions / name) for name in ("old", "new"))
    [low, high] = new.slices
    same = dataclasses.replace(
        old, slices=(old.slices[0], dataclasses.replace(old.slices[1], item_ids=old.slices[1].item_ids[:-1]))
    )
    submission = read_submission(versions / "submissions" / "telea.zip")
    row = SliceScore("telea", "", "fid", "frame", PROTOCOL, "print", 1.0, None, None, None, None)
    rows = tuple(dataclasses.replace(row, slice=name) for name in (low.name, high.name, ALL_ITEMS, "gone"))
    kept = within(dataclasses.replace(submission, slice_scores=rows), same, common_part(new, [same]))
    assert [one.slice for one in kept.slice_scores] == [low.name, ALL_ITEMS]
